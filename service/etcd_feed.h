// What stands under etcd's prefix, then every change of it: one listing, then one watch that is resumed by revision for
// as long as it takes, and begun anew with a listing when etcd has compacted the changes in between away.
#ifndef REVERSI_SERVICE_ETCD_FEED_H_
#define REVERSI_SERVICE_ETCD_FEED_H_

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/etcd_client.h"
#include "service/game_id.h"
#include "service/store.h"
#include "service/store_log.h"

namespace reversi {

class EtcdFeed {
 public:
  // Starts at once. A thread of its own calls `follower` for a listing and, after the first one, `caught_up`; what the
  // watch brings is told by threads of gRPC, one at a time.
  EtcdFeed(EtcdClient& client, std::string prefix, Store::Follower follower, Store::CaughtUp caught_up, StoreLog log);
  // No call of the follower is under way or comes afterwards.
  ~EtcdFeed();

  // Whether its last listing or its watch goes on: so a process that calls nothing knows, too, that etcd is away.
  bool connected() const { return connected_.load(std::memory_order_relaxed); }

 private:
  class Stream;

  void Run();
  // False = has to be tried again.
  bool List();
  void Watch() ABSL_LOCKS_EXCLUDED(mu_);
  // False = the stream is of no use any more.
  bool Take(const etcdserverpb::WatchResponse& response);
  void Tell(const etcdserverpb::KeyValue& kv, bool deleted);
  void Trouble(const std::string& what);
  // False = the feed is being stopped.
  bool Pause(absl::Duration pause) ABSL_LOCKS_EXCLUDED(mu_);

  EtcdClient& client_;
  const std::string prefix_;
  const std::string prefix_end_;
  Store::Follower follower_;
  Store::CaughtUp caught_up_;
  const StoreLog log_;
  std::atomic<bool> connected_ = false;

  // The feed thread's own, and the stream's as long as one is open.
  // Games that stand, so that a new listing shows which were deleted.
  absl::flat_hash_set<GameId, GameId::Hash, GameId::Same> told_;
  int64_t next_revision_ = 0;  // 0 = list first
  absl::Time next_complaint_ = absl::InfinitePast();

  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  std::thread thread_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_ETCD_FEED_H_
