// The engine and its twin on one game: every step is made by both, everything visible is compared.
#ifndef REVERSI_TESTS_ENGINE_SIDE_BY_SIDE_H_
#define REVERSI_TESTS_ENGINE_SIDE_BY_SIDE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/position.h"
#include "engine/rules.h"
#include "tests/engine/twin.h"

namespace reversi {

// Throws on rules that the engine refuses.
Rules MustMakeRules(const RulesRequest& request);
Rules ToRules(const twin::TwinRules& rules);
twin::TwinRules ToTwin(const Rules& rules);

// Every combination of variant, players, board, objective, opening, handicap and sides that the table of variants
// offers, without blocked squares.
std::vector<Rules> EverySetup();

std::vector<std::string> Names(const SquareSet& squares);
// Seats as letters in turn order, "BR".
std::string Letters(SeatSet seats);
// "black" …, "side1", "side2", "draw".
std::string OutcomeText(const Outcome& outcome);

// The seed of a test: its own number, or that of the environment variable REVERSI_TEST_SEED; printed.
uint64_t TestSeed(uint64_t own);

class SideBySide {
 public:
  explicit SideBySide(const Rules& rules);

  const Position& position() const { return position_; }
  const twin::Twin& twin() const { return twin_; }
  bool over() const { return twin_.over(); }

  // Both play the move, or the seat leaves; what it did and the position after it must agree.
  void Play(const std::string& text);
  void Leave(int seat);

  // Whatever is not legal here is refused by both for the same reason, and leaves the position as it was.
  void ExpectRefusals() const;

 private:
  void ExpectEqual() const;
  void ExpectSamePasses(SeatSet passed) const;
  void ExpectConserved(const Position& before, const Played& played) const;
  void ExpectRefused(const std::string& text) const;

  Position position_;
  twin::Twin twin_;
};

}  // namespace reversi

#endif  // REVERSI_TESTS_ENGINE_SIDE_BY_SIDE_H_
