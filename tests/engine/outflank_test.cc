// Every line of every board at every length, on the plain path and on every instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/kernels.h"
#include "engine/notation.h"
#include "engine/replay.h"

namespace reversi {
namespace {

using Discs = std::vector<std::pair<Square, Color>>;

struct Line {
  Square square;                // where Black moves
  std::vector<Square> between;  // the run of others
  Square after;                 // the square after the run
  bool to_the_edge = false;     // whether nothing comes after that
};

// All lines of at least one disc between two squares of the board.
std::vector<Line> Lines(Board board) {
  const int side = BoardSide(board);
  std::vector<Line> lines;
  for (int row = 0; row < side; ++row) {
    for (int col = 0; col < side; ++col) {
      for (int step = 0; step < 9; ++step) {
        const int down = step / 3 - 1;
        const int right = step % 3 - 1;
        if (down == 0 && right == 0) continue;
        const auto at = [&](int steps) {
          return Square{static_cast<uint8_t>(row + steps * down), static_cast<uint8_t>(col + steps * right)};
        };
        Line line{at(0), {}, {}};
        // Off the top or left a coordinate becomes large.
        for (int steps = 1; OnBoard(board, line.square) && OnBoard(board, at(steps)); ++steps) {
          line.after = at(steps);
          line.to_the_edge = !OnBoard(board, at(steps + 1));
          if (!line.between.empty()) lines.push_back(line);
          line.between.push_back(line.after);
        }
      }
    }
  }
  return lines;
}

Rules RulesOn(Board board) {
  switch (board) {
    case Board::k6x6: return std::get<Rules>(MakeRules({.variant = Variant::kStandard, .board = board}));
    case Board::k9x9: return std::get<Rules>(MakeRules({.variant = Variant::kRoyal}));
    case Board::k8x8:
    case Board::k10x10:
    case Board::kOctagon: break;
  }
  return std::get<Rules>(MakeRules({.variant = Variant::kMultiplayer, .players = 3, .board = board}));
}

// White's run, and Black on the centre beside the line where the rules take an empty centre for a free opening. False:
// the line has no such position, because its ends lie on the centre.
bool SetOut(const Rules& rules, const Line& line, Discs& discs) {
  for (Square square : line.between) discs.emplace_back(square, Color::kWhite);
  if (rules.variant != Variant::kStandard) return true;
  SquareSet centre = CentreSquares(rules.board);
  if (centre.Has(line.square) || centre.Has(line.after)) return false;
  for (Square square : line.between) centre.Remove(square);
  centre.ForEach([&](Square square) { discs.emplace_back(square, Color::kBlack); });
  return true;
}

bool MayMoveTo(const Position& position, Square square) {
  const std::vector<Move> moves = position.LegalMoves();
  return std::any_of(moves.begin(), moves.end(), [&](const Move& move) { return move.square == square; });
}

class EveryBoard : public ::testing::TestWithParam<Board> {};

TEST_P(EveryBoard, TurnsTheRunBeforeAnOwnDiscAtEveryLength) {
  const Rules rules = RulesOn(GetParam());
  for (const Line& line : Lines(GetParam())) {
    Discs discs = {{line.after, Color::kBlack}};
    if (!SetOut(rules, line, discs)) continue;
    const Position position(rules, discs, Color::kBlack);
    const std::string text = SquareName(line.square) + "\n" + DiagramText(position);
    ASSERT_TRUE(MayMoveTo(position, line.square)) << text;
    const Move move{Move::Kind::kPlace, line.square, 0};
    const auto result = position.Play(move);
    ASSERT_TRUE(std::holds_alternative<Played>(result)) << text;
    const Played& played = std::get<Played>(result);
    ASSERT_EQ(played.flipped.size(), static_cast<int>(line.between.size())) << text;
    for (Square square : line.between) ASSERT_TRUE(played.flipped.Has(square)) << text;
    for (int i = 0; i < kInstructionSets; ++i) {
      const auto set = static_cast<InstructionSet>(i);
      if (!Supported(set)) continue;
      ASSERT_EQ(std::get<Position>(Replay(position, {&move, 1}, set)), played.next)
          << InstructionSetName(set) << " " << text;
    }
  }
}

// Where nobody passes the move may be a placement, else it is refused.
TEST_P(EveryBoard, TurnsNothingBeforeTheEdgeOrAnEmptySquare) {
  const Rules rules = RulesOn(GetParam());
  for (const Line& line : Lines(GetParam())) {
    for (const bool whole : {false, true}) {
      Discs discs;
      if (!SetOut(rules, line, discs) || (whole && !line.to_the_edge)) continue;
      if (whole) discs.emplace_back(line.after, Color::kWhite);
      const Position position(rules, discs, Color::kBlack);
      const std::string text = SquareName(line.square) + "\n" + DiagramText(position);
      const Move move{Move::Kind::kPlace, line.square, 0};
      const auto result = position.Play(move);
      const auto* played = std::get_if<Played>(&result);
      ASSERT_TRUE(played == nullptr || (position.placement() && played->flipped.empty())) << text;
      ASSERT_TRUE(played != nullptr || std::get<WhyIllegal>(result) == WhyIllegal::kFlipsNothing) << text;
      for (int i = 0; i < kInstructionSets; ++i) {
        const auto set = static_cast<InstructionSet>(i);
        if (!Supported(set)) continue;
        const auto replayed = Replay(position, {&move, 1}, set);
        const Position* end = std::get_if<Position>(&replayed);
        ASSERT_EQ(end != nullptr, played != nullptr) << InstructionSetName(set) << " " << text;
        ASSERT_TRUE(end == nullptr || *end == played->next) << InstructionSetName(set) << " " << text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Outflank, EveryBoard,
                         ::testing::Values(Board::k6x6, Board::k8x8, Board::k9x9, Board::k10x10, Board::kOctagon),
                         [](const ::testing::TestParamInfo<Board>& board) {
                           return "On" + std::string(BoardName(board.param));
                         });

}  // namespace
}  // namespace reversi
