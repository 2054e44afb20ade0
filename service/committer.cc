#include "service/committer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace reversi {
namespace {

// After so many batches callers are counted again.
constexpr int kCountAgain = 64;

}  // namespace

StoreBatch Committer::Add(StoreOp op) {
  {
    absl::MutexLock lock(&mu_);
    if (!stopped_ && waiting_.size() < limits_.waiting) {
      waiting_.push_back(std::move(op));
      return Begin();
    }
  }
  op.done({PutOutcome::kUnknown});
  return {};
}

void Committer::Answering() {
  absl::MutexLock lock(&mu_);
  const size_t callers = ops_under_way_ + waiting_.size();
  if (!was_held_) {
    callers_ = std::max(callers_, callers);
  } else if (under_way_ == 1 && callers > callers_ + callers_ / 8) {
    unasked_ = true;  // more than there were have come while nobody was answered
  }
}

StoreBatch Committer::Next(size_t written, absl::Duration steady_now) {
  absl::MutexLock lock(&mu_);
  --under_way_;
  ops_under_way_ -= written;
  if (written > 1) shared_ = true;
  if (counting_ > 0) {
    --counting_;
  } else if (++counted_since_ == kCountAgain) {
    CountAnew();
  }
  // The last eighth is not worth the wait.
  const size_t wanted = std::min(callers_ - callers_ / 8, limits_.ops);
  const bool may_hold = may_hold_ && counting_ == 0 && !unasked_ && !was_full_;
  if (may_hold && wanted >= limits_.beside && waiting_.size() < wanted) {
    held_for_ = wanted;
    held_until_ = steady_now + limits_.hold;
  }
  return Begin();
}

void Committer::Leave(size_t written) {
  absl::MutexLock lock(&mu_);
  --under_way_;
  ops_under_way_ -= written;
}

StoreBatch Committer::TakeLeft() {
  absl::MutexLock lock(&mu_);
  return Begin();
}

void Committer::Expire(absl::Duration steady_now) {
  StoreBatch late;
  {
    absl::MutexLock lock(&mu_);
    std::deque<StoreOp> rest;
    for (StoreOp& op : waiting_) {
      if (op.give_up <= steady_now) {
        late.push_back(std::move(op));
      } else {
        rest.push_back(std::move(op));
      }
    }
    waiting_ = std::move(rest);
  }
  GiveUp(std::move(late));
}

void Committer::Stop() {
  StoreBatch left;
  {
    absl::MutexLock lock(&mu_);
    stopped_ = true;
    for (StoreOp& op : waiting_) left.push_back(std::move(op));
    waiting_.clear();
  }
  GiveUp(std::move(left));
}

bool Committer::MayHold() {
  absl::MutexLock lock(&mu_);
  may_hold_ = limits_.hold > absl::ZeroDuration() && std::exchange(shared_, false);
  return may_hold_;
}

StoreBatch Committer::TakeHeld(absl::Duration steady_now) {
  absl::MutexLock lock(&mu_);
  if (held_for_ == 0 || steady_now < held_until_) return {};
  CountAnew();
  held_for_ = 0;
  return Begin();
}

void Committer::AwaitIdle() const {
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return under_way_ == 0 && waiting_.empty(); };
  absl::MutexLock lock(&mu_, absl::Condition(&idle));
}

StoreBatch Committer::Begin() {
  if (under_way_ == limits_.under_way || ops_under_way_ >= limits_.beside || waiting_.size() < held_for_) return {};
  StoreBatch batch = Take();
  if (batch.empty()) return batch;
  was_held_ = std::exchange(held_for_, 0) > 0;
  ++under_way_;
  ops_under_way_ += batch.size();
  return batch;
}

void Committer::CountAnew() {
  callers_ = 0;
  counting_ = kCounting;
  unasked_ = false;
  counted_since_ = 0;
}

StoreBatch Committer::Take() {
  StoreBatch batch;
  absl::flat_hash_set<std::string_view> games;  // names in `batch`, which is never moved while this is used
  batch.reserve(std::min(limits_.ops, waiting_.size()));
  std::deque<StoreOp> passed_over;
  size_t bytes = 0;
  while (!waiting_.empty() && batch.size() < limits_.ops) {
    StoreOp& next = waiting_.front();
    bytes += next.record.view().size();
    if (!batch.empty() && bytes > limits_.bytes) break;
    if (games.contains(next.game_id)) {
      bytes -= next.record.view().size();
      passed_over.push_back(std::move(next));
    } else {
      batch.push_back(std::move(next));
      games.insert(batch.back().game_id);
    }
    waiting_.pop_front();
  }
  was_full_ = !waiting_.empty() || !passed_over.empty();
  // Those passed over keep their place at the front.
  while (!passed_over.empty()) {
    waiting_.push_front(std::move(passed_over.back()));
    passed_over.pop_back();
  }
  return batch;
}

void GiveUp(StoreBatch batch) {
  for (StoreOp& op : batch) op.done({PutOutcome::kUnknown});
}

}  // namespace reversi
