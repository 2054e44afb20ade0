#include "service/errors.h"

#include <array>

#include <grpcpp/support/status.h>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "service/text.h"

namespace reversi {
namespace {

struct Row {
  Reason reason;
  std::string_view name;
  grpc::StatusCode code;
};

constexpr std::array<Row, kReasons> kTable = {{
    {Reason::kRateLimited, "RATE_LIMITED", grpc::RESOURCE_EXHAUSTED},
    {Reason::kServerDraining, "SERVER_DRAINING", grpc::UNAVAILABLE},
    {Reason::kMalformedRequest, "MALFORMED_REQUEST", grpc::INVALID_ARGUMENT},
    {Reason::kUnsupportedRules, "UNSUPPORTED_RULES", grpc::INVALID_ARGUMENT},
    {Reason::kBadSquare, "BAD_SQUARE", grpc::INVALID_ARGUMENT},
    {Reason::kGameNotFound, "GAME_NOT_FOUND", grpc::NOT_FOUND},
    {Reason::kBadToken, "BAD_TOKEN", grpc::PERMISSION_DENIED},
    {Reason::kGameIdTaken, "GAME_ID_TAKEN", grpc::ALREADY_EXISTS},
    {Reason::kGameOver, "GAME_OVER", grpc::FAILED_PRECONDITION},
    {Reason::kSeatTaken, "SEAT_TAKEN", grpc::FAILED_PRECONDITION},
    {Reason::kStaleVersion, "STALE_VERSION", grpc::ABORTED},
    {Reason::kGameNotStarted, "GAME_NOT_STARTED", grpc::FAILED_PRECONDITION},
    {Reason::kNotYourTurn, "NOT_YOUR_TURN", grpc::FAILED_PRECONDITION},
    {Reason::kIllegalMove, "ILLEGAL_MOVE", grpc::FAILED_PRECONDITION},
    {Reason::kVersionInFuture, "VERSION_IN_FUTURE", grpc::OUT_OF_RANGE},
    {Reason::kTooManyGames, "TOO_MANY_GAMES", grpc::RESOURCE_EXHAUSTED},
    {Reason::kTooManyWatchers, "TOO_MANY_WATCHERS", grpc::RESOURCE_EXHAUSTED},
    {Reason::kStoreUnavailable, "STORE_UNAVAILABLE", grpc::UNAVAILABLE},
}};

constexpr bool TableFollowsTheEnum() {
  for (int i = 0; i < kReasons; ++i) {
    if (kTable[static_cast<size_t>(i)].reason != static_cast<Reason>(i)) return false;
  }
  return kReasons == static_cast<int>(Reason::kStoreUnavailable) + 1;
}
static_assert(TableFollowsTheEnum(), "every reason has its row, in the order of precedence");

const Row& RowOf(Reason reason) { return kTable[static_cast<size_t>(reason)]; }

}  // namespace

std::string_view ReasonName(Reason reason) { return RowOf(reason).name; }

Error Malformed(std::string_view field, std::string_view message) {
  return {.reason = Reason::kMalformedRequest,
          .message = absl::StrCat(ToAbsl(field), ": ", ToAbsl(message)),
          .field = std::string(field)};
}

Error GameNotFound(std::string_view game_id) {
  return {.reason = Reason::kGameNotFound, .message = absl::StrCat("there is no game ", ToAbsl(game_id))};
}

Error BadToken() {
  return {.reason = Reason::kBadToken, .message = "the token is none of this game for this call"};
}

Error StoreUnavailable() {
  return {.reason = Reason::kStoreUnavailable,
          .message = "the store did not answer: the command may or may not have been accepted; "
                     "retry with the same expected_version or request_id",
          .retry_after = absl::Milliseconds(500)};
}

grpc::Status ToStatus(const Error& error) {
  const Row& row = RowOf(error.reason);
  google::rpc::Status details;
  details.set_code(row.code);
  details.set_message(error.message);
  google::rpc::ErrorInfo info;
  info.set_reason(std::string(row.name));
  info.set_domain(std::string(kErrorDomain));
  for (const auto& [key, value] : error.metadata) (*info.mutable_metadata())[key] = value;
  details.add_details()->PackFrom(info);
  if (!error.field.empty()) {
    google::rpc::BadRequest bad_request;
    auto* violation = bad_request.add_field_violations();
    violation->set_field(error.field);
    violation->set_description(error.message);
    details.add_details()->PackFrom(bad_request);
  }
  if (error.retry_after > absl::ZeroDuration()) {
    google::rpc::RetryInfo retry;
    const int64_t nanoseconds = absl::ToInt64Nanoseconds(error.retry_after);
    retry.mutable_retry_delay()->set_seconds(nanoseconds / 1'000'000'000);
    retry.mutable_retry_delay()->set_nanos(static_cast<int32_t>(nanoseconds % 1'000'000'000));
    details.add_details()->PackFrom(retry);
  }
  return grpc::Status(row.code, error.message, details.SerializeAsString());
}

}  // namespace reversi
