#include "service/committer.h"

#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace reversi {

Committer::Committer(const Limits& limits, Write write) : limits_(limits), write_(std::move(write)) {}

void Committer::Add(StoreOp op) {
  StoreBatch batch;
  {
    absl::MutexLock lock(&mu_);
    if (!stopped_ && waiting_.size() < limits_.waiting) {
      waiting_.push_back(std::move(op));
      if (under_way_ == limits_.under_way) return;
      batch = Take();
      ++under_way_;
    }
  }
  if (batch.empty()) {
    op.done({PutOutcome::kUnknown});
    return;
  }
  write_(std::move(batch));
}

void Committer::Finished() {
  StoreBatch batch;
  {
    absl::MutexLock lock(&mu_);
    batch = Take();
    if (batch.empty()) {
      --under_way_;
      return;
    }
  }
  write_(std::move(batch));
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

bool Committer::idle() const {
  absl::MutexLock lock(&mu_);
  return under_way_ == 0 && waiting_.empty();
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
