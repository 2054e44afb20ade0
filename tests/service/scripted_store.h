// A store whose completions come when the test lets them, with the outcome that the test gives them.
#ifndef REVERSI_TESTS_SERVICE_SCRIPTED_STORE_H_
#define REVERSI_TESTS_SERVICE_SCRIPTED_STORE_H_

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "service/packed_record.h"
#include "service/store_memory.h"

namespace reversi {

class ScriptedStore : public MemoryStore {
 public:
  enum class Fate { kDone, kLandsUnknown, kLostUnknown };

  ScriptedStore() : MemoryStore(Packing{PackRecord, UnpackRecord}) {}

  // From now on puts wait for Release.
  void Hold() {
    absl::MutexLock lock(&mu_);
    holding_ = true;
  }
  size_t held() const {
    absl::MutexLock lock(&mu_);
    return held_.size();
  }
  // Completes the put that waits longest.
  void Release(Fate fate = Fate::kDone) {
    Held next;
    {
      absl::MutexLock lock(&mu_);
      next = std::move(held_.front());
      held_.pop_front();
    }
    Complete(std::move(next), fate);
  }
  // Everything is answered inline again; what waits is released.
  void LetGo() {
    {
      absl::MutexLock lock(&mu_);
      holding_ = false;
    }
    while (held() > 0) Release();
  }
  // The fate of the next put that is not held.
  void Next(Fate fate) {
    absl::MutexLock lock(&mu_);
    next_ = fate;
  }
  // Gets fail from now on, or no longer.
  void SetReadable(bool readable) {
    absl::MutexLock lock(&mu_);
    readable_ = readable;
  }

  void Get(std::string_view game_id, GetDone done) override {
    bool readable = true;
    {
      absl::MutexLock lock(&mu_);
      readable = readable_;
    }
    if (!readable) return done(false, {});
    MemoryStore::Get(game_id, std::move(done));
  }
  // Called before a put that is not held returns.
  void BeforePutReturns(std::function<void()> then) { before_put_returns_ = std::move(then); }
  void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override {
    Held put{std::string(game_id), expected_version, std::move(record), std::move(done)};
    Fate fate = Fate::kDone;
    {
      absl::MutexLock lock(&mu_);
      if (holding_) {
        held_.push_back(std::move(put));
        return;
      }
      fate = std::exchange(next_, Fate::kDone);
    }
    Complete(std::move(put), fate);
    if (const auto then = before_put_returns_) then();
  }

 private:
  struct Held {
    std::string game_id;
    uint64_t expected = 0;
    Bytes record;
    PutDone done;
  };
  void Complete(Held put, Fate fate) {
    if (fate == Fate::kDone) return MemoryStore::Put(put.game_id, put.expected, put.record, std::move(put.done));
    if (fate == Fate::kLandsUnknown) MemoryStore::Put(put.game_id, put.expected, put.record, [](PutResult) {});
    put.done({PutOutcome::kUnknown});
  }

  std::function<void()> before_put_returns_;
  mutable absl::Mutex mu_;
  bool holding_ ABSL_GUARDED_BY(mu_) = false;
  bool readable_ ABSL_GUARDED_BY(mu_) = true;
  Fate next_ ABSL_GUARDED_BY(mu_) = Fate::kDone;
  std::deque<Held> held_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_SCRIPTED_STORE_H_
