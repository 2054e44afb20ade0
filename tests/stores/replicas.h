// Several servers over one etcd, as replicas of one service.
#ifndef REVERSI_TESTS_STORES_REPLICAS_H_
#define REVERSI_TESTS_STORES_REPLICAS_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/server_process.h"

namespace reversi::stores {

// Each keeps its address over restarts. Used by one thread.
class Replicas {
 public:
  // Starts the servers; `etcd` = host:port of what they all use. `flags` go to each.
  Replicas(int servers, const std::vector<std::string>& etcd, std::vector<std::string> flags = {},
           std::string binary = e2e::kServerBinary);
  // One server for each list of endpoints.
  Replicas(const std::vector<std::vector<std::string>>& etcd, std::vector<std::string> flags, std::string binary);

  // After Kill(): the same address again. A test failure when it does not come up.
  void Start(int i);
  void Kill(int i);  // SIGKILL
  // A test failure, with the end of its log, for each that has died without Kill(); such are started again.
  void CheckRunning();
  e2e::ServerProcess& at(int i) { return *servers_[static_cast<size_t>(i)]; }
  const std::vector<std::string>& addresses() const { return addresses_; }
  const std::string& address(int i) const { return addresses_[static_cast<size_t>(i)]; }

 private:
  std::vector<std::string> flags_;
  const std::string binary_;
  std::vector<std::string> endpoints_;  // by server, joined
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<e2e::ServerProcess>> servers_;
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_REPLICAS_H_
