// Text of moves, transcripts and diagrams.
#ifndef REVERSI_ENGINE_NOTATION_H_
#define REVERSI_ENGINE_NOTATION_H_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/position.h"

namespace reversi {

// Longest move text: "j10:n,ne,e,se,s,sw,w,nw".
inline constexpr size_t kMaxMoveText = 64;

// "d3", "d3:n,ne" (rows in any order, none twice), "jack". Strict: lower case, no spaces; nullopt for text that is
// no move of any variant.
std::optional<Move> ParseMove(std::string_view text);
// Canonical text: rows in the order n ne e se s sw w nw.
std::string MoveText(const Move& move);

// Where in a transcript something stands that is no move.
struct TranscriptError {
  size_t offset = 0;
  friend constexpr bool operator==(const TranscriptError&, const TranscriptError&) = default;
};

// The moves of a transcript: squares with or without spaces between them ("f5d6c3", "f5 d6 c3"), in either case;
// "pass", "pa" and "--" are dropped, since the engine passes by itself. Royal moves ("d3:n,ne", "jack") are taken too; a
// move with rows ends at a space or at the end.
std::variant<std::vector<Move>, TranscriptError> ParseTranscript(std::string_view text);
// Canonical: "f5d6c3" when all moves are squares alone, else the moves with spaces between them.
std::string TranscriptText(const std::vector<Move>& moves);

// The rows from the top: '-' empty, B W R G U Y discs, N neutral, '#' blocked, ' ' no square. A value without heap.
class BoardRows {
 public:
  explicit BoardRows(const Position& position);
  size_t size() const { return side_; }
  std::string_view operator[](size_t row) const { return {&squares_[row * stride_], side_}; }

 private:
  std::array<char, 110> squares_;  // ten rows of ten and their padding
  size_t side_ = 0;
  size_t stride_ = 0;
};
// The same, one string a row.
std::vector<std::string> Rows(const Position& position);

// The rows joined by '/'.
std::string DiagramText(const Position& position);
// The position of a diagram, as Rows or DiagramText write it, with a colour to move (kNone = over), under rules of the
// same board; nullopt when the text is no diagram of that board, shows colours that do not play or other blocked
// squares than the rules. Nothing but the diagram is known: all seats are in, no move was made, nobody claimed the
// Jack, and Royal's opening is behind; in the standard game an empty centre square means a free opening. The turn is
// taken as it is, not checked.
std::optional<Position> ParseDiagram(const Rules& rules, std::string_view text, Color turn);

}  // namespace reversi

#endif  // REVERSI_ENGINE_NOTATION_H_
