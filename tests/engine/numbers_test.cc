// Numbers that the rules themselves, or other people's work, give: placed discs, unflippable squares, random play.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/position.h"
#include "engine/rules.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

Position Start(Variant variant, uint32_t players, Board board) {
  RulesRequest request;
  request.variant = variant;
  request.players = players;
  request.board = board;
  return Position(MustMakeRules(request));
}

// What happened in one game of random moves.
struct Playout {
  Position end;
  std::array<int, kMaxPlayers> placed = {};
  SquareSet flipped;
  int plies = 0;
  int legal_moves = 0;
};

Playout PlayRandomly(const Position& start, std::mt19937_64& random) {
  Playout playout{start, {}, {}, 0, 0};
  while (!playout.end.over()) {
    const std::vector<Move> moves = playout.end.LegalMoves();
    playout.legal_moves += static_cast<int>(moves.size());
    ++playout.plies;
    ++playout.placed[static_cast<size_t>(playout.end.turn())];
    const Played played = std::get<Played>(playout.end.Play(moves[random() % moves.size()]));
    played.flipped.ForEach([&](Square square) { playout.flipped.Add(square); });
    playout.end = played.next;
  }
  return playout;
}

struct PlacedDiscs {
  Board board;
  int three_players;
  int four_players;
};

TEST(Numbers, EveryPlayerPlacesTheSameNumberOfDiscs) {
  std::mt19937_64 random(TestSeed(71));
  for (const PlacedDiscs& expected :
       {PlacedDiscs{Board::k8x8, 20, 15}, {Board::k10x10, 32, 24}, {Board::kOctagon, 28, 21}}) {
    for (int players : {3, 4}) {
      for (int game = 0; game < 50; ++game) {
        const Playout playout =
            PlayRandomly(Start(Variant::kMultiplayer, static_cast<uint32_t>(players), expected.board), random);
        for (int seat = 0; seat < players; ++seat) {
          EXPECT_EQ(playout.placed[static_cast<size_t>(seat)],
                    players == 3 ? expected.three_players : expected.four_players)
              << BoardName(expected.board) << " seat " << seat << " of " << players;
        }
      }
    }
  }
}

// Squares that no line can pass through are the corners, and on the Octagon the eight ends of its slanted edges.
TEST(Numbers, ExactlyTheCornersAreNeverTurned) {
  std::mt19937_64 random(TestSeed(72));
  const std::vector<std::string> octagon = {"c1", "h1", "a3", "j3", "a8", "j8", "c10", "h10"};
  for (Board board : {Board::k8x8, Board::k10x10, Board::kOctagon}) {
    SquareSet turned;
    for (int game = 0; game < 300; ++game) {
      PlayRandomly(Start(Variant::kMultiplayer, 4, board), random).flipped.ForEach([&](Square square) {
        turned.Add(square);
      });
    }
    std::vector<std::string> never;
    for (uint8_t row = 0; row < 10; ++row) {
      for (uint8_t column = 0; column < 10; ++column) {
        const Square square{row, column};
        if (OnBoard(board, square) && !turned.Has(square)) never.push_back(SquareName(square));
      }
    }
    const std::vector<std::string> corners = board == Board::k8x8 ? std::vector<std::string>{"a1", "h1", "a8", "h8"}
                                             : board == Board::k10x10
                                                 ? std::vector<std::string>{"a1", "j1", "a10", "j10"}
                                                 : octagon;
    EXPECT_EQ(never, corners) << BoardName(board);
  }
}

TEST(Numbers, LaterSeatsWinMoreOfRandomGames) {
  std::mt19937_64 random(TestSeed(73));
  constexpr int kGames = 4000;
  std::array<int, 4> won = {};
  for (int game = 0; game < kGames; ++game) {
    const Outcome outcome = PlayRandomly(Start(Variant::kMultiplayer, 4, Board::k8x8), random).end.outcome();
    if (outcome.kind == Outcome::Kind::kWinner) ++won[static_cast<size_t>(outcome.winner)];
  }
  const std::array<double, 4> known = {0.134, 0.194, 0.267, 0.347};
  for (size_t seat = 0; seat < 4; ++seat) {
    const double standard_error = std::sqrt(known[seat] * (1 - known[seat]) / kGames);
    EXPECT_NEAR(static_cast<double>(won[seat]) / kGames, known[seat], 4 * standard_error) << "seat " << seat;
  }
}

// P. Nijssen, "Monte-Carlo Tree Search for Multi-Player Games" (2013): about 8.5 moves a position, 60 plies.
TEST(Numbers, RolitIsAsWideAndAsLongAsPublished) {
  std::mt19937_64 random(TestSeed(74));
  int plies = 0;
  int legal_moves = 0;
  for (int game = 0; game < 1000; ++game) {
    const Playout playout = PlayRandomly(Start(Variant::kRolit, 4, Board::k8x8), random);
    EXPECT_EQ(playout.plies, 60);
    plies += playout.plies;
    legal_moves += playout.legal_moves;
  }
  EXPECT_NEAR(static_cast<double>(legal_moves) / plies, 8.5, 0.5);
}

}  // namespace
}  // namespace reversi
