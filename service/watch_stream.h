// Open watches: each a cursor in its game's log and a gRPC stream that follows it.
#ifndef REVERSI_SERVICE_WATCH_STREAM_H_
#define REVERSI_SERVICE_WATCH_STREAM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/clock.h"
#include "service/game.h"
#include "service/metrics.h"

namespace reversi {

class Watches;
class WatchStream;

// What all streams share; outlives them.
struct WatchContext {
  const Clock& clock;
  Metrics& metrics;
  Watches& watches;
  // The snapshot as a serialized WatchGameResponse.
  Bytes (*snapshot)(const Game& game, const Snapshot& snapshot, absl::Time expires);
  Bytes (*heartbeat)(uint64_t version);
  std::function<absl::Time(const Table&)> expires;
  // Called once for each stream, when it is over. `begun` by the steady clock.
  std::function<void(grpc::CallbackServerContext* call, absl::Duration begun, const grpc::Status&)> over;
};

// One stream. gRPC's reactions and the wakes of the game meet under one lock, which decides what is started next: one
// write at a time, Finish once, nothing after it. It is started outside the lock, which the end of a write would wait
// for otherwise. The object outlives OnDone as long as somebody who may wake it holds it.
// There may be as many as the machine holds: what only some streams need for a while is kept elsewhere.
class WatchStream : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                    public Watcher,
                    public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(grpc::CallbackServerContext* call, absl::Duration heartbeat, const WatchContext& context);

  // Sends the headers. From now on the stream holds itself until OnDone.
  void Start() ABSL_LOCKS_EXCLUDED(mu_);
  // Begins to read the game; once, after the stream has become its watcher. Without `after_version` a snapshot comes
  // first, of `version` or later. False = the stream is over already, and nobody will take it off the game's watchers.
  bool Attach(std::shared_ptr<Game> game, uint64_t version, std::optional<uint64_t> after_version)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Wake() override ABSL_LOCKS_EXCLUDED(mu_);
  // Ends the stream with this status as soon as no write is under way.
  void Stop(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // Resets the stream if a write is under way: its reader takes nothing.
  void Cut() ABSL_LOCKS_EXCLUDED(mu_);
  // Sends a heartbeat if one is due.
  void Beat(absl::Duration now) ABSL_LOCKS_EXCLUDED(mu_);
  // The game, if a write has been under way since before then; else null.
  std::shared_ptr<Game> StalledIn(absl::Duration before) const ABSL_LOCKS_EXCLUDED(mu_);

  void OnSendInitialMetadataDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_);
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_);
  void OnDone() override ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What is to be started; nothing if both are null. Nobody decides anything else meanwhile: it counts as a write under
  // way, or as the end, from the decision on.
  struct Step {
    const grpc::ByteBuffer* message = nullptr;
    bool more = false;  // another message follows at once
    // To end with, after the message if there is one.
    const grpc::Status* status = nullptr;
  };
  Step Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Nothing to send: the end, if the game has gone.
  Step NothingMore() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The next event of the burst.
  Step NextOfBurst() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `last`: the stream ends with it. `more`: another write follows at once.
  Step WriteEvent(const Bytes& event, bool last, bool more = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Step Write(const Bytes& bytes, bool last, bool more = false) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndWith(const grpc::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Take(const Step& step) ABSL_LOCKS_EXCLUDED(mu_);

  grpc::CallbackServerContext* const call_;
  const WatchContext& context_;
  const absl::Duration heartbeat_;
  const absl::Duration begun_;

  mutable absl::Mutex mu_;
  std::shared_ptr<Game> game_ ABSL_GUARDED_BY(mu_);
  // The last version sent. While the snapshot is due, the one that it must have reached: the game may still be taking
  // it over from the store.
  uint64_t cursor_ ABSL_GUARDED_BY(mu_) = 0;
  // Read from the log and not yet sent; null when up to date.
  struct Burst {
    Game::Events events;
    size_t next = 0;
  };
  std::unique_ptr<Burst> burst_ ABSL_GUARDED_BY(mu_);
  bool snapshot_due_ ABSL_GUARDED_BY(mu_) = false;
  // Whether it has had all there was, so that what comes now is news.
  bool up_to_date_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = true;  // the initial metadata count as a write
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  bool done_ ABSL_GUARDED_BY(mu_) = false;
  // The time of the news that is being written; infinite past = none is.
  absl::Time news_of_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Duration wrote_at_ ABSL_GUARDED_BY(mu_);
  // What the stream is to end with, or has ended with; null = OK when the game is over. Stays as it is once finished_.
  std::unique_ptr<const grpc::Status> end_ ABSL_GUARDED_BY(mu_);
  // Held by gRPC until OnDone: the message of the write under way, and the stream itself.
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<WatchStream> self_ ABSL_GUARDED_BY(mu_);
};

// All open streams.
class Watches {
 public:
  explicit Watches(uint64_t limit) : limit_(limit) {}

  enum class Admission : uint8_t { kAdmitted, kTooMany, kStopping };
  Admission Add(const std::shared_ptr<WatchStream>& stream) ABSL_LOCKS_EXCLUDED(mu_);
  void Remove(const std::shared_ptr<WatchStream>& stream) ABSL_LOCKS_EXCLUDED(mu_);

  // Heartbeats. A reader that has taken nothing for `stall_limit` loses the game if `kept` says that nobody else
  // keeps it. Called a few times a second.
  void Tick(absl::Duration now, absl::Duration stall_limit, const std::function<bool(const Game&)>& kept)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Admits none from now on and ends all with this status.
  void Stop(const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  // Resets those whose reader takes nothing.
  void CutStalled() ABSL_LOCKS_EXCLUDED(mu_);
  size_t count() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  std::vector<std::shared_ptr<WatchStream>> All() const ABSL_LOCKS_EXCLUDED(mu_);

  const uint64_t limit_;
  mutable absl::Mutex mu_;
  absl::flat_hash_set<std::shared_ptr<WatchStream>> streams_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_WATCH_STREAM_H_
