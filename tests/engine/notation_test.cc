#include "engine/notation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reversi {
namespace {

using ::testing::ElementsAre;

TEST(ParseMove, TakesEverySquareThatItWrites) {
  for (uint8_t row = 0; row < 10; ++row) {
    for (uint8_t col = 0; col < 10; ++col) {
      const Move move{Move::Kind::kPlace, {row, col}, 0};
      EXPECT_EQ(ParseMove(MoveText(move)), move);
    }
  }
}

TEST(ParseMove, TakesEveryChoiceOfRowsThatItWrites) {
  for (int rows = 1; rows < 256; ++rows) {
    const Move move{Move::Kind::kPlaceRows, {2, 3}, static_cast<RowMask>(rows)};
    EXPECT_EQ(ParseMove(MoveText(move)), move);
  }
}

TEST(ParseMove, PutsRowsInTheOrderOfTheDirections) {
  const auto move = ParseMove("d3:nw,w,sw,s,se,e,ne,n");
  ASSERT_TRUE(move);
  EXPECT_EQ(MoveText(*move), "d3:n,ne,e,se,s,sw,w,nw");
  EXPECT_EQ(MoveText(*ParseMove("jack")), "jack");
}

TEST(ParseMove, RefusesWhatIsNoMoveOfAnyVariant) {
  for (const char* text :
       {"", "d", "3", "D3", "d03", "d0", "d11", "d100", "k1", " d3", "d3 ", "d3\n", "d3:", "d3:n,", "d3:,n", "d3:n,n",
        "d3:N", "d3:x", "d3:n ne", "d3: n", "d3:n:e", ":n", "Jack", "jack:n", "JACK", "pass", "--", "d3d4"}) {
    EXPECT_FALSE(ParseMove(text)) << '"' << text << '"';
  }
  EXPECT_FALSE(ParseMove(std::string_view("d3\0", 3)));
  EXPECT_FALSE(ParseMove("d3:" + std::string(1 << 20, 'n')));
}

TEST(Rows, ShowDiscsHolesAndBlockedSquares) {
  const Rules octagon = std::get<Rules>(MakeRules({.players = 3, .board = Board::kOctagon, .blocked_squares = {"c1"}}));
  EXPECT_THAT(Rows(Position(octagon)),
              ElementsAre("  #-----  ", " -------- ", "----------", "----------", "----BW----", "----NR----",
                          "----------", "----------", " -------- ", "  ------  "));
}

}  // namespace
}  // namespace reversi
