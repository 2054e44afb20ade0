#include "service/cli/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reversi::cli {
namespace {

using ::testing::HasSubstr;

grpc::Status Refusal(grpc::StatusCode code, const std::string& reason) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message("d3 flips nothing");
  google::rpc::ErrorInfo info;
  info.set_reason(reason);
  info.set_domain("reversi.v1");
  (*info.mutable_metadata())["move"] = "d3";
  (*info.mutable_metadata())["why"] = "flips_nothing";
  status.add_details()->PackFrom(info);
  google::rpc::BadRequest bad;
  auto* field = bad.add_field_violations();
  field->set_field("opening_moves[2]");
  field->set_description("d3 flips nothing");
  status.add_details()->PackFrom(bad);
  return grpc::Status(code, status.message(), status.SerializeAsString());
}

TEST(FailureTest, TellsReasonMessageFieldAndMetadata) {
  const Failure failure = ReadFailure(Refusal(grpc::StatusCode::FAILED_PRECONDITION, "ILLEGAL_MOVE"));
  EXPECT_EQ(failure.reason, "ILLEGAL_MOVE");
  EXPECT_EQ(FailureText(failure, "here:1"),
            "ILLEGAL_MOVE: d3 flips nothing (field opening_moves[2]; move=d3, why=flips_nothing)");
  EXPECT_THAT(failure.json, HasSubstr("\"reason\":\"ILLEGAL_MOVE\""));
  EXPECT_EQ(failure.json.find('\n'), std::string::npos);
}

TEST(FailureTest, TellsWhenToTryAgain) {
  google::rpc::Status status;
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_seconds(2);
  status.add_details()->PackFrom(retry);
  const Failure failure =
      ReadFailure(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many", status.SerializeAsString()));
  EXPECT_EQ(failure.retry_after, absl::Seconds(2));
  EXPECT_EQ(FailureText(failure, "here:1"), "RESOURCE_EXHAUSTED: too many (try again in 2s)");
}

TEST(FailureTest, EveryReasonHasItsExitCode) {
  const auto code = [](grpc::StatusCode status, const char* reason) {
    return ExitCodeOf(ReadFailure(Refusal(status, reason)));
  };
  EXPECT_EQ(code(grpc::StatusCode::INVALID_ARGUMENT, "MALFORMED_REQUEST"), kUsage);
  EXPECT_EQ(code(grpc::StatusCode::INVALID_ARGUMENT, "UNSUPPORTED_RULES"), kRefused);
  EXPECT_EQ(code(grpc::StatusCode::INVALID_ARGUMENT, "BAD_SQUARE"), kRefused);
  EXPECT_EQ(code(grpc::StatusCode::NOT_FOUND, "GAME_NOT_FOUND"), kNotFound);
  EXPECT_EQ(code(grpc::StatusCode::PERMISSION_DENIED, "BAD_TOKEN"), kForbidden);
  EXPECT_EQ(code(grpc::StatusCode::ALREADY_EXISTS, "GAME_ID_TAKEN"), kConflict);
  EXPECT_EQ(code(grpc::StatusCode::FAILED_PRECONDITION, "SEAT_TAKEN"), kConflict);
  EXPECT_EQ(code(grpc::StatusCode::ABORTED, "STALE_VERSION"), kConflict);
  EXPECT_EQ(code(grpc::StatusCode::UNAVAILABLE, "STORE_UNAVAILABLE"), kBusy);
  EXPECT_EQ(code(grpc::StatusCode::UNAVAILABLE, "SERVER_DRAINING"), kBusy);
}

TEST(FailureTest, AServerThatIsNotThereIsNamedWithTheWayToStartOne) {
  const Failure failure = ReadFailure(grpc::Status(grpc::StatusCode::UNAVAILABLE, "connection refused"));
  EXPECT_EQ(ExitCodeOf(failure), kUnreachable);
  EXPECT_THAT(FailureText(failure, "here:1"), HasSubstr("cannot reach a server at here:1"));
  EXPECT_THAT(FailureText(failure, "here:1"), HasSubstr("reversi_server --listen here:1"));
}

TEST(FailureTest, DetailsThatDoNotParseLeaveCodeAndMessage) {
  const Failure failure = ReadFailure(grpc::Status(grpc::StatusCode::NOT_FOUND, "gone", "\xff\xff"));
  EXPECT_EQ(failure.reason, "");
  EXPECT_EQ(ExitCodeOf(failure), kNotFound);
  EXPECT_EQ(FailureText(failure, "here:1"), "NOT_FOUND: gone");
}

TEST(FailureTest, OnlyWhatPassesIsTransient) {
  EXPECT_TRUE(Transient(ReadFailure(grpc::Status(grpc::StatusCode::UNAVAILABLE, ""))));
  EXPECT_TRUE(Transient(ReadFailure(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "RATE_LIMITED"))));
  EXPECT_FALSE(Transient(ReadFailure(Refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "TOO_MANY_GAMES"))));
  EXPECT_FALSE(Transient(ReadFailure(Refusal(grpc::StatusCode::NOT_FOUND, "GAME_NOT_FOUND"))));
}

}  // namespace
}  // namespace reversi::cli
