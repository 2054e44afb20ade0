// What every command has at hand: the server, where to write, and how refusals are told.
#ifndef REVERSI_SERVICE_CLI_SESSION_H_
#define REVERSI_SERVICE_CLI_SESSION_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "grpcpp/support/status.h"
#include "service/cli/arguments.h"
#include "service/cli/connection.h"
#include "service/cli/draw.h"
#include "service/cli/failure.h"
#include "service/cli/files.h"
#include "service/cli/terminal.h"

namespace reversi::cli {

struct Session {
  const Options& options;
  const Connection& server;
  Terminal terminal;
  std::ostream& out;
  std::ostream& err;

  // For drawing now.
  Style style() const { return {.color = terminal.color, .now = absl::Now()}; }

  // Tells a refusal and returns the command's exit code.
  int Fail(const Failure& failure) const;
  int Fail(const grpc::Status& status) const { return Fail(ReadFailure(status)); }
  // Files and tokens: an invalid argument is wrong usage, anything else a bad file.
  int Fail(const absl::Status& status) const {
    return Fail(absl::IsInvalidArgument(status) ? kUsage : kBadFile, status.message());
  }
  // Tells anything else that went wrong.
  int Fail(ExitCode code, absl::string_view message) const;
  // One object on a line.
  void PrintJson(const google::protobuf::Message& message) const;
};

// A request id that nobody can guess.
std::string NewRequestId();

// Makes the game that the options describe, with their open seats and names.
grpc::Status CreateGame(const Session& session, v1::CreateGameRequest request, v1::CreateGameResponse* made);

// Tokens of a game just made.
Tokens TokensOf(const v1::CreateGameResponse& made);

// Prints the tokens and keeps them in the file of --save, if there is one.
absl::Status ShowTokens(const Session& session, const Tokens& tokens);

// The tokens that the options give for the game: of the file, or the single one. With a single one the seat may be
// unspecified. An error when there are none.
absl::StatusOr<Tokens> GivenTokens(const Session& session);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_SESSION_H_
