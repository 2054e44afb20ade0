#include "service/errors.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace reversi {
namespace {

google::rpc::Status DetailsOf(const grpc::Status& status) {
  google::rpc::Status details;
  EXPECT_TRUE(details.ParseFromString(status.error_details()));
  return details;
}

TEST(ErrorsTest, EveryReasonHasItsCodeAndIsNamedInTheDetails) {
  std::set<std::string> names;
  for (int i = 0; i < kReasons; ++i) {
    const auto reason = static_cast<Reason>(i);
    const grpc::Status status = ToStatus({.reason = reason, .message = "why"});
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(status.error_message(), "why");
    const google::rpc::Status details = DetailsOf(status);
    EXPECT_EQ(details.code(), status.error_code());
    EXPECT_EQ(details.message(), "why");
    ASSERT_EQ(details.details_size(), 1);
    EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
    google::rpc::ErrorInfo info;
    ASSERT_TRUE(details.details(0).UnpackTo(&info));
    EXPECT_EQ(info.domain(), "reversi.v1");
    EXPECT_EQ(info.reason(), ReasonName(reason));
    names.insert(info.reason());
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kReasons));
}

TEST(ErrorsTest, CodesAreTheContracts) {
  const auto code = [](Reason reason) { return ToStatus({.reason = reason, .message = ""}).error_code(); };
  EXPECT_EQ(code(Reason::kRateLimited), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(code(Reason::kServerDraining), grpc::UNAVAILABLE);
  EXPECT_EQ(code(Reason::kMalformedRequest), grpc::INVALID_ARGUMENT);
  EXPECT_EQ(code(Reason::kGameNotFound), grpc::NOT_FOUND);
  EXPECT_EQ(code(Reason::kBadToken), grpc::PERMISSION_DENIED);
  EXPECT_EQ(code(Reason::kGameIdTaken), grpc::ALREADY_EXISTS);
  EXPECT_EQ(code(Reason::kStaleVersion), grpc::ABORTED);
  EXPECT_EQ(code(Reason::kIllegalMove), grpc::FAILED_PRECONDITION);
  EXPECT_EQ(code(Reason::kVersionInFuture), grpc::OUT_OF_RANGE);
  EXPECT_EQ(code(Reason::kStoreUnavailable), grpc::UNAVAILABLE);
}

TEST(ErrorsTest, FieldMetadataAndRetryTravelAlong) {
  const google::rpc::Status details = DetailsOf(ToStatus({.reason = Reason::kIllegalMove,
                                                          .message = "no",
                                                          .field = "opening_moves[2]",
                                                          .metadata = {{"move", "a1"}, {"why", "flips_nothing"}},
                                                          .retry_after = absl::Milliseconds(1500)}));
  ASSERT_EQ(details.details_size(), 3);
  google::rpc::ErrorInfo info;
  ASSERT_TRUE(details.details(0).UnpackTo(&info));
  EXPECT_EQ(info.metadata().at("move"), "a1");
  EXPECT_EQ(info.metadata().at("why"), "flips_nothing");
  google::rpc::BadRequest bad;
  ASSERT_TRUE(details.details(1).UnpackTo(&bad));
  ASSERT_EQ(bad.field_violations_size(), 1);
  EXPECT_EQ(bad.field_violations(0).field(), "opening_moves[2]");
  google::rpc::RetryInfo retry;
  ASSERT_TRUE(details.details(2).UnpackTo(&retry));
  EXPECT_EQ(retry.retry_delay().seconds(), 1);
  EXPECT_EQ(retry.retry_delay().nanos(), 500'000'000);
}

}  // namespace
}  // namespace reversi
