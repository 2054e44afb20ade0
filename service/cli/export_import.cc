#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "service/cli/commands.h"
#include "service/cli/format_json_lines.h"
#include "service/cli/format_transcript.h"
#include "service/cli/watch.h"

namespace reversi::cli {
namespace {

// The log of a game up to `version`. Returns false, with the exit code, when it cannot be read.
bool ReadLog(const Session& session, uint64_t version, std::vector<v1::GameEvent>* events, int* code) {
  Watch watch(session.server, session.options.game_id, /*after_version=*/0, session.options.reconnect_for);
  while (events->size() < version) {
    const auto news = watch.Next(absl::Seconds(1));
    if (!news) continue;
    if (news->kind == Watch::News::Kind::kFailed) {
      *code = session.Fail(news->failure);
      return false;
    }
    if (news->kind == Watch::News::Kind::kEnded) break;
    if (news->message.has_event()) events->push_back(news->message.event());
  }
  return true;
}

// A game to make again, and what it must come to.
struct Import {
  v1::CreateGameRequest request;
  std::optional<v1::Position> end;
};

absl::StatusOr<Import> ReadImport(const Options& o, absl::string_view text) {
  Import import{.request = o.game, .end = {}};
  const bool json_lines = absl::StripLeadingAsciiWhitespace(text).substr(0, 1) == "{";
  absl::StatusOr<std::vector<std::string>> moves;
  if (json_lines) {
    if (o.rules_given) return absl::InvalidArgumentError("the file brings its own rules; name none");
    auto file = ParseJsonLines(text);
    if (!file.ok()) return file.status();
    moves = MovesOf(*file);
    *import.request.mutable_rules() = file->header.rules();
    import.end = file->events.back().position();
  } else {
    moves = ParseTranscriptMoves(text);
  }
  if (!moves.ok()) return moves.status();
  for (const auto& move : *moves) import.request.add_opening_moves(move);
  return import;
}

}  // namespace

int ExportCommand(const Session& session) {
  const Options& o = session.options;
  v1::GetGameRequest request;
  v1::GetGameResponse response;
  request.set_game_id(o.game_id);
  const auto status = session.server.CallAgain(&v1::GameService::Stub::GetGame, request, &response);
  if (!status.ok()) return session.Fail(status);
  std::string text;
  if (o.transcript) {
    text = TranscriptOf(response.game());
  } else {
    GameFile file;
    int code = kDone;
    if (!ReadLog(session, response.game().version(), &file.events, &code)) return code;
    const uint32_t opening = file.events.empty() ? 0 : file.events[0].position().ply();
    file.header = HeaderOf(response.game(), opening);
    text = JsonLinesText(file);
  }
  if (auto written = WriteFile(o.file, text, /*secret=*/false); !written.ok()) return session.Fail(written);
  return kDone;
}

int ImportCommand(const Session& session) {
  const Options& o = session.options;
  const auto text = ReadFile(o.file);
  if (!text.ok()) return session.Fail(text.status());
  // What an export that failed leaves behind, not a game without moves.
  if (text->empty()) return session.Fail(kBadFile, absl::StrCat(o.file, ": the file is empty"));
  const auto import = ReadImport(o, *text);
  if (absl::IsInvalidArgument(import.status())) return session.Fail(import.status());
  if (!import.ok()) return session.Fail(kBadFile, absl::StrCat(o.file, ": ", import.status().message()));
  v1::CreateGameResponse made;
  const auto status = CreateGame(session, import->request, &made);
  if (!status.ok()) return session.Fail(status);
  const v1::Game& game = made.game();
  if (import->end && game.position().hash() != import->end->hash()) {
    return session.Fail(kFailed, absl::StrFormat("game %s came out with hash %016x, the file ends with %016x",
                                                 game.game_id(), game.position().hash(), import->end->hash()));
  }
  if (o.json) {
    session.PrintJson(made);
  } else {
    session.out << DrawGame(game, session.style()) << "\n";
  }
  if (auto saved = ShowTokens(session, TokensOf(made)); !saved.ok()) return session.Fail(saved);
  return kDone;
}

}  // namespace reversi::cli
