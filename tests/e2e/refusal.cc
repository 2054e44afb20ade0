#include "tests/e2e/refusal.h"

#include <vector>

namespace reversi::e2e {
namespace {

struct Row {
  grpc::StatusCode code;
  std::vector<std::string> metadata = {};
  bool retry = false;
};

const std::map<std::string, Row>& Table() {
  static const std::map<std::string, Row> table = {
      {"RATE_LIMITED", {grpc::StatusCode::RESOURCE_EXHAUSTED, {}, true}},
      {"SERVER_DRAINING", {grpc::StatusCode::UNAVAILABLE}},
      {"MALFORMED_REQUEST", {grpc::StatusCode::INVALID_ARGUMENT}},
      {"UNSUPPORTED_RULES", {grpc::StatusCode::INVALID_ARGUMENT}},
      {"BAD_SQUARE", {grpc::StatusCode::INVALID_ARGUMENT}},
      {"GAME_NOT_FOUND", {grpc::StatusCode::NOT_FOUND}},
      {"BAD_TOKEN", {grpc::StatusCode::PERMISSION_DENIED}},
      {"GAME_ID_TAKEN", {grpc::StatusCode::ALREADY_EXISTS}},
      {"GAME_OVER", {grpc::StatusCode::FAILED_PRECONDITION, {"state"}}},
      {"SEAT_TAKEN", {grpc::StatusCode::FAILED_PRECONDITION}},
      {"STALE_VERSION", {grpc::StatusCode::ABORTED, {"current_version"}}},
      {"GAME_NOT_STARTED", {grpc::StatusCode::FAILED_PRECONDITION}},
      {"NOT_YOUR_TURN", {grpc::StatusCode::FAILED_PRECONDITION, {"turn"}}},
      {"ILLEGAL_MOVE", {grpc::StatusCode::FAILED_PRECONDITION, {"move", "why"}}},
      {"VERSION_IN_FUTURE", {grpc::StatusCode::OUT_OF_RANGE, {"current_version"}}},
      {"TOO_MANY_GAMES", {grpc::StatusCode::RESOURCE_EXHAUSTED, {}, true}},
      {"TOO_MANY_WATCHERS", {grpc::StatusCode::RESOURCE_EXHAUSTED, {}, true}},
      {"STORE_UNAVAILABLE", {grpc::StatusCode::UNAVAILABLE, {}, true}},
  };
  return table;
}

}  // namespace

grpc::StatusCode CodeOf(const std::string& reason) {
  const auto row = Table().find(reason);
  return row == Table().end() ? grpc::StatusCode::OK : row->second.code;
}

testing::AssertionResult Refused(const grpc::Status& status, const std::string& reason, const std::string& field) {
  const auto found = Table().find(reason);
  if (found == Table().end()) return testing::AssertionFailure() << reason << " is not in the table";
  const Row& row = found->second;
  const ErrorDetails details = Details(status);
  const auto wrong = [&](const std::string& what) {
    return testing::AssertionFailure() << "wanted " << reason << (field.empty() ? "" : " at " + field) << ", " << what
                                       << ": " << Describe(status);
  };
  if (status.error_code() != row.code || details.reason != reason) return wrong("got");
  if (!details.faults.empty()) return wrong("badly formed");
  if (status.error_message().empty()) return wrong("without a message");
  for (const std::string& key : row.metadata) {
    const auto value = details.metadata.find(key);
    if (value == details.metadata.end() || value->second.empty()) return wrong("without metadata " + key);
  }
  if (row.retry && !details.retry_seconds.has_value()) return wrong("without RetryInfo");
  if (!field.empty()) {
    if (details.fields.empty() || details.fields[0] != field) return wrong("the field is not named");
    if (details.descriptions[0].empty()) return wrong("the field is not described");
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult Illegal(const grpc::Status& status, const std::string& move, const std::string& why,
                                 const std::string& field) {
  testing::AssertionResult refused = Refused(status, "ILLEGAL_MOVE", field);
  if (!refused) return refused;
  const ErrorDetails details = Details(status);
  if (details.metadata.at("move") == move && details.metadata.at("why") == why) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "wanted " << move << " " << why << ": " << Describe(status);
}

}  // namespace reversi::e2e
