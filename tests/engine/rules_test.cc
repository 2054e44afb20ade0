#include "engine/rules.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reversi {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Rules Made(const RulesRequest& request) {
  const auto made = MakeRules(request);
  const auto* error = std::get_if<RulesError>(&made);
  EXPECT_EQ(error, nullptr) << error->field << ": " << error->message;
  return error == nullptr ? std::get<Rules>(made) : Rules{};
}

RulesError Refused(const RulesRequest& request) {
  const auto made = MakeRules(request);
  const auto* error = std::get_if<RulesError>(&made);
  EXPECT_NE(error, nullptr) << "accepted";
  return error != nullptr ? *error : RulesError{};
}

TEST(Rules, AbsentIsFourPlayersOn8x8) {
  const Rules rules = Made({});
  EXPECT_EQ(rules, (Rules{.variant = Variant::kMultiplayer, .players = 4, .board = Board::k8x8}));
}

TEST(Rules, EffectiveRulesSentAgainAreTheSame) {
  for (const VariantSpec& spec : Variants()) {
    for (int players = spec.min_players; players <= spec.max_players; ++players) {
      for (Board board : spec.boards) {
        RulesRequest request;
        request.variant = spec.variant;
        request.players = static_cast<uint32_t>(players);
        request.board = board;
        if (spec.fewest_discs) request.objective = Objective::kFewestDiscs;
        if (spec.blocked_squares) {
          request.random_blocked = 8;
          request.blocked_seed = 7;
        }
        const Rules rules = Made(request);
        EXPECT_EQ(Made(ToRequest(rules)), rules) << spec.name;
      }
    }
  }
}

TEST(Rules, WhatAVariantDoesNotOfferIsRefusedByFieldAndSaysWhatItOffers) {
  const auto field = [](Variant variant, auto change) {
    RulesRequest request;
    request.variant = variant;
    change(request);
    const RulesError error = Refused(request);
    EXPECT_EQ(error.kind, RulesError::Kind::kUnsupported);
    EXPECT_THAT(error.message, HasSubstr("offer"));
    return error.field;
  };
  for (Variant variant : {Variant::kMultiplayer, Variant::kRolit, Variant::kRoyal}) {
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.free_opening = true; }), "free_opening");
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.corner_handicap = 1; }), "corner_handicap");
  }
  for (Variant variant : {Variant::kRolit, Variant::kRoyal}) {
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.objective = Objective::kFewestDiscs; }), "objective");
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.blocked_squares = {"a1"}; }), "blocked_squares");
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.random_blocked = 2; }), "random_blocked");
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.blocked_seed = 1; }), "blocked_seed");
  }
  for (Variant variant : {Variant::kMultiplayer, Variant::kStandard, Variant::kRolit, Variant::kRoyal}) {
    EXPECT_EQ(field(variant, [](RulesRequest& r) { r.sides = true; }), "sides");
  }
}

TEST(Rules, PlayersAndBoardsOutsideTheTableAreRefused) {
  for (const VariantSpec& spec : Variants()) {
    for (uint32_t players : {1u, static_cast<uint32_t>(spec.min_players - 1),
                             static_cast<uint32_t>(spec.max_players + 1), 0xffffffffu}) {
      EXPECT_EQ(Refused({.variant = spec.variant, .players = players}).field, "players") << spec.name;
    }
    for (int i = 0; i < kBoards; ++i) {
      const auto board = static_cast<Board>(i);
      const bool offered = std::find(spec.boards.begin(), spec.boards.end(), board) != spec.boards.end();
      const auto made = MakeRules({.variant = spec.variant, .board = board});
      EXPECT_EQ(std::holds_alternative<Rules>(made), offered) << spec.name << " " << BoardName(board);
      if (offered) continue;
      EXPECT_THAT(std::get<RulesError>(made).message, HasSubstr(std::string(BoardName(spec.boards.front()))));
    }
  }
}

