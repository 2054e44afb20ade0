// Transcripts: the moves alone, "f5d6c3". Text in, text out.
#ifndef REVERSI_SERVICE_CLI_FORMAT_TRANSCRIPT_H_
#define REVERSI_SERVICE_CLI_FORMAT_TRANSCRIPT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::cli {

// The moves so far, on one line.
std::string TranscriptOf(const v1::Game& game);

// Squares with or without spaces, in either case; passes are dropped. An error names the place.
absl::StatusOr<std::vector<std::string>> ParseTranscriptMoves(absl::string_view text);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_FORMAT_TRANSCRIPT_H_
