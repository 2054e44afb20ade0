#include "tests/engine/side_by_side.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <variant>

#include "engine/board.h"
#include "engine/notation.h"

namespace reversi {
namespace {

Move MustParse(const std::string& text) {
  const std::optional<Move> move = ParseMove(text);
  if (!move) throw std::invalid_argument("no move: " + text);
  return *move;
}

std::vector<std::string> Texts(const std::vector<Move>& moves) {
  std::vector<std::string> texts;
  for (const Move& move : moves) texts.push_back(MoveText(move));
  return texts;
}

int DiscsOnBoard(const Position& position) {
  int discs = position.Neutral();
  for (int seat = 0; seat < position.players(); ++seat) discs += position.Discs(seat);
  return discs;
}

void ExpectSameBoard(const Position& position, const twin::Twin& twin) {
  const std::vector<std::string> rows = twin.Rows();
  ASSERT_EQ(Rows(position), rows);
  for (const std::string& name : twin.Squares()) {
    const Square square = *ParseSquare(name);
    const char content = rows[square.row][square.col];
    ASSERT_EQ(position.Blocked(square), content == '#') << name;
    ASSERT_EQ(ColorLetter(position.At(square)), content == '#' ? '-' : content) << name;
  }
}

void ExpectSameEnd(const Position& position, const twin::Twin& twin) {
  EXPECT_EQ(OutcomeText(position.outcome()), twin.Outcome());
  const std::vector<double> score = twin.WofScore();
  const auto wof = position.WofScore();
  ASSERT_EQ(wof.has_value(), !score.empty());
  if (!wof) return;
  EXPECT_EQ((*wof)[0], score[0]);
  EXPECT_EQ((*wof)[1], score[1]);
}

}  // namespace

Rules MustMakeRules(const RulesRequest& request) {
  const auto made = MakeRules(request);
  if (const auto* error = std::get_if<RulesError>(&made)) {
    throw std::invalid_argument(error->field + ": " + error->message);
  }
  return std::get<Rules>(made);
}

Rules ToRules(const twin::TwinRules& rules) {
  RulesRequest request;
  request.variant = ParseVariant(rules.variant).value();
  request.players = static_cast<uint32_t>(rules.players);
  request.board = ParseBoard(rules.board).value();
  request.objective = rules.fewest ? Objective::kFewestDiscs : Objective::kMostDiscs;
  request.free_opening = rules.free_opening;
  request.corner_handicap = static_cast<uint32_t>(rules.corner_handicap);
  request.blocked_squares = rules.blocked;
  request.sides = rules.sides;
  return MustMakeRules(request);
}

twin::TwinRules ToTwin(const Rules& rules) {
  twin::TwinRules twin;
  twin.variant = Spec(rules.variant).name;
  twin.players = rules.players;
  twin.board = BoardName(rules.board);
  twin.fewest = rules.objective == Objective::kFewestDiscs;
  twin.free_opening = rules.free_opening;
  twin.corner_handicap = rules.corner_handicap;
  for (Square square : rules.blocked) twin.blocked.push_back(SquareName(square));
  twin.sides = rules.sides;
  return twin;
}

std::vector<Rules> EverySetup() {
  std::vector<Rules> setups;
  for (const VariantSpec& spec : Variants()) {
    RulesRequest request;
    request.variant = spec.variant;
    for (int players = spec.min_players; players <= spec.max_players; ++players) {
      request.players = static_cast<uint32_t>(players);
      for (Board board : spec.boards) {
        request.board = board;
        for (Objective objective : {Objective::kMostDiscs, Objective::kFewestDiscs}) {
          if (objective == Objective::kFewestDiscs && !spec.fewest_discs) continue;
          request.objective = objective;
          setups.push_back(MustMakeRules(request));
          if (spec.free_opening) {
            request.free_opening = true;
            setups.push_back(MustMakeRules(request));
            request.free_opening = false;
          }
          for (int corners = 1; corners <= spec.max_corner_handicap && board != Board::kOctagon; ++corners) {
            request.corner_handicap = static_cast<uint32_t>(corners);
            setups.push_back(MustMakeRules(request));
          }
          request.corner_handicap = 0;
          if (std::ranges::find(spec.sides_players, players) != spec.sides_players.end()) {
            request.sides = true;
            setups.push_back(MustMakeRules(request));
            request.sides = false;
          }
        }
      }
    }
  }
  return setups;
}

std::vector<std::string> Names(const SquareSet& squares) {
  std::vector<std::string> names;
  squares.ForEach([&](Square square) { names.push_back(SquareName(square)); });
  return names;
}

std::string Letters(SeatSet seats) {
  std::string letters;
  for (int seat = 0; seat < kMaxPlayers; ++seat) {
    if ((seats >> seat & 1) != 0) letters += ColorLetter(static_cast<Color>(seat));
  }
  return letters;
}

std::string OutcomeText(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kWinner: return std::string(ColorName(outcome.winner));
    case Outcome::Kind::kWinningSide: return "side" + std::to_string(outcome.side);
    case Outcome::Kind::kDraw: return "draw";
  }
  throw std::logic_error("no such outcome");
}

uint64_t TestSeed(uint64_t own) {
  const char* wanted = std::getenv("REVERSI_TEST_SEED");
  const uint64_t seed = wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : own;
  std::cout << "seed " << seed << " (another one: REVERSI_TEST_SEED)\n";
  return seed;
}

