#include "engine/board.h"

#include <algorithm>
#include <array>

namespace reversi {
namespace {

struct BoardFacts {
  std::string_view name;
  int side;
  int squares;
};

constexpr std::array<BoardFacts, kBoards> kFacts = {{
    {"6x6", 6, 36}, {"8x8", 8, 64}, {"9x9", 9, 81}, {"10x10", 10, 100}, {"octagon", 10, 88},
}};

const BoardFacts& Facts(Board board) { return kFacts[static_cast<size_t>(board)]; }

}  // namespace

int BoardSide(Board board) { return Facts(board).side; }

int BoardSquares(Board board) { return Facts(board).squares; }

bool OnBoard(Board board, Square square) {
  const int side = BoardSide(board);
  if (square.row >= side || square.col >= side) return false;
  if (board != Board::kOctagon) return true;
  return std::min<int>(square.row, 9 - square.row) + std::min<int>(square.col, 9 - square.col) >= 2;
}

std::string_view BoardName(Board board) { return Facts(board).name; }

std::optional<Board> ParseBoard(std::string_view name) {
  for (size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) return static_cast<Board>(i);
  }
  return std::nullopt;
}

std::optional<Square> ParseSquare(std::string_view text) {
  if (text.size() < 2 || text.size() > 3 || text[0] < 'a' || text[0] > 'j') return std::nullopt;
  const auto col = static_cast<uint8_t>(text[0] - 'a');
  if (text.substr(1) == "10") return Square{9, col};
  if (text.size() != 2 || text[1] < '1' || text[1] > '9') return std::nullopt;
  return Square{static_cast<uint8_t>(text[1] - '1'), col};
}

std::string SquareName(Square square) {
  std::string name(1, static_cast<char>('a' + square.col));
  if (square.row == 9) return name += "10";
  return name += static_cast<char>('1' + square.row);
}

SquareSet CentreSquares(Board board) {
  const int side = BoardSide(board);
  SquareSet centre;
  for (int row = (side - 1) / 2; row <= side / 2; ++row) {
    for (int col = (side - 1) / 2; col <= side / 2; ++col) {
      centre.Add({static_cast<uint8_t>(row), static_cast<uint8_t>(col)});
    }
  }
  return centre;
}

SquareSet HandicapCorners(Board board, int count) {
  const auto last = static_cast<uint8_t>(BoardSide(board) - 1);
  const Square corners[] = {{0, 0}, {last, last}, {0, last}, {last, 0}};
  SquareSet taken;
  for (int i = 0; i < count; ++i) taken.Add(corners[i]);
  return taken;
}

}  // namespace reversi
