#include "service/cli/format_json_lines.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/cli/json.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

constexpr char kFormat[] = "reversi-game";
constexpr uint32_t kFormatVersion = 1;

absl::Status Wrong(size_t line, absl::string_view what) {
  return absl::DataLossError(absl::StrCat("line ", line, ": ", what));
}

absl::Status CheckHeader(const file::v1::GameFileHeader& header) {
  if (header.format() != kFormat) return Wrong(1, absl::StrCat("no ", kFormat, " file"));
  if (header.format_version() != kFormatVersion) {
    return Wrong(1, absl::StrCat("format_version ", header.format_version(), ", this build reads ", kFormatVersion));
  }
  if (!header.has_rules()) return Wrong(1, "rules are missing");
  return absl::OkStatus();
}

}  // namespace

file::v1::GameFileHeader HeaderOf(const v1::Game& game, uint32_t opening_plies) {
  file::v1::GameFileHeader header;
  header.set_format(kFormat);
  header.set_format_version(kFormatVersion);
  header.set_game_id(game.game_id());
  *header.mutable_rules() = game.rules();
  *header.mutable_seats() = game.seats();
  for (int ply = 0; ply < static_cast<int>(opening_plies) && ply < game.moves_size(); ++ply) {
    header.add_opening_moves(game.moves(ply).move());
  }
  if (game.has_turn_limit()) *header.mutable_turn_limit() = game.turn_limit();
  header.set_timeout_action(game.timeout_action());
  return header;
}

std::string JsonLinesText(const GameFile& file) {
  std::string text = absl::StrCat(JsonLine(file.header), "\n");
  for (const auto& event : file.events) absl::StrAppend(&text, JsonLine(event), "\n");
  return text;
}

absl::StatusOr<GameFile> ParseJsonLines(absl::string_view text) {
  GameFile file;
  size_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty() && number > 1) continue;
    if (number == 1) {
      if (auto error = ReadJson(line, &file.header); !error.empty()) return Wrong(number, error);
      if (auto status = CheckHeader(file.header); !status.ok()) return status;
      continue;
    }
    v1::GameEvent event;
    if (auto error = ReadJson(line, &event); !error.empty()) return Wrong(number, error);
    if (event.version() != file.events.size() + 1) {
      return Wrong(number, absl::StrCat("version ", event.version(), ", expected ", file.events.size() + 1));
    }
    file.events.push_back(std::move(event));
  }
  if (file.events.empty()) return Wrong(number, "the log is empty");
  if (!file.events[0].has_created()) return Wrong(2, "the log does not begin with the game's creation");
  return file;
}

absl::StatusOr<std::vector<std::string>> MovesOf(const GameFile& file) {
  std::vector<std::string> moves(file.header.opening_moves().begin(), file.header.opening_moves().end());
  for (const auto& event : file.events) {
    const auto refused = [&](absl::string_view what) {
      return absl::FailedPreconditionError(
          absl::StrCat("event ", event.version(), ": ", what, ", which moves alone cannot make again"));
    };
    switch (event.what_case()) {
      case v1::GameEvent::kCreated:
      case v1::GameEvent::kJoined: break;
      case v1::GameEvent::kMoved: moves.push_back(event.moved().move()); break;
      case v1::GameEvent::kResigned:
        return refused(absl::StrCat("a leaving (", Word(event.resigned().color()), " resigned)"));
      case v1::GameEvent::kTimedOut:
        return refused(absl::StrCat("a leaving (", Word(event.timed_out().color()), " ran out of time)"));
      case v1::GameEvent::kAborted: return refused("the game was aborted");
      case v1::GameEvent::kExpired: return refused("the game expired");
      case v1::GameEvent::WHAT_NOT_SET: return refused("an event of an unknown kind");
    }
  }
  return moves;
}

}  // namespace reversi::cli
