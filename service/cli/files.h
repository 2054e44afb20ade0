// Whole files, and the file that keeps a game's tokens.
#ifndef REVERSI_SERVICE_CLI_FILES_H_
#define REVERSI_SERVICE_CLI_FILES_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::cli {

// "-" is standard input. Errors name the file.
absl::StatusOr<std::string> ReadFile(const std::string& name);
// Replaces the file; only its owner may read it when `secret`. "-" is standard output.
absl::Status WriteFile(const std::string& name, absl::string_view text, bool secret);

// The secrets of one game that its holder has.
struct Tokens {
  std::string game_id;
  std::map<v1::Color, std::string> seats;
  std::string owner;  // empty: none
};

// Lines "game ID", "black TOKEN" …, "owner TOKEN"; '#' begins a comment.
std::string TokensText(const Tokens& tokens);
absl::StatusOr<Tokens> ParseTokens(absl::string_view text);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_FILES_H_
