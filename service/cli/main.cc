// The terminal client.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "service/cli/arguments.h"
#include "service/cli/commands.h"

int main(int argc, char** argv) {
  using namespace reversi::cli;
  // gRPC's own log would mix with the board; refusals are told by the commands.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  const Parsed parsed = ParseArguments(std::vector<std::string>(argv + 1, argv + argc));
  if (!parsed.options) {
    (parsed.exit_code == kDone ? std::cout : std::cerr) << parsed.text;
    return parsed.exit_code;
  }
  const auto server = Connection::Open(parsed.options->server);
  if (!server.ok()) {
    std::cerr << "reversi: " << server.status().message() << std::endl;
    return kBadFile;
  }
  return RunCommand({.options = *parsed.options, .server = *server,
                     .terminal = DetectTerminal(parsed.options->color), .out = std::cout, .err = std::cerr});
}
