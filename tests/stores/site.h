// Replicas of the service over etcd nodes, and everything that may happen to such a site.
#ifndef REVERSI_TESTS_STORES_SITE_H_
#define REVERSI_TESTS_STORES_SITE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/server_process.h"
#include "tests/e2e/watch_stand.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/replicas.h"
#include "tests/stores/tcp_proxy.h"

namespace reversi::stores {

// Three replicas over three etcd nodes; every replica has ways of its own to the nodes. Used by one thread.
class Site {
 public:
  explicit Site(const std::string& binary = e2e::kServerBinary);

  const std::vector<std::string>& addresses() const { return replicas_->addresses(); }

  // One fault after another, now and then two at once, each for up to `longest`: a replica killed, etcd's leader or a
  // node that follows it killed, a replica or an etcd node paused, a replica cut off from etcd in one of three ways. As
  // many as are said, of all kinds alike; in the end all is well. A replica that dies by itself is a test failure.
  // `calls` tells how many calls have been made: on a slow machine a fault goes on until there were some.
  void Trouble(uint64_t seed, int faults, std::chrono::milliseconds longest, const std::function<uint64_t()>& calls);

 private:
  enum class Kind : uint8_t { kKill, kPause, kKillLeader, kKillFollower, kPauseNode, kCut, kFreeze, kOneWay };
  struct Fault {
    Kind kind;
    int victim;
  };
  static bool KillsNode(const Fault& fault) {
    return fault.kind == Kind::kKillLeader || fault.kind == Kind::kKillFollower;
  }
  static bool HitsNode(const Fault& fault) { return KillsNode(fault) || fault.kind == Kind::kPauseNode; }
  // The node that such a fault is to kill: rather `wish`, never `taken`.
  int NodeToKill(Kind kind, int wish, int taken) const;
  void Begin(const Fault& fault);
  void End(const Fault& fault);
  void SetWays(int replica, TcpProxy::Mode mode);

  EtcdCluster etcd_;
  std::vector<std::vector<std::unique_ptr<TcpProxy>>> ways_;  // by replica, by node
  std::unique_ptr<Replicas> replicas_;
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_SITE_H_
