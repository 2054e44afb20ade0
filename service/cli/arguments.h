// The command line: what was asked for, checked as far as that can be done without a server.
#ifndef REVERSI_SERVICE_CLI_ARGUMENTS_H_
#define REVERSI_SERVICE_CLI_ARGUMENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "reversi/v1/reversi.pb.h"
#include "service/cli/connection.h"
#include "service/cli/terminal.h"

namespace reversi::cli {

// Everything that the commands take; each reads its own part.
struct Options {
  std::string command;  // the name of the command given
  ServerOptions server;
  bool json = false;
  ColorChoice color = ColorChoice::kAuto;

  // create, play, demo, import, perft: the game to make, its rules included. Whether any rule was named.
  v1::CreateGameRequest game;
  bool rules_given = false;
  std::vector<v1::Color> open;            // seats left open …
  uint32_t open_count = 0;                // … or how many of the last
  std::map<v1::Color, std::string> names;

  std::string game_id;
  std::string move;
  std::optional<uint64_t> version;        // move: expected_version; watch: after_version
  std::string token;
  std::string tokens_file;
  std::string save_file;
  v1::Color seat = v1::COLOR_UNSPECIFIED;
  std::string name;                       // join, play
  bool join = false;                      // play
  absl::Duration reconnect_for = absl::Minutes(2);

  std::optional<uint64_t> seed;           // demo
  std::optional<absl::Duration> delay;    // demo: between moves
  v1::ListGamesRequest list;
  uint32_t limit = 50;                    // list: games shown in all
  bool with_moves = false;                // show
  bool transcript = false;                // export
  std::string file = "-";                 // export: where to; import: where from
  uint32_t depth = 0;                     // perft
  bool split = false;
};

// Options, or the text to print and the exit code (kDone for --help and --version, else kUsage).
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

// `arguments` without the program's name. Reads REVERSI_SERVER and REVERSI_TOKEN.
Parsed ParseArguments(std::vector<std::string> arguments);

// "30s", "1m30s", "2h", or seconds as a bare number; nullopt for anything else.
std::optional<absl::Duration> ParseTime(const std::string& text);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_ARGUMENTS_H_
