// The contract's table of errors, and whether an answer keeps to it.
#ifndef REVERSI_TESTS_E2E_REFUSAL_H_
#define REVERSI_TESTS_E2E_REFUSAL_H_

#include <gtest/gtest.h>

#include <string>

#include "tests/e2e/api_client.h"

namespace reversi::e2e {

// The status code that belongs to a reason; OK for a reason that is not in the table.
grpc::StatusCode CodeOf(const std::string& reason);

// Whether the answer is this refusal: code, ErrorInfo, what belongs to the reason (metadata, RetryInfo), a message,
// and, when `field` is given, a BadRequest that names it first and describes it.
testing::AssertionResult Refused(const grpc::Status& status, const std::string& reason, const std::string& field = "");

template <class Response>
testing::AssertionResult Refused(const Answer<Response>& answer, const std::string& reason,
                                 const std::string& field = "") {
  return Refused(answer.status, reason, field);
}

// ILLEGAL_MOVE with this `why`.
testing::AssertionResult Illegal(const grpc::Status& status, const std::string& move, const std::string& why,
                                 const std::string& field = "");

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_REFUSAL_H_
