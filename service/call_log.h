// One log line for a call: who called what, how it ended, how long it took, and the ids that tie it to other logs.
#ifndef REVERSI_SERVICE_CALL_LOG_H_
#define REVERSI_SERVICE_CALL_LOG_H_

#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "absl/time/time.h"

namespace reversi {

// The identity of a verified client certificate; empty = none: one identity for all.
std::string CallerOf(const grpc::CallbackServerContext& context);

// At debug; at warning where the fault is the server's (UNKNOWN, INTERNAL, DATA_LOSS, STORE_UNAVAILABLE). Carries the
// caller's `x-request-id` and `traceparent` on. Costs nothing when such lines are not logged. `reason` = the reason of
// a refusal, else empty.
void LogCall(const grpc::CallbackServerContext& context, std::string_view method, const grpc::Status& status,
             std::string_view reason, absl::Duration duration);

}  // namespace reversi

#endif  // REVERSI_SERVICE_CALL_LOG_H_
