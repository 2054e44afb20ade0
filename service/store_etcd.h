// The replicated store: etcd, shared by any number of replicas. A put is done when a majority of etcd's nodes has synced
// it; compare-and-set on the key's version is the only coordination between replicas.
//
//   key    <prefix>g/<game id>          value  the record, nothing else          version of the key = the game's
//
// Puts travel in batches of up to 127, all of them under one condition: that each game has the version expected. When it
// does not hold nothing was written, and the batch goes again with its puts apart: one transaction without a condition
// that holds one for each put, with its own compare, succeeding or failing alone. After an error the same bytes are sent
// again: whoever meets its own record under the next version has been there before.
#ifndef REVERSI_SERVICE_STORE_ETCD_H_
#define REVERSI_SERVICE_STORE_ETCD_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/committer.h"
#include "service/etcd_client.h"
#include "service/etcd_feed.h"
#include "service/store.h"
#include "service/store_log.h"

namespace reversi {

class EtcdStore : public Store {
 public:
  struct Options {
    EtcdOptions client;
    std::string prefix;  // of every key
    // How long a call is tried before its outcome is called unknown.
    absl::Duration wait = absl::Seconds(5);
  };
  // Does not wait for etcd. Returns which file cannot be read.
  static std::variant<std::unique_ptr<EtcdStore>, std::string> Make(const Options& options, StoreLog log);
  // Puts that wait are unknown; waits for what is under way.
  ~EtcdStore() override;

  void Get(std::string_view game_id, GetDone done) override;
  void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override;
  void Delete(std::string_view game_id, uint64_t expected_version, PutDone done) override;
  void Follow(Follower follower, CaughtUp caught_up) override;
  bool shared() const override { return true; }
  bool reachable() const override {
    return reachable_.load(std::memory_order_relaxed) && (feed_ == nullptr || feed_->connected());
  }

 private:
  struct Pause;
  struct Flight;
  struct Reading;

  EtcdStore(std::unique_ptr<EtcdClient> client, const Options& options, StoreLog log);

  std::string KeyOf(std::string_view game_id) const;
  void Write(StoreBatch batch);
  void Send(std::shared_ptr<Flight> flight);
  void Answered(std::shared_ptr<Flight> flight, const grpc::Status& status, etcdserverpb::TxnResponse& response);
  // Whether the answer settles the batch; if not, it has to be sent again with its puts apart.
  bool Complete(Flight& flight, etcdserverpb::TxnResponse& response);
  void Ask(std::shared_ptr<Reading> reading);
  // Whether the call may be made again; tells the log when etcd goes and comes.
  bool Retry(const grpc::Status& status);
  // What a flight or reading holds while it is on its way: the store waits for it.
  void Began() ABSL_LOCKS_EXCLUDED(mu_);
  void Ended() ABSL_LOCKS_EXCLUDED(mu_);
  void Tick() ABSL_LOCKS_EXCLUDED(mu_);
  // After a failure, where nobody calls: asks whether etcd can be used again.
  void Probe();

  const Options options_;
  const StoreLog log_;
  const std::unique_ptr<EtcdClient> client_;
  std::atomic<bool> reachable_ = true;
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> probing_ = false;
  // Batches to come whose puts go apart at once, since others write the same games just now.
  std::atomic<int> apart_ = 0;

  absl::Mutex mu_;
  int on_the_way_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;

  Committer committer_;
  std::unique_ptr<EtcdFeed> feed_;
  std::thread ticker_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_ETCD_H_
