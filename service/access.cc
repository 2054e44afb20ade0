#include "service/access.h"
#include "service/text.h"

#include <algorithm>

namespace reversi {
namespace {

// Identities come from verified certificates: few. Past this many, full buckets are forgotten.
constexpr size_t kManyBuckets = 10'000;

}  // namespace

std::optional<Error> Access::Admit(std::string_view caller, absl::Duration now) {
  if (rate_ <= 0) return std::nullopt;
  double missing = 0;
  {
    absl::MutexLock lock(&mu_);
    if (buckets_.size() > kManyBuckets) {
      absl::erase_if(buckets_, [&](const auto& entry) {
        return entry.second.calls + absl::ToDoubleSeconds(now - entry.second.filled_at) * rate_ >= burst_;
      });
    }
    Bucket& bucket = buckets_.try_emplace(ToAbsl(caller), Bucket{burst_, now}).first->second;
    bucket.calls = std::min(burst_, bucket.calls + absl::ToDoubleSeconds(now - bucket.filled_at) * rate_);
    bucket.filled_at = now;
    if (bucket.calls >= 1) {
      bucket.calls -= 1;
      return std::nullopt;
    }
    missing = 1 - bucket.calls;
  }
  return Error{.reason = Reason::kRateLimited,
               .message = "this caller makes more calls a second than it may",
               .retry_after = absl::Seconds(missing / rate_)};
}

}  // namespace reversi
