// Whether everything that stood in the store is here, and the calls that wait for it.
#ifndef REVERSI_SERVICE_LOADING_H_
#define REVERSI_SERVICE_LOADING_H_

#include <atomic>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace reversi {

// All methods may be called from any thread.
class Loading {
 public:
  explicit Loading(bool done) : done_(done) {}

  bool done() const { return done_.load(std::memory_order_acquire); }
  // Everything is here: whoever waits goes on, on this thread.
  void Finish() ABSL_LOCKS_EXCLUDED(mu_);
  // Calls `ready` exactly once: with true when everything is here, at once if it is; with false when that is not so by
  // `until` (steady clock), when the server stops, or at once when too many wait already.
  using Ready = absl::AnyInvocable<void(bool here)>;
  static constexpr size_t kMostWaiting = 1000;
  void Await(absl::Duration until, Ready ready) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the waits that have been long enough.
  void Expire(absl::Duration steady_now) ABSL_LOCKS_EXCLUDED(mu_);
  // Ends all waits, and from now on every new one at once.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Waiting {
    absl::Duration until;
    Ready ready;
  };

  std::atomic<bool> done_;
  absl::Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_LOADING_H_
