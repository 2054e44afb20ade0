// Seats that leave, in every order, at every kind of moment, the one on turn too: engine and twin side by side, and the
// promises that need no twin.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "engine/position.h"
#include "engine/rules.h"
#include "tests/engine/golden.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

void PlayAny(SideBySide& both, std::mt19937_64& random) {
  const std::vector<std::string> legal = both.twin().LegalMoves();
  both.Play(legal[random() % legal.size()]);
}

bool IsOut(const Position& position, int seat) { return (position.out() >> seat & 1) != 0; }

void ExpectNoTraceOfThoseOut(const Position& position) {
  for (int seat = 0; seat < position.players(); ++seat) {
    if (!IsOut(position, seat)) continue;
    EXPECT_EQ(position.Discs(seat), 0);
    EXPECT_NE(position.turn(), static_cast<Color>(seat));
    if (!position.over()) continue;
    const Outcome outcome = position.outcome();
    EXPECT_FALSE(outcome.kind == Outcome::Kind::kWinner && outcome.winner == static_cast<Color>(seat));
  }
}

// Plays `plies`, then lets the seats of `order` leave with `between` plies between one leaving and the next, then
// plays on to the end.
void ExpectOrder(const Rules& rules, int plies, int between, const std::vector<int>& order, std::mt19937_64& random) {
  SideBySide both(rules);
  for (int i = 0; i < plies && !both.over(); ++i) PlayAny(both, random);
  for (int seat : order) {
    if (both.over()) break;
    const bool on_turn = both.position().turn() == static_cast<Color>(seat);
    const Color turn = both.position().turn();
    both.Leave(seat);
    ExpectNoTraceOfThoseOut(both.position());
    // Only the leaver's own turn moves on.
    if (!on_turn && !both.over()) {
      EXPECT_EQ(both.position().turn(), turn);
    }
    for (int i = 0; i < between && !both.over(); ++i) PlayAny(both, random);
  }
  while (!both.over() && !testing::Test::HasFailure()) PlayAny(both, random);
  ExpectNoTraceOfThoseOut(both.position());
}

void ExpectEveryOrder(const Rules& rules, const std::vector<int>& moments, std::mt19937_64& random) {
  SCOPED_TRACE(twin::Describe(ToTwin(rules)));
  std::vector<int> order(static_cast<size_t>(rules.players));
  std::iota(order.begin(), order.end(), 0);
  do {
    for (int plies : moments) {
      for (int between = 0; between < 2; ++between) {
        ExpectOrder(rules, plies, between, order, random);
        ASSERT_FALSE(testing::Test::HasFailure()) << "after " << plies << " plies";
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Leaving, EveryOrderInEverySetupOfUpToFourPlayers) {
  std::mt19937_64 random(TestSeed(51));
  for (const Rules& rules : EverySetup()) {
    if (rules.players <= 4) ExpectEveryOrder(rules, {0, 1, 2, 3, 5, 23, 45}, random);
    ASSERT_FALSE(HasFailure());
  }
}

TEST(Leaving, EveryOrderOfFiveAndSixPlayers) {
  std::mt19937_64 random(TestSeed(52));
  for (const Rules& rules : EverySetup()) {
    if (rules.players > 4) ExpectEveryOrder(rules, {3, 30}, random);
    ASSERT_FALSE(HasFailure());
  }
}

// Everybody, one after the other, from the seat on turn: each time the turn goes to the next one still in the game.
TEST(Leaving, TheOneOnTurnEachTime) {
  for (int players = 2; players <= 4; ++players) {
    RulesRequest request;
    request.variant = Variant::kRolit;
    request.players = static_cast<uint32_t>(players);
    SideBySide both(MustMakeRules(request));
    for (int seat = 0; seat < players - 1; ++seat) {
      ASSERT_EQ(both.position().turn(), static_cast<Color>(seat));
      both.Leave(seat);
    }
    ASSERT_TRUE(both.over());
    EXPECT_TRUE(both.position().won_by_leaving());
    EXPECT_EQ(both.position().outcome(), (Outcome{Outcome::Kind::kWinner, static_cast<Color>(players - 1), 0}));
  }
}

TEST(Leaving, ASideWinsWhenTheOtherIsGone) {
  RulesRequest request;
  request.variant = Variant::kRoyal;
  request.players = 6;
  request.sides = true;
  SideBySide both(MustMakeRules(request));
  for (int seat : {1, 5, 0}) {
    both.Leave(seat);
    ASSERT_FALSE(both.over());
  }
  both.Leave(3);
  ASSERT_TRUE(both.over());
  EXPECT_TRUE(both.position().won_by_leaving());
  EXPECT_EQ(both.position().outcome().kind, Outcome::Kind::kWinningSide);
  EXPECT_EQ(both.position().outcome().side, 1);
}

// With the fewest discs to win, a leaver's count of 0 wins nothing.
TEST(Leaving, FewestDiscsDoesNotCountALeaver) {
  RulesRequest request;
  request.players = 3;
  request.objective = Objective::kFewestDiscs;
  std::mt19937_64 random(TestSeed(53));
  for (int game = 0; game < 20; ++game) {
    SideBySide both(MustMakeRules(request));
    for (int i = 0; i < 10; ++i) PlayAny(both, random);
    both.Leave(game % 3);
    while (!both.over()) PlayAny(both, random);
    const Outcome outcome = both.position().outcome();
    EXPECT_FALSE(both.position().won_by_leaving());
    if (outcome.kind == Outcome::Kind::kWinner) {
      EXPECT_NE(outcome.winner, static_cast<Color>(game % 3));
    }
    ASSERT_FALSE(HasFailure());
  }
}

// In Royal a leaver may be the only one who still had a move: the game is then over as a played one.
TEST(Leaving, TheLastWhoCouldMoveEndsTheGameForAll) {
  RulesRequest request;
  request.variant = Variant::kRoyal;
  request.players = 3;
  const Rules rules = MustMakeRules(request);
  std::mt19937_64 random(TestSeed(54));
  int ended = 0;
  for (int game = 0; game < 400 && !HasFailure(); ++game) {
    SideBySide both(rules);
    while (!both.over()) {
      if (both.position().ply() > 20) {
        SideBySide left = both;
        left.Leave(static_cast<int>(both.position().turn()));
        if (left.over() && !left.position().won_by_leaving()) ++ended;
      }
      PlayAny(both, random);
    }
  }
  EXPECT_GT(ended, 0);
}

}  // namespace
}  // namespace reversi
