#include "service/cli/format_transcript.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "engine/notation.h"

namespace reversi::cli {

std::string TranscriptOf(const v1::Game& game) {
  std::vector<Move> moves;
  for (const auto& played : game.moves()) {
    // The server writes canonical text only.
    if (const auto move = ParseMove(played.move())) moves.push_back(*move);
  }
  return absl::StrCat(TranscriptText(moves), "\n");
}

absl::StatusOr<std::vector<std::string>> ParseTranscriptMoves(absl::string_view text) {
  const auto parsed = ParseTranscript({text.data(), text.size()});
  if (const auto* error = std::get_if<TranscriptError>(&parsed)) {
    return absl::DataLossError(absl::StrCat("no move at character ", error->offset + 1));
  }
  std::vector<std::string> moves;
  for (const Move& move : std::get<std::vector<Move>>(parsed)) moves.push_back(MoveText(move));
  return moves;
}

}  // namespace reversi::cli
