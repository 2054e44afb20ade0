#include "engine/notation.h"

#include <algorithm>

#include "engine/geometry.h"

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

// The characters of a board without discs, by the bits of its geometry.
template <class G>
constexpr auto EmptyBoard() {
  std::array<char, G::kSide * G::kStride> squares = {};
  for (int i = 0; i < G::kSide * G::kStride; ++i) {
    const Square square = G::SquareOf(i);
    squares[i] = square.col < G::kSide && G::HasSquare(square.row, square.col) ? '-' : ' ';
  }
  return squares;
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

std::variant<std::vector<Move>, TranscriptError> ParseTranscript(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const std::string_view rest(lower);
  const auto space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  std::vector<Move> moves;
  for (size_t at = 0; at < rest.size();) {
    if (space(rest[at])) {
      ++at;
      continue;
    }
    bool dropped = false;
    for (std::string_view pass : {"pass", "pa", "--"}) {
      if (dropped || !rest.substr(at).starts_with(pass)) continue;
      at += pass.size();
      dropped = true;
    }
    if (dropped) continue;
    size_t length = rest.substr(at).starts_with("jack") ? 4 : rest.substr(at).substr(1).starts_with("10") ? 3 : 2;
    if (at + length < rest.size() && rest[at + length] == ':') {
      while (at + length < rest.size() && !space(rest[at + length])) ++length;
    }
    const std::optional<Move> move = ParseMove(rest.substr(at, length));
    if (!move) return TranscriptError{at};
    moves.push_back(*move);
    at += length;
  }
  return moves;
}

std::string TranscriptText(const std::vector<Move>& moves) {
  bool spaced = false;
  for (const Move& move : moves) spaced |= move.kind != Move::Kind::kPlace;
  std::string text;
  for (const Move& move : moves) {
    if (spaced && !text.empty()) text += ' ';
    text += MoveText(move);
  }
  return text;
}

BoardRows::BoardRows(const Position& position) {
  WithGeometry(position.board(), [&]<class G>(G) {
    static constexpr auto kEmpty = EmptyBoard<G>();
    side_ = G::kSide;
    stride_ = G::kStride;
    std::copy(kEmpty.begin(), kEmpty.end(), squares_.begin());
    const auto put = [&](const Bits128& set, char letter) {
      ForEachBit(G::Bits::From(set), [&](typename G::Bits square) { squares_[square.first()] = letter; });
    };
    const PositionState& state = position.state();
    put(state.blocked, '#');
    for (size_t color = 0; color < state.discs.size(); ++color) {
      put(state.discs[color], ColorLetter(static_cast<Color>(color)));
    }
  });
}

std::vector<std::string> Rows(const Position& position) {
  const BoardRows shown(position);
  std::vector<std::string> rows;
  for (size_t row = 0; row < shown.size(); ++row) rows.emplace_back(shown[row]);
  return rows;
}

std::string DiagramText(const Position& position) {
  std::string text;
  for (const std::string& row : Rows(position)) {
    if (!text.empty()) text += '/';
    text += row;
  }
  return text;
}

std::optional<Position> ParseDiagram(const Rules& rules, std::string_view text, Color turn) {
  const int side = BoardSide(rules.board);
  if (text.size() != static_cast<size_t>(side * side + side - 1)) return std::nullopt;
  const Position start(rules);
  std::vector<std::pair<Square, Color>> discs;
  for (int row = 0; row < side; ++row) {
    if (row > 0 && text[row * (side + 1) - 1] != '/') return std::nullopt;
    for (int col = 0; col < side; ++col) {
      const Square square{static_cast<uint8_t>(row), static_cast<uint8_t>(col)};
      const char c = text[row * (side + 1) + col];
      if ((c == ' ') == OnBoard(rules.board, square) || (c == '#') != start.Blocked(square)) return std::nullopt;
      if (c == ' ' || c == '#' || c == '-') continue;
      const size_t color = std::string_view("BWRGUYN").find(c);
      const bool plays = color < static_cast<size_t>(rules.players) || c == 'N';
      if (color == std::string_view::npos || !plays) return std::nullopt;
      discs.emplace_back(square, static_cast<Color>(color));
    }
  }
  return Position(rules, discs, turn);
}

}  // namespace reversi
