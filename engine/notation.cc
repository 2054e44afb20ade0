#include "engine/notation.h"

#include <array>

namespace reversi {
namespace {

constexpr std::array<std::string_view, 8> kRowNames = {"n", "ne", "e", "se", "s", "sw", "w", "nw"};

std::optional<RowMask> ParseRows(std::string_view text) {
  int rows = 0;
  while (true) {
    const size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    int row = 0;
    for (size_t i = 0; i < kRowNames.size(); ++i) {
      if (name == kRowNames[i]) row = 1 << i;
    }
    if (row == 0 || (rows & row) != 0) return std::nullopt;
    rows |= row;
    if (comma == std::string_view::npos) return static_cast<RowMask>(rows);
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

std::optional<Move> ParseMove(std::string_view text) {
  if (text.size() > kMaxMoveText) return std::nullopt;
  if (text == "jack") return Move{Move::Kind::kJack, {}, 0};
  const size_t colon = text.find(':');
  const std::optional<Square> square = ParseSquare(text.substr(0, colon));
  if (!square) return std::nullopt;
  if (colon == std::string_view::npos) return Move{Move::Kind::kPlace, *square, 0};
  const std::optional<RowMask> rows = ParseRows(text.substr(colon + 1));
  if (!rows) return std::nullopt;
  return Move{Move::Kind::kPlaceRows, *square, *rows};
}

std::string MoveText(const Move& move) {
  if (move.kind == Move::Kind::kJack) return "jack";
  std::string text = SquareName(move.square);
  if (move.kind == Move::Kind::kPlace) return text;
  char separator = ':';
  for (size_t i = 0; i < kRowNames.size(); ++i) {
    if ((move.rows >> i & 1) == 0) continue;
    text += separator;
    text += kRowNames[i];
    separator = ',';
  }
  return text;
}

std::vector<std::string> Rows(const Position& position) {
  const auto side = static_cast<uint8_t>(BoardSide(position.board()));
  std::vector<std::string> rows;
  for (uint8_t row = 0; row < side; ++row) {
    std::string& line = rows.emplace_back(side, ' ');
    for (uint8_t col = 0; col < side; ++col) {
      const Square square{row, col};
      if (!OnBoard(position.board(), square)) continue;
      line[col] = position.Blocked(square) ? '#' : ColorLetter(position.At(square));
    }
  }
  return rows;
}

}  // namespace reversi
