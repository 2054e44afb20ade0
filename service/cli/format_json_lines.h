// The product's own file of a game: JSON lines, as proto/reversi/file/v1/game_file.proto says. Text in, text out.
#ifndef REVERSI_SERVICE_CLI_FORMAT_JSON_LINES_H_
#define REVERSI_SERVICE_CLI_FORMAT_JSON_LINES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "reversi/file/v1/game_file.pb.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::cli {

// A game and its whole log, as the file holds it.
struct GameFile {
  file::v1::GameFileHeader header;
  std::vector<v1::GameEvent> events;
};

// The header of a game whose first event left the position at `opening_plies`.
file::v1::GameFileHeader HeaderOf(const v1::Game& game, uint32_t opening_plies);

std::string JsonLinesText(const GameFile& file);

// Strict; an error names the line.
absl::StatusOr<GameFile> ParseJsonLines(absl::string_view text);

// All moves of the log, those of its creation first. An error when moves alone cannot make the game again: a seat left
// it, or it ended without a winner.
absl::StatusOr<std::vector<std::string>> MovesOf(const GameFile& file);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_FORMAT_JSON_LINES_H_
