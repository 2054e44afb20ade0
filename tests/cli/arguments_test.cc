#include "service/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/cli/failure.h"

namespace reversi::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ArgumentsTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("REVERSI_SERVER");
    unsetenv("REVERSI_TOKEN");
  }
};

TEST_F(ArgumentsTest, RulesAndSeatsOfAGame) {
  const Parsed parsed = ParseArguments({"create", "--variant", "multiplayer", "--players", "3", "--board", "10x10",
                                        "--objective", "fewest_discs", "--blocked", "c3,h8", "--open", "red",
                                        "--names", "black=Anna,white=B=b", "--turn_limit", "1m30s",
                                        "--timeout_action", "play", "--unlisted", "--moves", "e6 f7"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  const Options& o = *parsed.options;
  EXPECT_EQ(o.command, "create");
  EXPECT_TRUE(o.rules_given);
  EXPECT_EQ(o.game.rules().board(), v1::BOARD_10X10);
  EXPECT_EQ(o.game.rules().objective(), v1::OBJECTIVE_FEWEST_DISCS);
  EXPECT_THAT(o.game.rules().blocked_squares(), ElementsAre("c3", "h8"));
  EXPECT_THAT(o.open, ElementsAre(v1::COLOR_RED));
  EXPECT_EQ(o.names.at(v1::COLOR_WHITE), "B=b");
  EXPECT_EQ(o.game.turn_limit().seconds(), 90);
  EXPECT_EQ(o.game.timeout_action(), v1::TIMEOUT_ACTION_PLAY);
  EXPECT_TRUE(o.game.unlisted());
  EXPECT_THAT(o.game.opening_moves(), ElementsAre("e6", "f7"));
}

TEST_F(ArgumentsTest, OpenTakesANumberToo) {
  const Parsed parsed = ParseArguments({"play", "--open", "2"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->open_count, 2u);
  EXPECT_TRUE(parsed.options->open.empty());
  EXPECT_FALSE(parsed.options->rules_given);
}

TEST_F(ArgumentsTest, CommonOptionsStandBeforeOrAfterTheCommand) {
  for (const auto& words : {std::vector<std::string>{"--json", "--server", "h:1", "show", "g"},
                            std::vector<std::string>{"show", "g", "--server", "h:1", "--json"}}) {
    const Parsed parsed = ParseArguments(words);
    ASSERT_TRUE(parsed.options) << parsed.text;
    EXPECT_TRUE(parsed.options->json);
    EXPECT_EQ(parsed.options->server.address, "h:1");
    EXPECT_EQ(parsed.options->game_id, "g");
  }
}

TEST_F(ArgumentsTest, TheEnvironmentNamesServerAndToken) {
  setenv("REVERSI_SERVER", "env:1", 1);
  setenv("REVERSI_TOKEN", "secret", 1);
  const Parsed parsed = ParseArguments({"move", "g", "d3"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->server.address, "env:1");
  EXPECT_EQ(parsed.options->token, "secret");
  EXPECT_EQ(ParseArguments({"move", "g", "d3", "--server", "flag:1"}).options->server.address, "flag:1");
}

TEST_F(ArgumentsTest, HelpNamesTheExitCodesAndNeverASecret) {
  setenv("REVERSI_TOKEN", "secret", 1);
  const Parsed help = ParseArguments({"--help"});
  EXPECT_FALSE(help.options);
  EXPECT_EQ(help.exit_code, kDone);
  EXPECT_THAT(help.text, HasSubstr("EXIT STATUS"));
  for (const char* command : {"move", "play", "resign", "abort"}) {
    EXPECT_THAT(ParseArguments({command, "--help"}).text, Not(HasSubstr("secret"))) << command;
  }
  EXPECT_EQ(ParseArguments({"--version"}).exit_code, kDone);
}

TEST_F(ArgumentsTest, WrongUsageIsToldWithExitCodeTwo) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {}, {"dance"}, {"show"}, {"show", "a", "b"}, {"create", "--board", "7x7"}, {"create", "--players", "many"},
           {"create", "--open", "pink"}, {"create", "--names", "Anna"}, {"create", "--turn_limit", "soon"},
           {"create", "--turn_limit", "-1"}, {"demo", "--seed", "-1"}, {"--color", "some", "demo"},
           {"play", "--join"}, {"play", "g"}, {"play", "g", "--token", "t"}, {"demo", "--tls_cert", "x"},
           {"list", "--state", "lost"}, {"move", "g"}}) {
    const Parsed parsed = ParseArguments(words);
    EXPECT_FALSE(parsed.options) << testing::PrintToString(words);
    EXPECT_EQ(parsed.exit_code, kUsage) << testing::PrintToString(words);
    EXPECT_THAT(parsed.text, HasSubstr("--help")) << testing::PrintToString(words);
  }
}

TEST_F(ArgumentsTest, AWordThatIsNoCommandIsNamed) {
  EXPECT_THAT(ParseArguments({"dance", "slowly"}).text, HasSubstr("'dance' is no command"));
  EXPECT_THAT(ParseArguments({"--server", "here:1"}).text, HasSubstr("A subcommand is required"));
  EXPECT_EQ(ParseArguments({"dance", "--help"}).exit_code, kDone);
}

TEST_F(ArgumentsTest, ATlsFileMeansTls) {
  EXPECT_TRUE(ParseArguments({"demo", "--tls_ca", "ca.pem"}).options->server.tls);
  EXPECT_FALSE(ParseArguments({"demo"}).options->server.tls);
}

TEST_F(ArgumentsTest, Times) {
  EXPECT_EQ(ParseTime("1m30s"), absl::Seconds(90));
  EXPECT_EQ(ParseTime("45"), absl::Seconds(45));
  EXPECT_EQ(ParseTime("0"), absl::ZeroDuration());
  for (const char* text : {"", "x", "-3", "-3s", "inf", "nan", "5 minutes"}) EXPECT_FALSE(ParseTime(text)) << text;
}

}  // namespace
}  // namespace reversi::cli
