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

}  // namespace reversi

#endif  // REVERSI_ENGINE_GEOMETRY_H_
