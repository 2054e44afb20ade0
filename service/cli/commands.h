// The commands: each reads its options, talks to the server, shows what came of it and returns the exit code.
#ifndef REVERSI_SERVICE_CLI_COMMANDS_H_
#define REVERSI_SERVICE_CLI_COMMANDS_H_

#include "service/cli/session.h"

namespace reversi::cli {

// Runs the command that the options name.
int RunCommand(const Session& session);

// Follows a game (watch.cc's Watch, shown).
int WatchCommand(const Session& session);
// One or more seats at this keyboard.
int PlayCommand(const Session& session);
// A whole game of random moves.
int DemoCommand(const Session& session);
// A game into a file and out of one; a format has a file of its own (format_*.h).
int ExportCommand(const Session& session);
int ImportCommand(const Session& session);
// Counts ways to play, without a server.
int PerftCommand(const Session& session);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_COMMANDS_H_
