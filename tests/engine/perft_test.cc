// Perft of the engine against tables and the twin. Sources of the numbers: tests/data/perft.jsonl and perft_deep.jsonl
// were computed by two independent programs; the standard game on 8x8 is published.
#include "engine/perft.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/notation.h"
#include "tests/engine/golden.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

using twin::Describe;

// Deeper ones are in the long tier.
#ifdef REVERSI_FEW_GAMES
constexpr uint64_t kMostLeaves = 500'000;
#else
constexpr uint64_t kMostLeaves = 30'000'000;
#endif

TEST(Perft, CountsEveryRowOfTheTable) {
  for (const twin::PerftRow& row : twin::PerftRows()) {
    const Position start(ToRules(row.rules));
    for (size_t depth = 1; depth <= row.leaves.size(); ++depth) {
      EXPECT_EQ(Perft(start, static_cast<int>(depth), PerftCount::kMoves), row.leaves[depth - 1])
          << Describe(row.rules) << " depth " << depth;
    }
  }
}

TEST(Perft, CountsThePublishedNumbersOf8x8) {
  const Position start(MustMakeRules({.variant = Variant::kStandard}));
  const std::vector<uint64_t> published = {1,    4,     12,     56,      244,     1396,
                                           8200, 55092, 390216, 3005288, 24571284};
  for (size_t depth = 0; depth < published.size() && published[depth] <= kMostLeaves; ++depth) {
    EXPECT_EQ(Perft(start, static_cast<int>(depth)), published[depth]) << "depth " << depth;
  }
}

TEST(Perft, CountsTheDeeperTablesAsFarAsTheyAreQuick) {
  for (const twin::DeepPerftRow& row : twin::DeepPerftRows()) {
    const Position start(ToRules(row.rules));
    for (size_t i = 0; i < row.leaves.size() && row.leaves[i] <= kMostLeaves; ++i) {
      EXPECT_EQ(Perft(start, row.first_depth + static_cast<int>(i)), row.leaves[i])
          << Describe(row.rules) << " depth " << row.first_depth + static_cast<int>(i);
    }
  }
}

// Early and late, where passes, claims and ends occur: both conventions, and the split by first move.
TEST(Perft, AgreesWithTheTwinAnywhereInAGame) {
  std::mt19937_64 random(TestSeed(81));
  for (const Rules& rules : EverySetup()) {
    SCOPED_TRACE(Describe(ToTwin(rules)));
    for (int game = 0; game < 3; ++game) {
      SideBySide both(rules);
      const int squares = both.position().Empty();
      for (int depth = 1; !both.over(); depth = depth % 3 + 1) {
        const bool late = both.position().Empty() < 8;
        if (late || random() % static_cast<uint64_t>(squares / 4) == 0) {
          const int plies = late ? depth + 2 : depth;
          ASSERT_EQ(Perft(both.position(), plies, PerftCount::kMoves), PerftMoves(both.twin(), plies));
          // The twin charges the passes that led here; one without a history has none.
          uint64_t by_move = 0;
          for (const PerftMove& first : PerftByMove(both.position(), plies)) {
            twin::Twin next = both.twin();
            next.Play(MoveText(first.move));
            ASSERT_EQ(first.leaves, PerftPlies(next, plies - 1)) << MoveText(first.move);
            by_move += first.leaves;
          }
          ASSERT_EQ(Perft(both.position(), plies), by_move);
        }
        const std::vector<std::string> legal = both.twin().LegalMoves();
        both.Play(legal[random() % legal.size()]);
      }
      EXPECT_EQ(Perft(both.position(), 0), 1u);
      EXPECT_EQ(Perft(both.position(), 3), 1u);
      EXPECT_EQ(Perft(both.position(), 3, PerftCount::kMoves), 0u);
      EXPECT_TRUE(PerftByMove(both.position(), 3).empty());
    }
  }
}

// A seat passed over before the first move costs a ply in the one convention and nothing in the other.
TEST(Perft, CountsAPassAtTheStart) {
  RulesRequest request{.variant = Variant::kStandard};
  twin::TwinRules rules{.variant = "standard", .players = 2};
  for (const std::string& square : twin::Twin(rules).Squares()) {
    // White has c5 and d6, Black nothing.
    if (square == "d4" || square == "e4" || square == "d5" || square == "e5" || square == "c5" || square == "d6") continue;
    request.blocked_squares.push_back(square);
  }
  const Rules made = MustMakeRules(request);
  const Position start(made);
  ASSERT_EQ(Letters(start.start_passes()), "B");
  for (int depth = 1; depth < 6; ++depth) {
    EXPECT_EQ(Perft(start, depth), PerftPlies(twin::Twin(ToTwin(made)), depth));
    EXPECT_EQ(Perft(start, depth, PerftCount::kMoves), PerftMoves(twin::Twin(ToTwin(made)), depth));
  }
}

}  // namespace
}  // namespace reversi
