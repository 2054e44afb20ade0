// Boards, squares and sets of squares. Pure values; the source is the rules text of README.md.
#ifndef REVERSI_ENGINE_BOARD_H_
#define REVERSI_ENGINE_BOARD_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reversi {

// The boards of the family. Octagon: 10x10 without three squares at each corner, 88 squares.
enum class Board : uint8_t { k6x6, k8x8, k9x9, k10x10, kOctagon };
inline constexpr int kBoards = 5;

// A square by 0-based row (from the top) and column (from the left); "a1" is {0, 0}.
// Orders by row, then column, as every list of squares does.
struct Square {
  uint8_t row = 0;
  uint8_t col = 0;
  friend constexpr auto operator<=>(const Square&, const Square&) = default;
};

// Rows (= columns) of the bounding square: 6, 8, 9 or 10.
int BoardSide(Board board);
// Squares of the board, holes of the Octagon not counted: 36, 64, 81, 100 or 88.
int BoardSquares(Board board);
// Whether the square is on the board (a hole of the Octagon is not).
bool OnBoard(Board board, Square square);
// "6x6", "8x8", "9x9", "10x10", "octagon".
std::string_view BoardName(Board board);
std::optional<Board> ParseBoard(std::string_view name);

// "a1" … "j10". Strict: lower case, a-j, 1-10 without leading zero, nothing else; nullopt otherwise.
// Says nothing about any board: "j10" parses although 8x8 has no such square.
std::optional<Square> ParseSquare(std::string_view text);
std::string SquareName(Square square);

// A set of squares of any board, iterated by row, then column. Sixteen bytes, no heap.
class SquareSet {
 public:
  constexpr SquareSet() = default;
  constexpr void Add(Square s) { word(s) |= bit(s); }
  constexpr void Remove(Square s) { word(s) &= ~bit(s); }
  constexpr bool Has(Square s) const { return ((s.row < 5 ? low_ : high_) & bit(s)) != 0; }
  constexpr int size() const { return __builtin_popcountll(low_) + __builtin_popcountll(high_); }
  constexpr bool empty() const { return (low_ | high_) == 0; }
  friend constexpr bool operator==(const SquareSet&, const SquareSet&) = default;

  // Calls visit(Square) for every member, by row, then column.
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    for (int half = 0; half < 2; ++half) {
      for (uint64_t rest = half == 0 ? low_ : high_; rest != 0; rest &= rest - 1) {
        const int index = __builtin_ctzll(rest);
        visit(Square{static_cast<uint8_t>(half * 5 + index / 10), static_cast<uint8_t>(index % 10)});
      }
    }
  }

 private:
  // Five rows of ten columns a word, whatever the board.
  static constexpr uint64_t bit(Square s) { return uint64_t{1} << (s.row % 5 * 10 + s.col); }
  constexpr uint64_t& word(Square s) { return s.row < 5 ? low_ : high_; }
  uint64_t low_ = 0;
  uint64_t high_ = 0;
};

// The four squares in the middle; on 9x9 the middle square alone.
SquareSet CentreSquares(Board board);
// The corners that a handicap of `count` (0-4) gives: top left, bottom right, top right, bottom left.
SquareSet HandicapCorners(Board board, int count);

}  // namespace reversi

#endif  // REVERSI_ENGINE_BOARD_H_
