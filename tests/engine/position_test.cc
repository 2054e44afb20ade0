#include "engine/position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>

#include "engine/notation.h"

namespace reversi {
namespace {

using ::testing::ElementsAre;

// Requests are written with few of their fields.
Position Start(const RulesRequest& request) { return Position(std::get<Rules>(MakeRules(request))); }

Position After(Position position, std::initializer_list<const char*> moves) {
  for (const char* text : moves) {
    auto played = position.Play(*ParseMove(text));
    EXPECT_TRUE(std::holds_alternative<Played>(played)) << text;
    position = std::get<Played>(played).next;
  }
  return position;
}

WhyIllegal Why(const Position& position, std::string_view text) {
  const auto played = position.Play(*ParseMove(text));
  EXPECT_TRUE(std::holds_alternative<WhyIllegal>(played)) << text;
  return std::get<WhyIllegal>(played);
}

TEST(Position, IsASmallPlainValue) {
  EXPECT_TRUE(std::is_trivially_copyable_v<Position>);
  EXPECT_LE(sizeof(Position), 160u);
}

TEST(Leave, MakesDiscsNeutralAndPassesTheTurnOn) {
  const Position start = Start({});
  const Played left = start.Leave(0);
  EXPECT_EQ(left.next.turn(), Color::kWhite);
  EXPECT_EQ(left.next.Discs(0), 0);
  EXPECT_EQ(left.next.Neutral(), 1);
  EXPECT_EQ(left.next.out(), 1);
  EXPECT_EQ(left.next.ply(), 0);
  EXPECT_EQ(start.Discs(0), 1) << "the position left is untouched";
}

TEST(Leave, BySomeoneNotOnTurnLeavesTheTurnAlone) {
  const Position left = Start({}).Leave(2).next;
  EXPECT_EQ(left.turn(), Color::kBlack);
  const auto move = left.LegalMoves().front();
  EXPECT_EQ(std::get<Played>(left.Play(move)).next.turn(), Color::kWhite);
}

TEST(Leave, TheLastSeatWinsAtOnceInEveryOrder) {
  std::array<int, 4> order = {0, 1, 2, 3};
  do {
    Position position = Start({});
    for (int i = 0; i < 3; ++i) {
      ASSERT_FALSE(position.over());
      position = position.Leave(order[i]).next;
      if (position.over()) continue;
      ASSERT_EQ(position.out() >> static_cast<int>(position.turn()) & 1, 0);
    }
    EXPECT_TRUE(position.won_by_leaving());
    EXPECT_EQ(position.turn(), Color::kNone);
    EXPECT_EQ(position.outcome(), (Outcome{Outcome::Kind::kWinner, static_cast<Color>(order[3]), 0}));
    EXPECT_EQ(position.Neutral(), 3);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(Leave, ASideWinsWhenTheOtherIsGone) {
  Position position = Start({.variant = Variant::kRoyal, .players = 4, .sides = true});
  position = position.Leave(1).next;
  EXPECT_FALSE(position.over());
  position = position.Leave(3).next;
  EXPECT_TRUE(position.won_by_leaving());
  EXPECT_EQ(position.outcome(), (Outcome{Outcome::Kind::kWinningSide, Color::kNone, 1}));
}

TEST(Leave, InRoyalsOpeningTheSeatNeverSetsItsCube) {
  Position position = Start({.variant = Variant::kRoyal, .players = 3});
  position = After(position, {"d4"}).Leave(1).next;
  EXPECT_EQ(position.turn(), Color::kRed);
  EXPECT_TRUE(position.placement());
  position = After(position, {"e4"});
  EXPECT_EQ(position.turn(), Color::kBlack);
  EXPECT_FALSE(position.placement());
}

TEST(Leave, InFewestDiscsTheLeaverDoesNotWinWithItsZero) {
  Position position = Start({.players = 4, .objective = Objective::kFewestDiscs}).Leave(2).next;
  while (!position.over()) position = std::get<Played>(position.Play(position.LegalMoves().front())).next;
  EXPECT_FALSE(position.won_by_leaving());
  EXPECT_EQ(position.Discs(2), 0);
  EXPECT_NE(position.outcome().winner, Color::kRed);
  EXPECT_EQ(position.outcome().kind, Outcome::Kind::kWinner);
}

TEST(Start, WhereNobodyCanMoveIsOverAtOnce) {
  std::vector<std::string> ring;
  for (const char* square : {"c3", "d3", "e3", "f3", "c4", "f4", "c5", "f5", "c6", "d6", "e6", "f6"}) {
    ring.push_back(square);
  }
  const Position start = Start({.players = 3, .objective = Objective::kFewestDiscs, .blocked_squares = ring});
  EXPECT_TRUE(start.over());
  EXPECT_FALSE(start.won_by_leaving());
  EXPECT_EQ(start.outcome().kind, Outcome::Kind::kDraw);
  EXPECT_TRUE(start.LegalMoves().empty());
  EXPECT_EQ(Why(start, "a1"), WhyIllegal::kGameOver);
}

TEST(Play, SaysWhyNot) {
  const Position start = Start({.blocked_squares = {"a1"}});
  EXPECT_EQ(Why(start, "j10"), WhyIllegal::kOffBoard);
  EXPECT_EQ(Why(start, "a1"), WhyIllegal::kBlocked);
  EXPECT_EQ(Why(start, "d4"), WhyIllegal::kOccupied);
  EXPECT_EQ(Why(start, "d4:n"), WhyIllegal::kOccupied);
  EXPECT_EQ(Why(start, "h8"), WhyIllegal::kFlipsNothing);
  EXPECT_EQ(Why(start, "f4:w"), WhyIllegal::kNotOutflanked);
  EXPECT_EQ(Why(start, "jack"), WhyIllegal::kNoJack);
  const Position free_opening = Start({.variant = Variant::kStandard, .free_opening = true});
  EXPECT_EQ(Why(free_opening, "a1"), WhyIllegal::kNotCentre);
  const Position royal = Start({.variant = Variant::kRoyal});
  EXPECT_EQ(Why(royal, "a1"), WhyIllegal::kNotRing);
  EXPECT_EQ(Why(royal, "e5"), WhyIllegal::kOccupied);
  EXPECT_EQ(Why(royal, "d4:n"), WhyIllegal::kNotOutflanked);
  EXPECT_EQ(Why(royal, "jack"), WhyIllegal::kNoJack);
  const Position placing = After(Start({.players = 3}), {"f6", "c6"});
  EXPECT_TRUE(placing.placement());
  EXPECT_EQ(Why(placing, "a1"), WhyIllegal::kTouchesNothing);
}

TEST(Hash, IsEqualAfterTranspositionAndCountsNoPlies) {
  const RulesRequest free_opening{.variant = Variant::kStandard, .free_opening = true};
  const Position crossed = After(Start(free_opening), {"e4", "d4", "d5", "e5"});
  const Position swapped = After(Start(free_opening), {"d5", "e5", "e4", "d4"});
  EXPECT_EQ(crossed, swapped);
  EXPECT_EQ(crossed.Hash(), swapped.Hash());
  EXPECT_EQ(crossed.Hash(), Start({.variant = Variant::kStandard}).Hash());
}

TEST(Hash, DiffersByWhateverMakesPositionsDiffer) {
  const uint64_t hashes[] = {
      Start({}).Hash(),
      Start({.players = 3}).Hash(),
      Start({.board = Board::k10x10}).Hash(),
      Start({.board = Board::kOctagon}).Hash(),
      Start({.objective = Objective::kFewestDiscs}).Hash(),
      Start({.blocked_squares = {"a1"}}).Hash(),
      Start({.variant = Variant::kRolit}).Hash(),
      Start({.variant = Variant::kRoyal, .players = 4}).Hash(),
      Start({.variant = Variant::kRoyal, .players = 4, .sides = true}).Hash(),
      Start({}).Leave(0).next.Hash(),
      Start({}).Leave(1).next.Hash(),
      Start({}).Leave(0).next.Leave(1).next.Hash(),
  };
  for (size_t i = 0; i < std::size(hashes); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(hashes[i], hashes[j]) << i << " " << j;
  }
}

TEST(WofScore, GivesTheEmptySquaresToTheWinner) {
  // The shortest game: White wiped out after nine moves.
  const Position over = After(Start({.variant = Variant::kStandard}),
                              {"e6", "f4", "e3", "f6", "g5", "d6", "e7", "f5", "c5"});
  ASSERT_TRUE(over.over());
  EXPECT_EQ(over.Discs(0), 13);
  EXPECT_EQ(over.Discs(1), 0);
  EXPECT_THAT(over.WofScore().value(), ElementsAre(64.0, 0.0));
  EXPECT_FALSE(Start({.variant = Variant::kStandard}).Leave(0).next.WofScore());
}

}  // namespace
}  // namespace reversi
