// Gathers puts into batches: while one batch is being written, the next one gathers. So the price of a sync or of a
// round trip is shared by everything that came meanwhile, and a lone put waits for nobody.
#ifndef REVERSI_SERVICE_COMMITTER_H_
#define REVERSI_SERVICE_COMMITTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/bytes.h"
#include "service/store.h"

namespace reversi {

// A put or, with an empty record, a deletion.
struct StoreOp {
  std::string game_id;
  uint64_t expected_version = 0;
  Bytes record;
  Store::PutDone done;
  // When the store gives up and calls the outcome unknown; by the steady clock.
  absl::Duration give_up = absl::InfiniteDuration();

  bool remove() const { return record.empty(); }
};
using StoreBatch = std::vector<StoreOp>;

class Committer {
 public:
  struct Limits {
    size_t ops = 1;          // in a batch
    size_t bytes = 1 << 20;  // of records in a batch; a single larger one goes alone
    int under_way = 1;       // batches being written at a time
    size_t waiting = 1 << 17;  // operations that may wait; more are refused as unknown
  };
  // Starts writing a batch, in which no game comes twice; must not wait for it. Whoever has written it completes every
  // operation and then calls Finished(). Called from any thread, under no lock.
  using Write = absl::AnyInvocable<void(StoreBatch batch) const>;

  Committer(const Limits& limits, Write write);

  void Add(StoreOp op) ABSL_LOCKS_EXCLUDED(mu_);
  // A batch is done: the next one may go.
  void Finished() ABSL_LOCKS_EXCLUDED(mu_);
  // Completes waiting operations that have waited long enough as unknown.
  void Expire(absl::Duration steady_now) ABSL_LOCKS_EXCLUDED(mu_);
  // Completes everything that waits, and everything that is added later, as unknown. Batches under way are left alone.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  // Whether nothing is under way or waits.
  bool idle() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  StoreBatch Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const Write write_;
  mutable absl::Mutex mu_;
  std::deque<StoreOp> waiting_ ABSL_GUARDED_BY(mu_);
  int under_way_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

// Completes all as unknown.
void GiveUp(StoreBatch batch);

}  // namespace reversi

#endif  // REVERSI_SERVICE_COMMITTER_H_
