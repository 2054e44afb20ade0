// Time that moves when the test says so.
#ifndef REVERSI_TESTS_SERVICE_FAKE_CLOCK_H_
#define REVERSI_TESTS_SERVICE_FAKE_CLOCK_H_

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "service/clock.h"

namespace reversi {

class FakeClock : public Clock {
 public:
  absl::Time Wall() const override {
    absl::MutexLock lock(&mu_);
    return wall_;
  }
  absl::Duration Steady() const override {
    absl::MutexLock lock(&mu_);
    return steady_;
  }
  // Time goes by.
  void Advance(absl::Duration duration) {
    absl::MutexLock lock(&mu_);
    wall_ += duration;
    steady_ += duration;
  }
  // Somebody sets the time of day.
  void StepWall(absl::Duration duration) {
    absl::MutexLock lock(&mu_);
    wall_ += duration;
  }

 private:
  mutable absl::Mutex mu_;
  absl::Time wall_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'000'000'000);
  absl::Duration steady_ ABSL_GUARDED_BY(mu_) = absl::Seconds(1000);
};

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_FAKE_CLOCK_H_
