// The boards as compile-time geometries: how squares map to bits. For the engine's own files.
//
// Bit of a square = row * stride + column. All boards but 8x8 have a stride one above their side: the column of
// padding is never occupied, so that lines die there and need no masks against wrapping round the edge.
#ifndef REVERSI_ENGINE_GEOMETRY_H_
#define REVERSI_ENGINE_GEOMETRY_H_

#include <algorithm>
#include <type_traits>

#include "engine/bits.h"
#include "engine/board.h"

namespace reversi {

template <Board board>
struct Geometry {
  static constexpr Board kBoard = board;
  static constexpr int kSide = board == Board::k6x6 ? 6 : board == Board::k8x8 ? 8 : board == Board::k9x9 ? 9 : 10;
  static constexpr int kStride = kSide == 8 ? 8 : kSide + 1;
  // Whether the column left of the first is the last column of the row above.
  static constexpr bool kWraps = kStride == kSide;
  using Bits = std::conditional_t<(kSide * kStride <= 64), Bits64, Bits128>;

  static constexpr bool HasSquare(int row, int col) {
    if (board != Board::kOctagon) return true;
    return std::min(row, 9 - row) + std::min(col, 9 - col) >= 2;
  }
  static constexpr int Index(Square s) { return s.row * kStride + s.col; }
  static constexpr Bits At(Square s) { return Bits::At(Index(s)); }
  static constexpr Square SquareOf(int index) {
    return {static_cast<uint8_t>(index / kStride), static_cast<uint8_t>(index % kStride)};
  }

  // Squares of the board between two columns, both included.
  static constexpr Bits Columns(int first, int last) {
    Bits set;
    for (int row = 0; row < kSide; ++row) {
      for (int col = first; col <= last; ++col) {
        if (HasSquare(row, col)) set |= Bits::At(row * kStride + col);
      }
    }
    return set;
  }
  static constexpr Bits kAll = Columns(0, kSide - 1);

  static SquareSet ToSquares(Bits set) {
    SquareSet squares;
    for (; set.any(); set.RemoveFirst()) squares.Add(SquareOf(set.first()));
    return squares;
  }
};

// Calls visit(Geometry<board>{}) for a board known at run time only.
template <typename Visit>
constexpr decltype(auto) WithGeometry(Board board, Visit&& visit) {
  switch (board) {
    case Board::k6x6: return visit(Geometry<Board::k6x6>{});
    case Board::k8x8: return visit(Geometry<Board::k8x8>{});
    case Board::k9x9: return visit(Geometry<Board::k9x9>{});
    case Board::k10x10: return visit(Geometry<Board::k10x10>{});
    case Board::kOctagon: return visit(Geometry<Board::kOctagon>{});
  }
  __builtin_unreachable();
}

// The eight directions: n ne e se s sw w nw, n = towards row 1.
inline constexpr int kDirections = 8;

// Every member moved one step. What leaves the board lands on padding or outside it; on 8x8 it wraps, so that the
// caller must mask (`kInner` before, or the columns after).
template <class G, int direction>
constexpr typename G::Bits Step(typename G::Bits set) {
  constexpr int kShift[kDirections] = {G::kStride, G::kStride - 1, 1, G::kStride + 1,
                                       G::kStride, G::kStride - 1, 1, G::kStride + 1};
  constexpr bool kUp = direction == 2 || direction == 3 || direction == 4 || direction == 5;
  if constexpr (kUp) return set << kShift[direction];
  return set >> kShift[direction];
}

// Squares that may lie inside a line of this direction: on a board that wraps, lines with a horizontal part stay off
// the first and last column.
template <class G, int direction>
constexpr typename G::Bits Inner(typename G::Bits set) {
  constexpr bool kVertical = direction == 0 || direction == 4;
  if constexpr (G::kWraps && !kVertical) return set & G::Columns(1, G::kSide - 2);
  return set;
}

// The discs outflanked in one direction by a disc set on `move`: the run of others that ends at one of mine.
template <class G, int direction>
constexpr typename G::Bits FlipsTowards(typename G::Bits move, typename G::Bits mine, typename G::Bits others) {
  const auto inner = Inner<G, direction>(others);
  auto run = Step<G, direction>(move) & inner;
  for (int i = 0; i < G::kSide - 3; ++i) run |= Step<G, direction>(run) & inner;
  return (Step<G, direction>(run) & mine).any() ? run : typename G::Bits{};
}

// The squares (occupied ones too) from which a disc of mine would outflank a run in this direction.
template <class G, int direction>
constexpr typename G::Bits OutflanksTowards(typename G::Bits mine, typename G::Bits others) {
  constexpr int kBack = (direction + 4) % kDirections;
  const auto inner = Inner<G, kBack>(others);
  auto run = Step<G, kBack>(mine) & inner;
  for (int i = 0; i < G::kSide - 3; ++i) run |= Step<G, kBack>(run) & inner;
  return Step<G, kBack>(run);
}

// Calls visit(std::integral_constant<int, direction>{}) for the eight directions.
template <typename Visit>
constexpr void ForEachDirection(Visit&& visit) {
  [&]<int... d>(std::integer_sequence<int, d...>) {
    (visit(std::integral_constant<int, d>{}), ...);
  }(std::make_integer_sequence<int, kDirections>{});
}

// All discs outflanked by `move`.
template <class G>
constexpr typename G::Bits Flips(typename G::Bits move, typename G::Bits mine, typename G::Bits others) {
  typename G::Bits flips;
  ForEachDirection([&](auto d) { flips |= FlipsTowards<G, d>(move, mine, others); });
  return flips;
}

// The empty squares where a disc of mine outflanks something.
template <class G>
constexpr typename G::Bits FlippingMoves(typename G::Bits mine, typename G::Bits others, typename G::Bits empty) {
  typename G::Bits moves;
  ForEachDirection([&](auto d) { moves |= OutflanksTowards<G, d>(mine, others); });
  return moves & empty;
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

#endif  // REVERSI_ENGINE_GEOMETRY_H_