SideBySide::SideBySide(const Rules& rules) : position_(rules), twin_(ToTwin(rules)) {
  ExpectSamePasses(position_.start_passes());
  ExpectEqual();
}

void SideBySide::Play(const std::string& text) {
  const Position before = position_;
  const auto result = position_.Play(MustParse(text));
  ASSERT_EQ(position_, before) << text;
  const Played* played = std::get_if<Played>(&result);
  ASSERT_NE(played, nullptr) << text << ": " << WhyName(std::get<WhyIllegal>(result));
  ASSERT_EQ(twin_.Why(text), "") << text;
  twin_.Play(text);
  ASSERT_EQ(Names(played->flipped), twin_.flipped()) << text;
  ExpectSamePasses(played->passed);
  ExpectConserved(before, *played);
  position_ = played->next;
  ExpectEqual();
}

void SideBySide::Leave(int seat) {
  const int discs_before = DiscsOnBoard(position_);
  const int ply_before = position_.ply();
  const Played played = position_.Leave(seat);
  twin_.Leave(twin::kColours[seat]);
  EXPECT_TRUE(played.flipped.empty());
  ExpectSamePasses(played.passed);
  position_ = played.next;
  EXPECT_EQ(DiscsOnBoard(position_), discs_before);
  EXPECT_EQ(position_.ply(), ply_before);
  EXPECT_EQ(position_.Discs(seat), 0);
  ExpectEqual();
}

// The engine names the seats as a set, the twin in the order in which they were skipped.
void SideBySide::ExpectSamePasses(SeatSet passed) const {
  const std::string expected = twin_.passed();
  const std::string letters = Letters(passed);
  EXPECT_TRUE(std::is_permutation(letters.begin(), letters.end(), expected.begin(), expected.end()))
      << letters << " passed, expected " << expected;
}

void SideBySide::ExpectEqual() const {
  ASSERT_EQ(position_.over(), twin_.over());
  ASSERT_EQ(ColorLetter(position_.turn()), twin_.turn());
  ASSERT_EQ(position_.ply(), twin_.ply());
  ASSERT_EQ(Letters(position_.out()), twin_.out());
  ASSERT_EQ(position_.placement(), twin_.Placement());
  ExpectSameBoard(position_, twin_);
  for (int seat = 0; seat < position_.players(); ++seat) {
    ASSERT_EQ(position_.Discs(seat), twin_.Discs(twin::kColours[seat])) << "seat " << seat;
  }
  ASSERT_EQ(position_.Neutral(), twin_.Neutral());
  ASSERT_EQ(position_.Empty(), twin_.Empty());
  const std::vector<Move> moves = position_.LegalMoves();
  ASSERT_EQ(Texts(moves), twin_.LegalMoves());
  for (const Move& move : moves) ASSERT_EQ(ParseMove(MoveText(move)), move) << MoveText(move);
  ASSERT_EQ(position_.won_by_leaving(), twin_.won_by_leaving());
  if (twin_.over()) ExpectSameEnd(position_, twin_);
}

// One disc more, or in a Jack claim none; what was turned is the mover's now, and nobody else gained.
void SideBySide::ExpectConserved(const Position& before, const Played& played) const {
  const int added = played.move.kind == Move::Kind::kJack ? 0 : 1;
  ASSERT_EQ(DiscsOnBoard(played.next), DiscsOnBoard(before) + added);
  ASSERT_EQ(played.next.Empty(), before.Empty() - added);
  const int mover = static_cast<int>(before.turn());
  int turned_from_own = 0;  // a claim may take a Jack that is neutral or somebody's, never the claimer's
  played.flipped.ForEach([&](Square square) {
    if (before.At(square) == before.turn()) ++turned_from_own;
    ASSERT_EQ(played.next.At(square), before.turn());
  });
  ASSERT_EQ(turned_from_own, 0);
  for (int seat = 0; seat < before.players(); ++seat) {
    const int gained = played.next.Discs(seat) - before.Discs(seat);
    if (seat == mover) {
      ASSERT_EQ(gained, added + played.flipped.size());
    } else {
      ASSERT_LE(gained, 0);
    }
  }
}

void SideBySide::ExpectRefused(const std::string& text) const {
  const Position before = position_;
  const uint64_t hash = position_.Hash();
  const auto result = position_.Play(MustParse(text));
  const WhyIllegal* why = std::get_if<WhyIllegal>(&result);
  ASSERT_NE(why, nullptr) << text;
  ASSERT_EQ(WhyName(*why), twin_.Why(text)) << text;
  ASSERT_EQ(position_, before) << text;
  ASSERT_EQ(position_.Hash(), hash) << text;
}

void SideBySide::ExpectRefusals() const {
  if (!twin_.Why("jack").empty()) ExpectRefused("jack");
  for (uint8_t row = 0; row < 10; ++row) {
    for (uint8_t column = 0; column < 10; ++column) {
      const std::string square = SquareName({row, column});
      if (!twin_.Why(square).empty()) ExpectRefused(square);
      for (std::string_view direction : twin::kDirectionNames) {
        const std::string text = square + ":" + std::string(direction);
        if (!twin_.Why(text).empty()) ExpectRefused(text);
      }
    }
  }
}

}  // namespace reversi
