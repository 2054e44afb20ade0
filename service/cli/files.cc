#include "service/cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/cli/words.h"

namespace reversi::cli {

absl::StatusOr<std::string> ReadFile(const std::string& name) {
  const int file = name == "-" ? dup(STDIN_FILENO) : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  std::string text;
  char chunk[65536];
  ssize_t n = file < 0 ? -1 : 1;
  while (n > 0) {
    n = read(file, chunk, sizeof chunk);
    if (n > 0) text.append(chunk, static_cast<size_t>(n));
  }
  const int error = errno;
  if (file >= 0) close(file);
  if (n < 0) return absl::NotFoundError(absl::StrCat("cannot read ", name, ": ", strerror(error)));
  return text;
}

absl::Status WriteFile(const std::string& name, absl::string_view text, bool secret) {
  if (name == "-") {
    std::cout << text << std::flush;
    return absl::OkStatus();
  }
  const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, secret ? 0600 : 0666);
  if (file < 0) return absl::UnavailableError(absl::StrCat("cannot write ", name, ": ", strerror(errno)));
  // The mode above holds for a new file only.
  if (secret) fchmod(file, 0600);
  bool written = true;
  while (written && !text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    written = n > 0;
    if (written) text.remove_prefix(static_cast<size_t>(n));
  }
  written = close(file) == 0 && written;
  return written ? absl::OkStatus()
                 : absl::UnavailableError(absl::StrCat("cannot write ", name, ": ", strerror(errno)));
}

std::string TokensText(const Tokens& tokens) {
  std::string text = "# Tokens of a Reversi game: whoever has one plays that seat.\n";
  absl::StrAppend(&text, "game ", tokens.game_id, "\n");
  for (const auto& [color, token] : tokens.seats) absl::StrAppend(&text, Word(color), " ", token, "\n");
  if (!tokens.owner.empty()) absl::StrAppend(&text, "owner ", tokens.owner, "\n");
  return text;
}

absl::StatusOr<Tokens> ParseTokens(absl::string_view text) {
  Tokens tokens;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty() || words[0][0] == '#') continue;
    const auto color = ParseWord<v1::Color>(words[0]);
    if (words.size() != 2 || (!color && words[0] != "game" && words[0] != "owner")) {
      return absl::InvalidArgumentError("not a token file: lines are \"game ID\", \"COLOR TOKEN\", \"owner TOKEN\"");
    }
    if (color) {
      tokens.seats[*color] = words[1];
    } else {
      (words[0] == "game" ? tokens.game_id : tokens.owner) = words[1];
    }
  }
  if (tokens.game_id.empty()) return absl::InvalidArgumentError("not a token file: it names no game");
  return tokens;
}

}  // namespace reversi::cli
