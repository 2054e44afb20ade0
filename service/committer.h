// Gathers puts into batches: while one batch is being written, the next one gathers. So the price of a sync or of a
// round trip is shared by everything that came meanwhile, and a lone put waits for nobody (where batches are held, it may
// wait for Limits::hold right after many callers have gone away). It has no thread: whoever adds an operation or has
// written a batch is given the next one to write.
#ifndef REVERSI_SERVICE_COMMITTER_H_
#define REVERSI_SERVICE_COMMITTER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/bytes.h"
#include "service/game_id.h"
#include "service/store.h"

namespace reversi {

// A put or, with an empty record, a deletion.
struct StoreOp {
  GameId game_id;
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
    size_t beside = 1;       // operations under way from which on no batch begins beside them
    size_t waiting = 1 << 17;  // operations that may wait; more are refused as unknown
    // How long the next batch may be held until those who have just been answered have come again. Zero = never.
    absl::Duration hold = absl::ZeroDuration();
  };

  explicit Committer(const Limits& limits) : limits_(limits) {}

  // Puts the operation in line. Returns what the caller has to write now, in which no game comes twice; empty = it will
  // be written by others. Whoever writes a batch calls Answering(), completes every operation of it and then calls Next()
  // or Leave().
  [[nodiscard]] StoreBatch Add(StoreOp op) ABSL_LOCKS_EXCLUDED(mu_);
  // The operations of a batch are about to be completed. May be left out where no batch is held.
  void Answering() ABSL_LOCKS_EXCLUDED(mu_);
  // So many operations have been written. Returns what is next for the same caller.
  [[nodiscard]] StoreBatch Next(size_t written, absl::Duration steady_now = absl::ZeroDuration())
      ABSL_LOCKS_EXCLUDED(mu_);
  // The same, but what is next is left to whoever adds the next operation.
  void Leave(size_t written) ABSL_LOCKS_EXCLUDED(mu_);
  // What has been left and nobody has come for; empty = somebody has, or nothing waits.
  [[nodiscard]] StoreBatch TakeLeft() ABSL_LOCKS_EXCLUDED(mu_);
  // Whether operations have shared a batch since this was asked last. Until it is asked again, batches are held (after a
  // yes) or are not (after a no); who has got a yes calls TakeHeld() every now and then.
  [[nodiscard]] bool MayHold() ABSL_LOCKS_EXCLUDED(mu_);
  // What has been held for too long; empty = nothing.
  [[nodiscard]] StoreBatch TakeHeld(absl::Duration steady_now) ABSL_LOCKS_EXCLUDED(mu_);
  // Completes waiting operations that have waited long enough as unknown.
  void Expire(absl::Duration steady_now) ABSL_LOCKS_EXCLUDED(mu_);
  // Completes everything that waits, and everything that is added later, as unknown. Batches under way are left alone.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until nothing is under way or waits.
  void AwaitIdle() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // The next batch, which is then under way; empty = none may begin, or nothing waits.
  StoreBatch Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  StoreBatch Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // From the next batch on.
  void CountAnew() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // So many batches are not held while callers are counted: in the second one all have come again.
  static constexpr int kCounting = 2;

  const Limits limits_;
  mutable absl::Mutex mu_;
  std::deque<StoreOp> waiting_ ABSL_GUARDED_BY(mu_);
  int under_way_ ABSL_GUARDED_BY(mu_) = 0;
  size_t ops_under_way_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  // How many operations waited or were under way at once in batches that were not held: so many callers there are. (While
  // batches are held it would rise with the time that they are held, if callers come whether they are answered or not.)
  size_t callers_ ABSL_GUARDED_BY(mu_) = 0;
  int counting_ ABSL_GUARDED_BY(mu_) = kCounting;  // batches to go
  int counted_since_ ABSL_GUARDED_BY(mu_) = 0;     // batches since then
  // They come whether they are answered or not: nothing is held until they are counted again.
  bool unasked_ ABSL_GUARDED_BY(mu_) = false;
  // The next batch is held until so many operations wait, or until then.
  size_t held_for_ ABSL_GUARDED_BY(mu_) = 0;
  // Of the batch begun last: whether it was held, and whether it had no room for all that waited.
  bool was_held_ ABSL_GUARDED_BY(mu_) = false;
  bool was_full_ ABSL_GUARDED_BY(mu_) = false;
  absl::Duration held_until_ ABSL_GUARDED_BY(mu_);
  bool shared_ ABSL_GUARDED_BY(mu_) = false;
  bool may_hold_ ABSL_GUARDED_BY(mu_) = false;
};

// Completes all as unknown.
void GiveUp(StoreBatch batch);

}  // namespace reversi

#endif  // REVERSI_SERVICE_COMMITTER_H_
