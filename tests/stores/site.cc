#include "tests/stores/site.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <thread>

namespace reversi::stores {
namespace {

constexpr int kReplicas = 3;
constexpr int kNodes = 3;
constexpr std::chrono::milliseconds kCalm{150};
constexpr uint64_t kCallsInTrouble = 32;
constexpr std::chrono::seconds kLongestTrouble{5};

}  // namespace

// Elections twice as quick as usual: the service waits for one whenever the leader is killed.
Site::Site(const std::string& binary)
    : etcd_(kNodes, {"--heartbeat-interval=50", "--election-timeout=500"}), ways_(kReplicas) {
  std::vector<std::vector<std::string>> endpoints(kReplicas);
  for (size_t i = 0; i < kReplicas; ++i) {
    for (int node = 0; node < kNodes; ++node) {
      ways_[i].push_back(std::make_unique<TcpProxy>(etcd_.endpoint(node)));
      endpoints[i].push_back(ways_[i].back()->address());
    }
  }
  replicas_ = std::make_unique<Replicas>(endpoints, std::vector<std::string>{"--store_wait=1s"}, binary);
}

void Site::Trouble(uint64_t seed, int faults, std::chrono::milliseconds longest,
                   const std::function<uint64_t()>& calls) {
  e2e::Chance chance(seed);
  std::vector<Kind> deck;
  const auto next = [&](int victim, int taken) {
    if (deck.empty()) {
      deck = {Kind::kKill,      Kind::kPause, Kind::kKillLeader, Kind::kKillFollower,
              Kind::kPauseNode, Kind::kCut,   Kind::kFreeze,     Kind::kOneWay};
      std::shuffle(deck.begin(), deck.end(), chance);
    }
    Fault fault{deck.back(), victim};
    deck.pop_back();
    if (KillsNode(fault)) fault.victim = NodeToKill(fault.kind, victim, taken);
    return fault;
  };
  const auto wait = [&](std::chrono::milliseconds most) {
    std::this_thread::sleep_for(most / 8 + most * e2e::Below(chance, 1000) / 1000);
  };
  for (int i = 0; i < faults;) {
    std::vector<Fault> now = {next(static_cast<int>(e2e::Below(chance, kReplicas)), -1)};
    if (e2e::Below(chance, 4) == 0) now.push_back(next((now[0].victim + 1) % kReplicas, now[0].victim));
    for (const Fault& fault : now) Begin(fault);
    const uint64_t before = calls();
    wait(longest);
    const auto until = std::chrono::steady_clock::now() + kLongestTrouble;
    // Without a majority of etcd calls do not end.
    const bool go_on = std::count_if(now.begin(), now.end(), HitsNode) < 2;
    while (go_on && calls() < before + kCallsInTrouble && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    for (const Fault& fault : now) End(fault);
    for (const Fault& fault : now) EXPECT_TRUE(!KillsNode(fault) || etcd_.WaitReady(fault.victim));
    replicas_->CheckRunning();
    wait(kCalm);
    i += static_cast<int>(now.size());
  }
}

int Site::NodeToKill(Kind kind, int wish, int taken) const {
  const int leader = etcd_.Leader();
  if (kind == Kind::kKillLeader && leader >= 0 && leader != taken) return leader;
  while (wish == taken || (kind == Kind::kKillFollower && wish == leader)) wish = (wish + 1) % kNodes;
  return wish;
}

void Site::Begin(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kKill:
      return replicas_->Kill(fault.victim);
    case Kind::kPause:
      return replicas_->at(fault.victim).Signal(SIGSTOP);
    case Kind::kKillLeader:
    case Kind::kKillFollower:
      return etcd_.Kill(fault.victim);
    case Kind::kPauseNode:
      return etcd_.Pause(fault.victim);
    case Kind::kCut:
      return SetWays(fault.victim, TcpProxy::Mode::kCut);
    case Kind::kFreeze:
      return SetWays(fault.victim, TcpProxy::Mode::kFrozen);
    case Kind::kOneWay:
      return SetWays(fault.victim, TcpProxy::Mode::kOneWay);
  }
}

void Site::End(const Fault& fault) {
  switch (fault.kind) {
    case Kind::kKill:
      return replicas_->Start(fault.victim);
    case Kind::kPause:
      return replicas_->at(fault.victim).Signal(SIGCONT);
    case Kind::kKillLeader:
    case Kind::kKillFollower:
      return etcd_.Start(fault.victim);
    case Kind::kPauseNode:
      return etcd_.Resume(fault.victim);
    case Kind::kCut:
    case Kind::kFreeze:
    case Kind::kOneWay:
      return SetWays(fault.victim, TcpProxy::Mode::kOpen);
  }
}

void Site::SetWays(int replica, TcpProxy::Mode mode) {
  for (const auto& way : ways_[static_cast<size_t>(replica)]) way->Set(mode);
}

}  // namespace reversi::stores
