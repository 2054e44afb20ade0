// Time, injected.
#ifndef REVERSI_SERVICE_CLOCK_H_
#define REVERSI_SERVICE_CLOCK_H_

#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace reversi {

class Clock {
 public:
  virtual ~Clock() = default;
  // The time of day: what events carry. Steps when somebody sets it.
  virtual absl::Time Wall() const = 0;
  // Since some instant; never steps. What limits are measured with.
  virtual absl::Duration Steady() const = 0;
};

class SystemClock : public Clock {
 public:
  absl::Time Wall() const override { return absl::Now(); }
  absl::Duration Steady() const override {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_CLOCK_H_
