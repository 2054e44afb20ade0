#include "tests/stores/replicas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/stores/etcd_cluster.h"

namespace reversi::stores {

Replicas::Replicas(int servers, const std::vector<std::string>& etcd, std::vector<std::string> flags,
                   std::string binary)
    : Replicas(std::vector(static_cast<size_t>(servers), etcd), std::move(flags), std::move(binary)) {}

Replicas::Replicas(const std::vector<std::vector<std::string>>& etcd, std::vector<std::string> flags,
                   std::string binary)
    : flags_(std::move(flags)), binary_(std::move(binary)) {
  flags_.insert(flags_.end(), {"--store=etcd", "--drain_delay=0s"});
  for (const std::vector<std::string>& endpoints : etcd) {
    std::string joined;
    for (const std::string& endpoint : endpoints) joined += (joined.empty() ? "" : ",") + endpoint;
    endpoints_.push_back(joined);
    addresses_.push_back("127.0.0.1:" + std::to_string(FreePort()));
    servers_.emplace_back();
    Start(static_cast<int>(servers_.size()) - 1);
  }
}

void Replicas::Start(int i) {
  // Tokens of one hold at the others.
  e2e::Launch launch{.flags = flags_, .environment = {"REVERSI_TOKEN_KEY=" + std::string(40, 'k')}, .binary = binary_};
  launch.flags.push_back("--listen=" + address(i));
  launch.flags.push_back("--etcd_endpoints=" + endpoints_[static_cast<size_t>(i)]);
  servers_[static_cast<size_t>(i)] = e2e::ServerProcess::Start(std::move(launch));
}

void Replicas::CheckRunning() {
  for (int i = 0; i < static_cast<int>(servers_.size()); ++i) {
    const auto& server = servers_[static_cast<size_t>(i)];
    if (server == nullptr || server->Running()) continue;
    const std::string log = server->Errors();
    ADD_FAILURE() << "replica " << i << " died with " << server->Wait() << "; the end of its log:\n"
                  << log.substr(log.size() - std::min<size_t>(log.size(), 4000));
    Start(i);
  }
}

void Replicas::Kill(int i) { servers_[static_cast<size_t>(i)].reset(); }

}  // namespace reversi::stores
