// A position and what may be played in it. Positions are values: a move gives a new one or a reason
// and leaves the old one untouched.
#ifndef REVERSI_ENGINE_POSITION_H_
#define REVERSI_ENGINE_POSITION_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/bits.h"
#include "engine/board.h"
#include "engine/rules.h"

namespace reversi {

// The rows a Royal move turns: bit k = the row in direction k of n ne e se s sw w nw.
using RowMask = uint8_t;

// A move as written, independent of any position.
struct Move {
  enum class Kind : uint8_t {
    kPlace,      // a square alone: everything outflanked turns ("d3")
    kPlaceRows,  // Royal: a square and the rows to turn ("d3:n,ne")
    kJack,       // Royal: claim of the central cube ("jack")
  };
  Kind kind = Kind::kPlace;
  Square square;
  RowMask rows = 0;
  friend constexpr bool operator==(const Move&, const Move&) = default;
};

enum class WhyIllegal : uint8_t {
  kOccupied, kBlocked, kOffBoard, kFlipsNothing, kTouchesNothing, kNotCentre, kNotRing, kNotOutflanked, kNoJack,
  kGameOver,
};
// "occupied", "blocked", "off_board", "flips_nothing", … as the API spells them; "game_over".
std::string_view WhyName(WhyIllegal why);

// How a finished game ended for the table.
struct Outcome {
  enum class Kind : uint8_t { kWinner, kWinningSide, kDraw };
  Kind kind = Kind::kDraw;
  Color winner = Color::kNone;  // kWinner
  int side = 0;                 // kWinningSide: 1 (seats 1, 3, 5) or 2 (seats 2, 4, 6)
  friend constexpr bool operator==(const Outcome&, const Outcome&) = default;
};

struct Played;

// What a Position consists of, for the engine's own files. All of it is plain data; sets of squares are bits of the
// board's geometry (geometry.h).
struct PositionState {
  std::array<Bits128, kMaxPlayers + 1> discs;  // by colour, neutral last
  Bits128 blocked;
  Variant variant = Variant::kMultiplayer;
  Board board = Board::k8x8;
  Objective objective = Objective::kMostDiscs;
  uint8_t players = 0;
  Color turn = Color::kBlack;  // kNone = over
  SeatSet out = 0;
  SeatSet start_passes = 0;
  // Seats that have still to set their cube in Royal's opening.
  SeatSet unset = 0;
  bool sides = false;
  // Seats that have claimed the Jack: each may once.
  SeatSet jack_claimed = 0;
  bool won_by_leaving = false;
  uint16_t ply = 0;
  friend constexpr bool operator==(const PositionState&, const PositionState&) = default;
};

// A small value without heap. Everything but the diagrams' text is cheap: a few nanoseconds to a microsecond.
class Position {
 public:
  // The start of a game under effective rules. Passes at the start (a seat that cannot move at once) are
  // already taken; `start_passes()` names them. The game may be over at once.
  explicit Position(const Rules& rules);
  // The given discs and nothing else, past Royal's opening, with a colour to move (kNone = over).
  Position(const Rules& rules, std::span<const std::pair<Square, Color>> discs, Color turn);

  Variant variant() const;
  Board board() const;
  int players() const;
  bool over() const;
  // The colour to move; kNone when the game is over.
  Color turn() const;
  // Whether the legal moves flip nothing (a placement beside a disc, a free or Royal opening cube; not a Jack
  // claim). False when over.
  bool placement() const;
  // Moves played.
  int ply() const;
  // Seats that have left.
  SeatSet out() const;
  // Seats passed over at the start, before the first move.
  SeatSet start_passes() const;

  // The disc on a square (kNone = empty, a hole or blocked).
  Color At(Square square) const;
  bool Blocked(Square square) const;
  // Discs of a seat; 0 for a seat that is out.
  int Discs(int seat) const;
  int Neutral() const;
  // Open empty squares (blocked ones are not open).
  int Empty() const;

  // 64-bit hash over all that makes positions differ; the same on every machine (defined in hash.h's comment /
  // README so that other languages can compute it).
  uint64_t Hash() const;

  // By row, then column; Royal moves with their rows spelt out, per square by number of rows, then by the
  // directions' order. Empty when over.
  std::vector<Move> LegalMoves() const;

  // Plays for the seat on turn. A bare Royal square turns all its rows.
  std::variant<Played, WhyIllegal> Play(const Move& move) const;

  // The seat leaves the game (README, "Leaving"): its discs become neutral, its turns are skipped.
  // Requires: not over, the seat in the game. The result's `by_leaving` tells whether one seat (one side) is left.
  Played Leave(int seat) const;

  // Whether the game ended because all but one seat (or side) left.
  bool won_by_leaving() const;

  // Requires over().
  Outcome outcome() const;

  // World Othello Federation score of each seat: the empty squares to the winner, half each in a draw.
  // Standard, most discs, played to the end; nullopt otherwise.
  std::optional<std::array<double, 2>> WofScore() const;

  // Equal in everything: discs, blocked squares, rules of play, turn, seats out, opening, Jack, number of moves.
  friend bool operator==(const Position&, const Position&) = default;

  // For the engine's own files.
  explicit Position(const PositionState& state) : state_(state) {}
  const PositionState& state() const { return state_; }

 private:
  PositionState state_;
};

// What a move or a leaving did.
struct Played {
  Position next;
  Move move;         // canonical: a Royal move with its rows spelt out
  SquareSet flipped;
  // Seats skipped after it for want of a move. Empty when the game is over: nobody passes in a finished game.
  SeatSet passed = 0;
};

}  // namespace reversi

#endif  // REVERSI_ENGINE_POSITION_H_
