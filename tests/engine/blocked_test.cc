#include "engine/blocked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reversi {
namespace {

// Squares reached from one open square by steps to neighbours, found by walking.
int Reached(Board board, const SquareSet& blocked, Square from) {
  std::vector<Square> queue = {from};
  SquareSet seen;
  seen.Add(from);
  while (!queue.empty()) {
    const Square at = queue.back();
    queue.pop_back();
    for (int row = at.row - 1; row <= at.row + 1; ++row) {
      for (int col = at.col - 1; col <= at.col + 1; ++col) {
        if (row < 0 || col < 0) continue;
        const Square next{static_cast<uint8_t>(row), static_cast<uint8_t>(col)};
        if (!OnBoard(board, next) || seen.Has(next) || blocked.Has(next)) continue;
        seen.Add(next);
        queue.push_back(next);
      }
    }
  }
  return seen.size();
}

TEST(PlaceBlocked, IsSymmetricConnectedAndOffCentreAndHandicapForEveryCount) {
  for (Board board : {Board::k6x6, Board::k8x8, Board::k10x10, Board::kOctagon}) {
    const auto last = static_cast<uint8_t>(BoardSide(board) - 1);
    for (int handicap = 0; handicap <= (board == Board::kOctagon ? 0 : 4); ++handicap) {
      for (int count = 2; count <= MaxRandomBlocked(board); count += 2) {
        for (uint64_t seed = 0; seed < 60; ++seed) {
          const std::vector<Square> squares = PlaceBlocked(board, handicap, count, seed);
          ASSERT_EQ(squares.size(), static_cast<size_t>(count)) << BoardName(board) << " seed " << seed;
          ASSERT_TRUE(std::is_sorted(squares.begin(), squares.end()));
          SquareSet blocked;
          for (Square square : squares) blocked.Add(square);
          for (Square square : squares) {
            const Square opposite{static_cast<uint8_t>(last - square.row), static_cast<uint8_t>(last - square.col)};
            ASSERT_TRUE(OnBoard(board, square));
            ASSERT_TRUE(blocked.Has(opposite));
            ASSERT_FALSE(CentreSquares(board).Has(square));
            ASSERT_FALSE(HandicapCorners(board, handicap).Has(square));
            ASSERT_FALSE(HandicapCorners(board, handicap).Has(opposite));
          }
          const auto middle = static_cast<uint8_t>(last / 2);
          ASSERT_EQ(Reached(board, blocked, {middle, middle}), BoardSquares(board) - count) << "seed " << seed;
        }
      }
    }
  }
}

// Stored games rely on it: the same seed must give the same squares for ever.
TEST(PlaceBlocked, GivesTheSameSquaresForASeedForEver) {
  std::string text;
  for (Square square : PlaceBlocked(Board::k8x8, 0, 8, 2026)) text += SquareName(square) + " ";
  EXPECT_EQ(text, "a1 b2 e2 g4 b5 d7 g7 h8 ");
  text.clear();
  for (Square square : PlaceBlocked(Board::kOctagon, 0, 10, 1)) text += SquareName(square) + " ";
  EXPECT_EQ(text, "g2 i3 f4 i4 h5 c6 b7 e7 b8 d9 ");
}

}  // namespace
}  // namespace reversi
