#include "service/call_log.h"

#include <algorithm>

#include <grpcpp/security/auth_context.h>

#include "absl/strings/str_cat.h"
#include "service/errors.h"
#include "service/log.h"

namespace reversi {
namespace {

// Foreign text in our log: this much of it is enough.
constexpr size_t kMaxForeign = 128;

std::string Metadata(const grpc::CallbackServerContext& context, const char* key) {
  const auto& all = context.client_metadata();
  const auto found = all.find(key);
  if (found == all.end()) return {};
  return std::string(found->second.data(), std::min(found->second.size(), kMaxForeign));
}

LogLevel LevelOf(grpc::StatusCode code, std::string_view reason) {
  const bool ours = code == grpc::UNKNOWN || code == grpc::INTERNAL || code == grpc::DATA_LOSS ||
                    reason == ReasonName(Reason::kStoreUnavailable);
  return ours ? LogLevel::kWarning : LogLevel::kDebug;
}

}  // namespace

std::string CallerOf(const grpc::CallbackServerContext& context) {
  const auto auth = context.auth_context();
  if (auth == nullptr || !auth->IsPeerAuthenticated()) return {};
  const auto names = auth->GetPeerIdentity();
  return names.empty() ? std::string() : std::string(names.front().data(), names.front().size());
}

void LogCall(const grpc::CallbackServerContext& context, std::string_view method, const grpc::Status& status,
             std::string_view reason, absl::Duration duration) {
  const LogLevel level = LevelOf(status.error_code(), reason);
  if (!Logs(level)) return;
  Log(level, "call",
      {{"method", method},
       {"code", absl::StrCat(status.error_code())},
       {"reason", reason},
       {"duration_us", absl::StrCat(absl::ToInt64Microseconds(duration))},
       {"caller", CallerOf(context)},
       {"peer", context.peer()},
       {"request_id", Metadata(context, "x-request-id")},
       {"traceparent", Metadata(context, "traceparent")}});
}

}  // namespace reversi
