#include "service/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace reversi {
namespace {

struct Outcome {
  std::variant<Config, int> read;
  std::string out;
  std::string err;
  const Config& config() const { return std::get<Config>(read); }
  int code() const { return std::get<int>(read); }
};

Outcome Read(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "reversi_server");
  std::ostringstream out;
  std::ostringstream err;
  auto read = ReadConfig(static_cast<int>(flags.size()), flags.data(), out, err);
  return {std::move(read), out.str(), err.str()};
}

TEST(ConfigTest, DefaultsHoldWithoutFlags) {
  const Outcome outcome = Read({});
  EXPECT_EQ(outcome.config().listen, "127.0.0.1:50051");
  EXPECT_EQ(outcome.config().metrics_listen, "127.0.0.1:9464");
  EXPECT_EQ(outcome.config().command_queue, 256u);
  EXPECT_EQ(outcome.config().keep_finished, absl::Hours(1));
  EXPECT_EQ(outcome.config().rate_limit, 0);
}

TEST(ConfigTest, FlagsBeatTheEnvironmentAndTheEnvironmentBeatsDefaults) {
  setenv("REVERSI_LISTEN", "127.0.0.1:1", 1);
  setenv("REVERSI_DRAIN_DELAY", "250ms", 1);
  const Outcome outcome = Read({"--listen=127.0.0.1:2"});
  unsetenv("REVERSI_LISTEN");
  unsetenv("REVERSI_DRAIN_DELAY");
  EXPECT_EQ(outcome.config().listen, "127.0.0.1:2");
  EXPECT_EQ(outcome.config().drain_delay, absl::Milliseconds(250));
}

TEST(ConfigTest, WrongValuesExitWithTwoAndNameTheFlag) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"--listen=nowhere", "--listen"},         {"--listen=127.0.0.1:65536", "--listen"},
      {"--listen=127.0.0.1:", "--listen"},      {"--listen=:1", "--listen"},
      {"--drain_delay=soon", "--drain_delay"},  {"--drain_delay=-1s", "--drain_delay"},
      {"--drain_grace=0s", "--drain_grace"},    {"--max_games=0", "--max_games"},
      {"--max_games=-1", "--max_games"},        {"--max_games=1e6", "--max_games"},
      {"--command_queue=x", "--command_queue"}, {"--rate_limit=nan", "--rate_limit"},
      {"--rate_limit=-1", "--rate_limit"},      {"--log_level=loud", "--log_level"},
      {"--max_message_bytes=1", "--max_message_bytes"},
  };
  for (const auto& [flag, name] : wrong) {
    const Outcome outcome = Read({flag});
    ASSERT_TRUE(std::holds_alternative<int>(outcome.read)) << flag;
    EXPECT_EQ(outcome.code(), kExitUsage) << flag;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << flag << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << flag;
  }
}

TEST(ConfigTest, WrongEnvironmentExitsWithTwoToo) {
  setenv("REVERSI_MAX_GAMES", "many", 1);
  const Outcome outcome = Read({});
  unsetenv("REVERSI_MAX_GAMES");
  EXPECT_EQ(outcome.code(), kExitUsage);
}

TEST(ConfigTest, UnknownFlagsAndArgumentsExitWithTwo) {
  EXPECT_EQ(Read({"--no_such_flag"}).code(), kExitUsage);
  EXPECT_EQ(Read({"argument"}).code(), kExitUsage);
}

TEST(ConfigTest, HalfATlsConfigurationIsRefused) {
  EXPECT_EQ(Read({"--tls_cert_file=a"}).code(), kExitUsage);
  EXPECT_EQ(Read({"--tls_key_file=a"}).code(), kExitUsage);
  EXPECT_EQ(Read({"--tls_client_ca_file=a"}).code(), kExitUsage);
  EXPECT_EQ(Read({"--tls_cert_file=a", "--tls_key_file=b", "--tls_allowed_names=c"}).code(), kExitUsage);
  EXPECT_TRUE(std::holds_alternative<Config>(Read({"--tls_cert_file=a", "--tls_key_file=b"}).read));
}

