#include "service/cli/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace reversi::cli {
namespace {

TEST(TerminalTest, ColoursNeedATerminalThatHasThem) {
  EXPECT_TRUE(ChooseTerminal(ColorChoice::kAuto, true, "", "xterm").color);
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kAuto, false, "", "xterm").color) << "a pipe";
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kAuto, true, "1", "xterm").color) << "NO_COLOR";
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kAuto, true, "", "dumb").color);
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kAuto, true, "", "").color) << "no TERM";
}

TEST(TerminalTest, TheFlagBeatsEverything) {
  EXPECT_TRUE(ChooseTerminal(ColorChoice::kAlways, false, "1", "dumb").color);
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kNever, true, "", "xterm").color);
}

TEST(TerminalTest, RedrawingNeedsATerminalAndNoColours) {
  EXPECT_TRUE(ChooseTerminal(ColorChoice::kNever, true, "", "xterm").live);
  EXPECT_FALSE(ChooseTerminal(ColorChoice::kAlways, false, "", "xterm").live);
}

TEST(LineReaderTest, TakesLinesAsTheyComeAndTheLastWithoutItsEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  LineReader lines(ends[0]);
  ASSERT_EQ(write(ends[1], "d3\r\nre", 6), 6);
  lines.Read();
  ASSERT_TRUE(lines.HasLine());
  EXPECT_EQ(lines.Take(), "d3");
  EXPECT_FALSE(lines.HasLine());
  ASSERT_EQ(write(ends[1], "sign", 4), 4);
  close(ends[1]);
  lines.Read();
  lines.Read();
  EXPECT_FALSE(lines.Ended());
  ASSERT_TRUE(lines.HasLine());
  EXPECT_EQ(lines.Take(), "resign");
  EXPECT_TRUE(lines.Ended());
  close(ends[0]);
}

}  // namespace
}  // namespace reversi::cli
