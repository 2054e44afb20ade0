#include "service/cli/failure.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "service/cli/json.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

std::string CodeName(grpc::StatusCode code) {
  static constexpr const char* kNames[] = {
      "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
      "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
      "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"};
  return code >= 0 && code <= grpc::StatusCode::UNAUTHENTICATED ? kNames[code] : absl::StrCat(code);
}

void ReadDetail(const google::protobuf::Any& detail, Failure* failure) {
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest bad;
  google::rpc::RetryInfo retry;
  if (detail.Is<google::rpc::ErrorInfo>() && detail.UnpackTo(&info)) {
    failure->reason = info.reason();
    failure->metadata.insert(info.metadata().begin(), info.metadata().end());
  } else if (detail.Is<google::rpc::BadRequest>() && detail.UnpackTo(&bad)) {
    for (const auto& field : bad.field_violations()) {
      failure->fields.emplace_back(field.field(), field.description());
    }
  } else if (detail.Is<google::rpc::RetryInfo>() && detail.UnpackTo(&retry)) {
    failure->retry_after =
        absl::Seconds(retry.retry_delay().seconds()) + absl::Nanoseconds(retry.retry_delay().nanos());
  }
}

}  // namespace

Failure ReadFailure(const grpc::Status& status) {
  Failure failure{.code = status.error_code(), .reason = {}, .message = status.error_message(), .metadata = {},
                  .fields = {}, .retry_after = {}, .json = {}};
  google::rpc::Status details;
  if (status.error_details().empty() || !details.ParseFromString(status.error_details())) {
    details.Clear();
    details.set_code(status.error_code());
    details.set_message(status.error_message());
  }
  for (const auto& detail : details.details()) ReadDetail(detail, &failure);
  failure.json = JsonLine(details);
  return failure;
}

ExitCode ExitCodeOf(const Failure& failure) {
  static const auto& reasons = *new std::map<std::string, ExitCode>{
      {"RATE_LIMITED", kBusy},        {"SERVER_DRAINING", kBusy},   {"MALFORMED_REQUEST", kUsage},
      {"UNSUPPORTED_RULES", kRefused}, {"BAD_SQUARE", kRefused},     {"GAME_NOT_FOUND", kNotFound},
      {"BAD_TOKEN", kForbidden},      {"GAME_ID_TAKEN", kConflict}, {"GAME_OVER", kRefused},
      {"SEAT_TAKEN", kConflict},      {"STALE_VERSION", kConflict}, {"GAME_NOT_STARTED", kRefused},
      {"NOT_YOUR_TURN", kRefused},    {"ILLEGAL_MOVE", kRefused},   {"VERSION_IN_FUTURE", kConflict},
      {"TOO_MANY_GAMES", kBusy},      {"TOO_MANY_WATCHERS", kBusy}, {"STORE_UNAVAILABLE", kBusy}};
  if (const auto known = reasons.find(failure.reason); known != reasons.end()) return known->second;
  switch (failure.code) {
    case grpc::StatusCode::OK: return kDone;
    case grpc::StatusCode::INVALID_ARGUMENT: return kUsage;
    case grpc::StatusCode::NOT_FOUND: return kNotFound;
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED: return kForbidden;
    case grpc::StatusCode::RESOURCE_EXHAUSTED: return kBusy;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED: return kUnreachable;
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::OUT_OF_RANGE: return kConflict;
    case grpc::StatusCode::FAILED_PRECONDITION: return kRefused;
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::UNIMPLEMENTED:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::DATA_LOSS:
    case grpc::StatusCode::DO_NOT_USE: return kFailed;
  }
  return kFailed;
}

std::string FailureText(const Failure& failure, const std::string& server) {
  if (failure.reason.empty() && absl::StrContains(failure.message, "handshake")) {
    return absl::StrCat("no agreement on TLS with the server at ", server, " (", failure.message,
                        ")\nSee the options --tls, --tls_ca, --tls_cert, --tls_key and --tls_name.");
  }
  if (failure.reason.empty() && failure.code == grpc::StatusCode::UNAVAILABLE) {
    return absl::StrCat("cannot reach a server at ", server, " (", failure.message,
                        ")\nStart one with: reversi_server --listen ", server,
                        "\nor name another one with --server HOST:PORT or REVERSI_SERVER.");
  }
  if (failure.reason.empty() && failure.code == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::StrCat("no answer from ", server, " in time (--timeout allows more)");
  }
  std::vector<std::string> notes;
  for (const auto& [path, description] : failure.fields) {
    // The description often is the message again.
    notes.push_back(description.empty() || description == failure.message
                        ? absl::StrCat("field ", path)
                        : absl::StrCat("field ", path, ": ", description));
  }
  if (!failure.metadata.empty()) notes.push_back(absl::StrJoin(failure.metadata, ", ", absl::PairFormatter("=")));
  if (failure.retry_after) {
    notes.push_back(absl::StrCat("try again in ", absl::FormatDuration(*failure.retry_after)));
  }
  return absl::StrCat(failure.reason.empty() ? CodeName(failure.code) : failure.reason, ": ", failure.message,
                      notes.empty() ? "" : absl::StrCat(" (", absl::StrJoin(notes, "; "), ")"));
}

bool Transient(const Failure& failure) {
  return failure.code == grpc::StatusCode::UNAVAILABLE || failure.reason == "RATE_LIMITED" ||
         failure.reason == "TOO_MANY_WATCHERS";
}

}  // namespace reversi::cli