TEST(ConfigTest, HelpAndVersionGoToStdoutAndExitWithZero) {
  const Outcome help = Read({"--help"});
  EXPECT_EQ(help.code(), 0);
  for (const char* flag : {"--listen", "--metrics_listen", "REVERSI_DRAIN_GRACE", "--token_key_file", "--help"}) {
    EXPECT_NE(help.out.find(flag), std::string::npos) << flag;
  }
  EXPECT_EQ(Read({"--version"}).code(), 0);
  EXPECT_EQ(Read({"--version"}).out.rfind("reversi_server ", 0), 0u);
}

TEST(ConfigTest, AddressesAreHostAndPort) {
  for (const char* right : {"127.0.0.1:0", "localhost:65535", "[::1]:80", "0.0.0.0:1"}) EXPECT_TRUE(IsAddress(right));
  for (const char* wrong : {"", ":", ":1", "a", "a:", "a:b", "a:1:2", "a:-1", "a:65536", "[]:1", "a b:1", "::1:5"}) {
    EXPECT_FALSE(IsAddress(wrong)) << wrong;
  }
}

TEST(ConfigTest, AnEmptyValueIsTheFlagsOwnAndNotTheNextArgument) {
  const Outcome refused = Read({"--listen=", "--metrics_listen=127.0.0.1:1"});
  EXPECT_EQ(refused.code(), kExitUsage);
  EXPECT_NE(refused.err.find("--listen"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.err.find("--metrics_listen"), std::string::npos) << refused.err;
  const Outcome empty = Read({"--health_listen=", "--metrics_listen=127.0.0.1:1"});
  EXPECT_EQ(empty.config().health_listen, "");
  EXPECT_EQ(empty.config().metrics_listen, "127.0.0.1:1");
}

class TokenKeysTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
};

TEST_F(TokenKeysTest, AFileIsTheKeyWithoutOneNewline) {
  Config config;
  config.token_key_file = {Write("one", std::string(32, 'a') + "\n"), Write("two", std::string(31, 'b') + "\n\n")};
  const auto keys = std::get<std::vector<std::string>>(ReadTokenKeys(config));
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0], std::string(32, 'a'));
  EXPECT_EQ(keys[1], std::string(31, 'b') + "\n");
}

TEST_F(TokenKeysTest, ShortMissingAndUnreadableFilesAreNamedWithoutTheirContent) {
  Config config;
  for (const std::string& path : {Write("short", std::string(31, 's') + "\n"), testing::TempDir() + "/missing",
                                  std::string("/")}) {
    config.token_key_file = {path};
    const auto read = ReadTokenKeys(config);
    ASSERT_TRUE(std::holds_alternative<std::string>(read)) << path;
    EXPECT_NE(std::get<std::string>(read).find(path), std::string::npos);
    EXPECT_EQ(std::get<std::string>(read).find("sss"), std::string::npos);
  }
}

TEST_F(TokenKeysTest, AFileHasAtMostAMebibyte) {
  Config config;
  config.token_key_file = {Write("largest", std::string(1 << 20, 'k'))};
  EXPECT_TRUE(std::holds_alternative<std::vector<std::string>>(ReadTokenKeys(config)));
  for (const std::string& path : {Write("larger", std::string((1 << 20) + 1, 'k')), std::string("/dev/zero")}) {
    config.token_key_file = {path};
    const auto read = ReadTokenKeys(config);
    ASSERT_TRUE(std::holds_alternative<std::string>(read)) << path;
    EXPECT_EQ(std::get<std::string>(read).find("--token_key_file=" + path + " cannot be read: it "), 0u)
        << std::get<std::string>(read);
  }
}

TEST_F(TokenKeysTest, TheEnvironmentsKeyRanksFirst) {
  Config config;
  config.token_key_file = {Write("file", std::string(40, 'f'))};
  setenv("REVERSI_TOKEN_KEY", std::string(32, 'e').c_str(), 1);
  const auto keys = std::get<std::vector<std::string>>(ReadTokenKeys(config));
  setenv("REVERSI_TOKEN_KEY", "short", 1);
  const bool refused = std::holds_alternative<std::string>(ReadTokenKeys(config));
  unsetenv("REVERSI_TOKEN_KEY");
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0], std::string(32, 'e'));
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace reversi
