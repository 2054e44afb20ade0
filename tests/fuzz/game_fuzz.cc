// A wish for rules and then moves and leavings, all from the input's bytes: what the table accepts must play, what a
// position refuses must leave it alone, and nothing may lose a disc.
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/notation.h"
#include "engine/position.h"
#include "engine/rules.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"

namespace reversi {
namespace {

RulesRequest ReadRules(Input& bytes) {
  RulesRequest request;
  request.variant = Variants()[bytes.Next() % Variants().size()].variant;
  request.players = bytes.Next() % 8;
  if (const uint8_t board = bytes.Next() % 6; board < kBoards) request.board = static_cast<Board>(board);
  const uint8_t options = bytes.Next();
  if ((options & 1) != 0) request.objective = Objective::kFewestDiscs;
  request.free_opening = (options & 2) != 0;
  request.sides = (options & 4) != 0;
  request.corner_handicap = options / 8 % 6;
  request.random_blocked = bytes.Next() % 32;
  request.blocked_seed = bytes.Next();
  for (int listed = bytes.Next() % 8; listed > 0; --listed) {
    request.blocked_squares.push_back(
        SquareName({static_cast<uint8_t>(bytes.Next() % 11), static_cast<uint8_t>(bytes.Next() % 11)}));
  }
  return request;
}

Move ReadMove(Input& bytes) {
  Move move;
  move.kind = static_cast<Move::Kind>(bytes.Next() % 3);
  move.square = {static_cast<uint8_t>(bytes.Next() % 10), static_cast<uint8_t>(bytes.Next() % 10)};
  if (move.kind == Move::Kind::kPlaceRows) move.rows = bytes.Next();
  if (move.kind == Move::Kind::kPlaceRows && move.rows == 0) move.rows = 1;
  return move;
}

int Discs(const Position& position) {
  int discs = position.Neutral();
  for (int seat = 0; seat < position.players(); ++seat) discs += position.Discs(seat);
  return discs;
}

// One step: a legal move by its number, a move of any kind, or a leaving.
Position Step(const Position& position, Input& bytes) {
  const uint8_t kind = bytes.Next() % 8;
  if (kind == 0) {
    const int seat = bytes.Next() % position.players();
    if ((position.out() >> seat & 1) != 0) return position;
    const Position next = position.Leave(seat).next;
    FUZZ_CHECK(Discs(next) == Discs(position));
    return next;
  }
  const std::vector<Move> legal = position.LegalMoves();
  FUZZ_CHECK(!legal.empty());
  const Move move = kind == 1 ? ReadMove(bytes) : legal[bytes.Next() % legal.size()];
  const Position before = position;
  const auto result = position.Play(move);
  FUZZ_CHECK(position == before);
  const Played* played = std::get_if<Played>(&result);
  if (played == nullptr) {
    FUZZ_CHECK(kind == 1);
    return position;
  }
  const bool claim = played->move.kind == Move::Kind::kJack;
  FUZZ_CHECK(Discs(played->next) == Discs(position) + (claim ? 0 : 1));
  FUZZ_CHECK(ParseMove(MoveText(played->move)) == played->move);
  FUZZ_CHECK(std::get<Played>(position.Play(played->move)).next == played->next);
  return played->next;
}

void Run(Input bytes) {
  const auto made = MakeRules(ReadRules(bytes));
  if (std::holds_alternative<RulesError>(made)) {
    FUZZ_CHECK(!std::get<RulesError>(made).field.empty());
    return;
  }
  const Rules& rules = std::get<Rules>(made);
  FUZZ_CHECK(std::get<Rules>(MakeRules(ToRequest(rules))) == rules);
  Position position(rules);
  const int longest = position.Empty() + position.players();
  while (!position.over() && !bytes.empty()) position = Step(position, bytes);
  FUZZ_CHECK(position.ply() <= longest);
  if (position.over()) position.outcome();
}

}  // namespace
}  // namespace reversi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  reversi::Run(reversi::Input({data, size}));
  return 0;
}
