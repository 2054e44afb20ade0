#include "tests/stores/replicas.h"

#include <utility>

#include "tests/stores/etcd_cluster.h"

namespace reversi::stores {

Replicas::Replicas(int servers, const std::vector<std::string>& etcd, std::vector<std::string> flags,
                   std::string binary)
    : flags_(std::move(flags)), binary_(std::move(binary)) {
  std::string joined;
  for (const std::string& endpoint : etcd) joined += (joined.empty() ? "" : ",") + endpoint;
  flags_.insert(flags_.end(), {"--store=etcd", "--etcd_endpoints=" + joined, "--drain_delay=0s"});
  for (int i = 0; i < servers; ++i) {
    addresses_.push_back("127.0.0.1:" + std::to_string(FreePort()));
    servers_.emplace_back();
    Start(i);
  }
}

void Replicas::Start(int i) {
  // Tokens of one hold at the others.
  e2e::Launch launch{
      .flags = flags_, .environment = {"REVERSI_TOKEN_KEY=" + std::string(40, 'k')}, .binary = binary_};
  launch.flags.push_back("--listen=" + address(i));
  servers_[static_cast<size_t>(i)] = e2e::ServerProcess::Start(std::move(launch));
}

void Replicas::Kill(int i) { servers_[static_cast<size_t>(i)].reset(); }

}  // namespace reversi::stores
