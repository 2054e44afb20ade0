#include "service/loading.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace reversi {

void Loading::Finish() {
  std::vector<Waiting> waiting;
  {
    absl::MutexLock lock(&mu_);
    done_.store(true, std::memory_order_release);
    waiting.swap(waiting_);
  }
  for (Waiting& one : waiting) one.ready(true);
}

void Loading::Await(absl::Duration until, Ready ready) {
  bool here = done();
  if (!here) {
    absl::MutexLock lock(&mu_);
    here = done();
    if (!here && !stopped_ && waiting_.size() < kMostWaiting) {
      waiting_.push_back({until, std::move(ready)});
      return;
    }
  }
  ready(here);
}

void Loading::Expire(absl::Duration steady_now) {
  if (done()) return;
  std::vector<Waiting> late;
  {
    absl::MutexLock lock(&mu_);
    const auto first = std::partition(waiting_.begin(), waiting_.end(),
                                      [steady_now](const Waiting& one) { return one.until > steady_now; });
    late.assign(std::make_move_iterator(first), std::make_move_iterator(waiting_.end()));
    waiting_.erase(first, waiting_.end());
  }
  for (Waiting& one : late) one.ready(false);
}

void Loading::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
  }
  Expire(absl::InfiniteDuration());
}

}  // namespace reversi