TEST(Rules, ACornerHandicapNeedsCornersAndASetUpBoard) {
  RulesRequest request{.variant = Variant::kStandard, .corner_handicap = 4};
  EXPECT_EQ(Made(request).corner_handicap, 4);
  request.board = Board::kOctagon;
  EXPECT_EQ(Refused(request).field, "corner_handicap");
  request.board = Board::k6x6;
  request.free_opening = true;
  EXPECT_EQ(Refused(request).field, "corner_handicap");
  request.free_opening = false;
  request.corner_handicap = 5;
  EXPECT_EQ(Refused(request).field, "corner_handicap");
}

TEST(Rules, SidesNeedFourOrSixPlayers) {
  for (uint32_t players = 2; players <= 6; ++players) {
    const auto made = MakeRules({.variant = Variant::kRoyal, .players = players, .sides = true});
    EXPECT_EQ(std::holds_alternative<Rules>(made), players == 4 || players == 6) << players;
  }
}

TEST(Rules, BlockedSquaresAreSortedByRowThenColumn) {
  const Rules rules = Made({.blocked_squares = {"b3", "h1", "a3", "a1"}});
  EXPECT_THAT(rules.blocked, ElementsAre(Square{0, 0}, Square{0, 7}, Square{2, 0}, Square{2, 1}));
}

TEST(Rules, EachBadBlockedSquareIsNamedByItsPlaceInTheList) {
  const auto refuse = [](RulesRequest request, const char* bad) {
    request.blocked_squares = {"b2", bad};
    const RulesError error = Refused(request);
    EXPECT_EQ(error.kind, RulesError::Kind::kBadSquare) << bad;
    EXPECT_EQ(error.field, "blocked_squares[1]") << bad;
  };
  for (const char* bad : {"", "A1", "a1 ", " a1", "a0", "a01", "k1", "a11", "jack", "a1:n", "i1", "a9", "d4", "e4", "d5",
                          "e5", "b2"}) {
    refuse({}, bad);
  }
  for (const char* hole : {"a1", "a2", "b1", "i1", "j1", "j2", "a9", "a10", "b10", "i10", "j9", "j10"}) {
    refuse({.board = Board::kOctagon}, hole);
  }
  refuse({.variant = Variant::kStandard, .corner_handicap = 1}, "a1");
  refuse({.variant = Variant::kStandard, .corner_handicap = 4}, "a8");
  Made({.variant = Variant::kStandard, .corner_handicap = 1, .blocked_squares = {"h8"}});
}

TEST(Rules, UnsupportedOptionsRankBeforeBadSquares) {
  EXPECT_EQ(Refused({.players = 2, .blocked_squares = {"z9"}}).field, "players");
  EXPECT_EQ(Refused({.blocked_squares = {"z9"}, .random_blocked = 3}).field, "random_blocked");
}

TEST(Rules, ARandomCountIsEvenAndAtMostAQuarterOfTheBoard) {
  const auto accepted = [](Board board, uint32_t count) {
    return std::holds_alternative<Rules>(
        MakeRules({.variant = Variant::kStandard, .board = board, .random_blocked = count, .blocked_seed = 1}));
  };
  EXPECT_TRUE(accepted(Board::k6x6, 8));
  EXPECT_FALSE(accepted(Board::k6x6, 10));
  EXPECT_TRUE(accepted(Board::k8x8, 16));
  EXPECT_FALSE(accepted(Board::k8x8, 18));
  EXPECT_TRUE(accepted(Board::k10x10, 24));
  EXPECT_FALSE(accepted(Board::k10x10, 26));
  EXPECT_TRUE(accepted(Board::kOctagon, 22));
  EXPECT_FALSE(accepted(Board::kOctagon, 24));
  EXPECT_FALSE(accepted(Board::k8x8, 3));
  EXPECT_FALSE(accepted(Board::k8x8, 0xfffffffe));
}

TEST(Rules, AListMustAgreeWithTheCountAndWins) {
  RulesRequest request{.blocked_squares = {"a1", "h8"}, .random_blocked = 4, .blocked_seed = 9};
  EXPECT_EQ(Refused(request).field, "random_blocked");
  request.random_blocked = 2;
  EXPECT_THAT(Made(request).blocked, ElementsAre(Square{0, 0}, Square{7, 7}));
}

}  // namespace
}  // namespace reversi
