// Lines of discs: what a move turns, where moves are, what touches what. Plain C++ on one board's geometry; the vector
// forms of the same are in lines_vector.inc. For the engine's own files.
#ifndef REVERSI_ENGINE_OUTFLANK_H_
#define REVERSI_ENGINE_OUTFLANK_H_

#include <utility>

#include "engine/geometry.h"
#include "engine/rays.h"

namespace reversi {

// The eight directions: n ne e se s sw w nw, n = towards row 1.
inline constexpr int kDirections = 8;
// e se s sw lead to higher bits.
constexpr bool LeadsUp(int direction) { return direction >= 2 && direction <= 5; }
// Their lanes in the table of rays.
inline constexpr int kLaneOf[kDirections] = {2, 1, 0, 3, 2, 1, 0, 3};

// Calls visit(std::integral_constant<int, direction>{}) for the eight directions.
template <typename Visit>
constexpr void ForEachDirection(Visit&& visit) {
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (visit(std::integral_constant<int, d>{}), ...);
  }(std::make_integer_sequence<int, kDirections>{});
}

// Every member moved some steps. What leaves the board lands on padding or outside it; on 8x8 it wraps, so that the
// caller must mask.
template <class G, int direction, int steps = 1>
constexpr typename G::Bits Step(typename G::Bits set) {
  constexpr int kLaneShift[kLanes] = {1, G::kStride - 1, G::kStride, G::kStride + 1};
  constexpr int kShift = steps * kLaneShift[kLaneOf[direction]];
  if constexpr (LeadsUp(direction)) return set << kShift;
  return set >> kShift;
}

// Squares that may lie inside a line of this direction: on a board that wraps, lines with a horizontal part stay off
// the first and last column.
template <class G, int direction>
constexpr typename G::Bits Inner(typename G::Bits set) {
  constexpr bool kVertical = direction == 0 || direction == 4;
  if constexpr (G::kWraps && !kVertical) return set & G::Columns(1, G::kSide - 2);
  return set;
}

// The squares (occupied ones too) that follow, in this direction, a run of others that follows a disc of mine. Runs are
// at most two short of the side; they are filled in steps of one, two and four.
template <class G, int direction>
constexpr typename G::Bits AfterRuns(typename G::Bits mine, typename G::Bits others) {
  const auto inner = Inner<G, direction>(others);
  const auto pair = inner & Step<G, direction>(inner);
  auto run = inner & Step<G, direction>(mine);
  run |= inner & Step<G, direction>(run);
  run |= pair & Step<G, direction, 2>(run);
  if constexpr (G::kSide > 8) {
    const auto four = pair & Step<G, direction, 2>(pair);
    run |= four & Step<G, direction, 4>(run);
  } else if constexpr (G::kSide > 6) {
    run |= pair & Step<G, direction, 2>(run);
  }
  return Step<G, direction>(run);
}

// The empty squares where a disc of mine outflanks something.
template <class G>
constexpr typename G::Bits FlippingMoves(typename G::Bits mine, typename G::Bits others, typename G::Bits empty) {
  typename G::Bits moves;
  ForEachDirection([&](auto d) { moves |= AfterRuns<G, d>(mine, others); });
  return moves & empty;
}

// The discs outflanked in one direction by a disc of mine on the square with this bit: those before the first square of
// its ray that is not of others, if that is mine.
template <class G, int direction>
constexpr typename G::Bits FlipsTowards(int index, typename G::Bits mine, typename G::Bits others) {
  using Bits = typename G::Bits;
  const auto& rays = kRays<G>[static_cast<size_t>(index)];
  const auto& words = LeadsUp(direction) ? rays.up : rays.down;
  constexpr int kLane = kLaneOf[direction];
  const Bits ray = Bits::From({words[0][kLane], words[Rays<G>::kWords - 1][kLane]});
  const Bits stops = ray & ~others;
  if constexpr (LeadsUp(direction)) {
    return (ray & stops.BelowLowest()).If((stops.Lowest() & mine).any());
  } else {
    return (ray & stops.AboveHighest()).If((stops.Highest() & mine).any());
  }
}

// All discs outflanked.
template <class G>
constexpr typename G::Bits Flips(int index, typename G::Bits mine, typename G::Bits others) {
  typename G::Bits flips;
  ForEachDirection([&](auto d) { flips |= FlipsTowards<G, d>(index, mine, others); });
  return flips;
}

// The members of `empty` that touch a member of `set`, by a side or a corner. `empty` holds squares of the board only.
template <class G>
constexpr typename G::Bits Touching(typename G::Bits set, typename G::Bits empty) {
  typename G::Bits near;
  if constexpr (G::kWraps) {
    near = set | (set & G::Columns(0, G::kSide - 2)) << 1 | (set & G::Columns(1, G::kSide - 1)) >> 1;
  } else {
    near = set | set << 1 | set >> 1;
  }
  return (near | near << G::kStride | near >> G::kStride) & empty;
}

}  // namespace reversi

#endif  // REVERSI_ENGINE_OUTFLANK_H_
