// Who calls, and how often they may.
#ifndef REVERSI_SERVICE_ACCESS_H_
#define REVERSI_SERVICE_ACCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/errors.h"

namespace reversi {

// A bucket of calls for each caller identity, filled at a steady rate.
class Access {
 public:
  // `rate` in calls a second; 0 = no limit.
  Access(double rate, double burst) : rate_(rate), burst_(burst) {}

  bool limits() const { return rate_ > 0; }
  // Takes one call out of the caller's bucket, or says when one will be there.
  std::optional<Error> Admit(std::string_view caller, absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Bucket {
    double calls;
    absl::Duration filled_at;
  };
  const double rate_;
  const double burst_;
  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_ACCESS_H_
