// The twin by itself: before anything is compared with it, it must replay every golden game and count every table.
#include "tests/engine/twin.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine/golden.h"

namespace reversi::twin {
namespace {

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<int> DiscsOf(const Twin& twin) {
  std::vector<int> discs;
  for (int seat = 0; seat < twin.rules().players; ++seat) discs.push_back(twin.Discs(kColours[seat]));
  return discs;
}

TEST(Twin, ReplaysEveryGoldenGame) {
  for (const GoldenGame& game : GoldenGames()) {
    SCOPED_TRACE(game.id);
    Twin twin(game.rules);
    int moves_with_passes = twin.passed().empty() ? 0 : 1;
    size_t looked = 0;
    for (size_t ply = 0; ply < game.moves.size(); ++ply) {
      ASSERT_EQ(twin.turn(), game.turns[ply]) << "ply " << ply;
      const std::vector<std::string> legal = twin.LegalMoves();
      ASSERT_EQ(static_cast<int>(legal.size()), game.legal_counts[ply]) << "ply " << ply;
      for (const Look& look : game.looks) {
        if (look.ply != static_cast<int>(ply)) continue;
        ++looked;
        EXPECT_EQ(ColourName(twin.turn()), look.turn);
        EXPECT_EQ(Sorted(legal), Sorted(look.legal));
        EXPECT_EQ(Join(twin.Rows(), "/"), look.diagram);
        EXPECT_EQ(DiscsOf(twin), look.discs);
      }
      ASSERT_EQ(twin.Why(game.moves[ply]), "") << "ply " << ply << ": " << game.moves[ply];
      twin.Play(game.moves[ply]);
      if (!game.flip_counts.empty()) {
        ASSERT_EQ(static_cast<int>(twin.flipped().size()), game.flip_counts[ply]) << "ply " << ply;
      }
      if (!twin.passed().empty()) ++moves_with_passes;
    }
    EXPECT_EQ(looked, game.looks.size());
    ASSERT_TRUE(twin.over());
    EXPECT_EQ(Join(twin.Rows(), "/"), game.final_diagram);
    EXPECT_EQ(DiscsOf(twin), game.discs);
    if (game.neutral >= 0) {
      EXPECT_EQ(twin.Neutral(), game.neutral);
    }
    if (game.empty >= 0) {
      EXPECT_EQ(twin.Empty(), game.empty);
    }
    EXPECT_EQ(twin.Outcome(), game.winner);
    EXPECT_EQ(moves_with_passes, game.moves_with_passes);
  }
}

TEST(Twin, CountsEveryPerftRow) {
  for (const PerftRow& row : PerftRows()) {
    for (size_t depth = 1; depth <= row.leaves.size() && row.leaves[depth - 1] < 100'000; ++depth) {
      EXPECT_EQ(PerftMoves(Twin(row.rules), static_cast<int>(depth)), row.leaves[depth - 1])
          << Describe(row.rules) << " depth " << depth;
    }
  }
}

TEST(Twin, CountsPassesAsPliesInTheConventionOfTheField) {
  // Published for the standard game on 8x8.
  const Twin start(TwinRules{.variant = "standard", .players = 2});
  const std::vector<uint64_t> published = {4, 12, 56, 244, 1396, 8200, 55092};
  for (size_t depth = 1; depth <= published.size(); ++depth) {
    EXPECT_EQ(PerftPlies(start, static_cast<int>(depth)), published[depth - 1]);
  }
}

TEST(Twin, LegalMovesAreExactlyThoseItHasNoObjectionTo) {
  std::mt19937_64 random(20240601);
  for (const GoldenGame& game : GoldenGames()) {
    Twin twin(game.rules);
    while (!twin.over()) {
      const std::vector<std::string> legal = twin.LegalMoves();
      for (const std::string& move : legal) ASSERT_EQ(twin.Why(move), "") << Describe(game.rules) << " " << move;
      for (const std::string& square : twin.Squares()) {
        const bool listed = std::any_of(legal.begin(), legal.end(), [&](const std::string& move) {
          return move == square || move.substr(0, move.find(':')) == square;
        });
        ASSERT_EQ(twin.Why(square).empty(), listed) << Describe(game.rules) << " " << square;
      }
      const auto moves = twin.Moves();
      twin.Play(moves[random() % moves.size()]);
    }
  }
}

}  // namespace
}  // namespace reversi::twin
