#include "service/cli/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"

namespace reversi::cli {
namespace {

using ::testing::HasSubstr;

TEST(TokensTest, TextAndBack) {
  const Tokens tokens{.game_id = "abcd", .seats = {{v1::COLOR_BLACK, "t0"}, {v1::COLOR_RED, "t2"}}, .owner = "own"};
  const auto read = ParseTokens(TokensText(tokens));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->game_id, "abcd");
  EXPECT_EQ(read->seats, tokens.seats);
  EXPECT_EQ(read->owner, "own");
}

TEST(TokensTest, RefusesWhatIsNoTokenFile) {
  for (const char* text : {"", "# nothing\n", "black t0\n", "game\n", "game a b\n", "game abcd\npurple t\n"}) {
    EXPECT_FALSE(ParseTokens(text).ok()) << text;
  }
}

TEST(FilesTest, ASecretIsItsOwnersAloneAlsoWhenTheFileWasThere) {
  const std::string name = absl::StrCat(testing::TempDir(), "/secret.", getpid());
  ASSERT_TRUE(WriteFile(name, "a longer text", false).ok());
  ASSERT_TRUE(WriteFile(name, "short", true).ok());
  EXPECT_EQ(*ReadFile(name), "short");
  struct stat status;
  ASSERT_EQ(stat(name.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  unlink(name.c_str());
}

TEST(FilesTest, ErrorsNameTheFile) {
  EXPECT_THAT(std::string(ReadFile("/nowhere/x").status().message()), HasSubstr("/nowhere/x"));
  EXPECT_FALSE(ReadFile("/").ok());
  EXPECT_THAT(std::string(WriteFile("/nowhere/x", "", false).message()), HasSubstr("/nowhere/x"));
}

}  // namespace
}  // namespace reversi::cli
