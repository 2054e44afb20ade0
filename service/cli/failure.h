// What went wrong, as a person and a script need it: one line of text and an exit code.
#ifndef REVERSI_SERVICE_CLI_FAILURE_H_
#define REVERSI_SERVICE_CLI_FAILURE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "grpcpp/support/status.h"

namespace reversi::cli {

// Documented in --help; scripts depend on the numbers.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,       // anything not named below
  kUsage = 2,        // arguments of this program, or a request that the server calls malformed
  kRefused = 3,      // the rules or the state of the game refuse it
  kNotFound = 4,     // no such game
  kForbidden = 5,    // not this game's token
  kConflict = 6,     // somebody was quicker: stale version, id or seat taken
  kUnreachable = 7,  // no server there, or no answer in time
  kBusy = 8,         // the server is at a limit, draining or without its store: try again
  kBadFile = 9,      // a file cannot be read, written or understood
};

// A refusal taken apart. Empty reason: the server sent no details.
struct Failure {
  grpc::StatusCode code = grpc::StatusCode::OK;
  std::string reason;
  std::string message;
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, std::string>> fields;  // path, what is wrong with it
  std::optional<absl::Duration> retry_after;
  std::string json;  // the google.rpc.Status on one line
};

// Reads google.rpc.Status and its ErrorInfo, BadRequest and RetryInfo out of a call's status.
Failure ReadFailure(const grpc::Status& status);

ExitCode ExitCodeOf(const Failure& failure);

// "ILLEGAL_MOVE: d3 flips nothing (field: move; move=d3, why=flips_nothing)". `server` is named where nobody
// answers there.
std::string FailureText(const Failure& failure, const std::string& server);

// Whether the same call may be answered when it is made again a little later.
bool Transient(const Failure& failure);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_FAILURE_H_
