// Files that `reversi import` reads: JSON lines and transcripts. What is read must come back from what is written.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "service/cli/format_json_lines.h"
#include "service/cli/format_transcript.h"
#include "tests/fuzz/check.h"

namespace reversi::cli {
namespace {

void ReadJsonLines(absl::string_view text) {
  const absl::StatusOr<GameFile> file = ParseJsonLines(text);
  if (!file.ok()) {
    FUZZ_CHECK(!file.status().message().empty());
    return;
  }
  const std::string written = JsonLinesText(*file);
  const absl::StatusOr<GameFile> again = ParseJsonLines(written);
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(JsonLinesText(*again) == written);
  const auto moves = MovesOf(*file);
  FUZZ_CHECK(moves.ok() == MovesOf(*again).ok());
}

void ReadTranscript(absl::string_view text) {
  const absl::StatusOr<std::vector<std::string>> moves = ParseTranscriptMoves(text);
  if (!moves.ok()) return;
  const auto again = ParseTranscriptMoves(absl::StrJoin(*moves, " "));
  FUZZ_CHECK(again.ok());
  FUZZ_CHECK(*again == *moves);
}

}  // namespace
}  // namespace reversi::cli

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  reversi::cli::ReadJsonLines(text);
  reversi::cli::ReadTranscript(text);
  return 0;
}
