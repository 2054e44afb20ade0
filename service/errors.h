// Every way to refuse a call: one table from reason to gRPC status and details.
#ifndef REVERSI_SERVICE_ERRORS_H_
#define REVERSI_SERVICE_ERRORS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace grpc {
class Status;
}

namespace reversi {

// In order of precedence: a call that is wrong in two ways is refused for the earlier one.
enum class Reason : uint8_t {
  kRateLimited,
  kServerDraining,
  kMalformedRequest,
  kUnsupportedRules,
  kBadSquare,
  kGameNotFound,
  kBadToken,
  kGameIdTaken,
  kGameOver,
  kSeatTaken,
  kStaleVersion,
  kGameNotStarted,
  kNotYourTurn,
  kIllegalMove,
  kVersionInFuture,
  kTooManyGames,
  kTooManyWatchers,
  kStoreUnavailable,
};
inline constexpr int kReasons = 18;

// The domain of every ErrorInfo.
inline constexpr std::string_view kErrorDomain = "reversi.v1";

// "RATE_LIMITED", …
std::string_view ReasonName(Reason reason);

// A refusal, told to developers by `message` and to programs by the rest.
struct Error {
  Reason reason;
  std::string message;
  // Path of the wrong field of the request, e.g. "rules.blocked_squares[2]"; empty = no BadRequest.
  std::string field = {};
  // Metadata of the ErrorInfo.
  std::vector<std::pair<std::string, std::string>> metadata = {};
  // When to try again; zero = no RetryInfo.
  absl::Duration retry_after = absl::ZeroDuration();
};

template <typename T>
using OrError = std::variant<T, Error>;

// Refusals that are made in several places.
Error Malformed(std::string_view field, std::string_view message);
Error GameNotFound(std::string_view game_id);
Error BadToken();
Error StoreUnavailable();

// The status with its details in grpc-status-details-bin.
grpc::Status ToStatus(const Error& error);

}  // namespace reversi

#endif  // REVERSI_SERVICE_ERRORS_H_
