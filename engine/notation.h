// Text of moves, transcripts and diagrams.
#ifndef REVERSI_ENGINE_NOTATION_H_
#define REVERSI_ENGINE_NOTATION_H_

#include <optional>
#include <string>
#include <string_view>
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

// One string a row from the top: '-' empty, B W R G U Y discs, N neutral, '#' blocked, ' ' no square.
std::vector<std::string> Rows(const Position& position);

}  // namespace reversi

#endif  // REVERSI_ENGINE_NOTATION_H_
