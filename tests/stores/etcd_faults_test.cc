// Nodes of etcd that die, stop and come back under the load of two servers: nobody sees more of it than waits,
// STORE_UNAVAILABLE and retries that succeed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/watch_stand.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/kept_server.h"
#include "tests/stores/witness.h"

namespace reversi::stores {
namespace {

using testing::IsEmpty;
using Clock = std::chrono::steady_clock;

constexpr int kNodes = 3;
// From the moment when a majority of etcd serves again to the next move of everybody.
constexpr std::chrono::seconds kServiceAgain{5};

// The faults, one after another, while others play: every kind once a round, in an order of chance.
class Faulty {
 public:
  Faulty(EtcdCluster& etcd, KeptServer& server, std::vector<std::unique_ptr<Witness>>& witnesses, uint64_t seed,
         int rounds)
      : etcd_(etcd), server_(server), witnesses_(witnesses), chance_(seed) {
    const std::vector<std::function<void()>> all = {[this] { KillTheLeader(); }, [this] { KillAFollower(); },
                                                    [this] { PauseANode(); }, [this] { TakeTheMajority(); }};
    for (int round = 0; round < rounds; ++round) {
      to_come_.insert(to_come_.end(), all.begin(), all.end());
      std::shuffle(to_come_.end() - static_cast<std::ptrdiff_t>(all.size()), to_come_.end(), chance_);
    }
    left_ = to_come_.size();
  }

  bool more() const { return left_ > 0; }
  Clock::duration slowest() const { return slowest_; }

  void Step(uint64_t step) {
    if (!more() || step < next_ || !server_.Runs()) return;
    to_come_[to_come_.size() - left_]();
    EXPECT_TRUE(EverybodyMoves());
    next_ = step + 20 + e2e::Below(chance_, 100);
    --left_;
  }

 private:
  // Waits until every witness has made a move that was begun after this was called.
  bool EverybodyMoves() {
    std::vector<uint64_t> moves;
    for (const auto& witness : witnesses_) moves.push_back(witness->moves() + 2);
    for (size_t i = 0; i < moves.size(); ++i) {
      if (!witnesses_[i]->AwaitMoves(moves[i])) return false;
    }
    return true;
  }
  int AnyNode() { return static_cast<int>(e2e::Below(chance_, kNodes)); }
  int Leader() {
    int leader = -1;
    EXPECT_TRUE(Eventually([&] { return (leader = etcd_.Leader()) >= 0; }));
    return std::max(leader, 0);
  }
  void StartAgain(int node) {
    etcd_.Start(node);
    EXPECT_TRUE(etcd_.WaitReady(node));
  }

  void KillTheLeader() {
    const int leader = Leader();
    std::cout << "kill the leader, " << leader << "\n";
    etcd_.Kill(leader);
    EXPECT_TRUE(EverybodyMoves());
    StartAgain(leader);
  }

  void KillAFollower() {
    const int follower = (Leader() + 1 + static_cast<int>(e2e::Below(chance_, kNodes - 1))) % kNodes;
    std::cout << "kill a follower, " << follower << "\n";
    etcd_.Kill(follower);
    EXPECT_TRUE(EverybodyMoves());
    StartAgain(follower);
  }

  void PauseANode() {
    const int node = AnyNode();
    std::cout << "pause a node, " << node << "\n";
    etcd_.Pause(node);
    EXPECT_TRUE(EverybodyMoves());
    etcd_.Resume(node);
    EXPECT_TRUE(etcd_.WaitReady(node));
  }

  void TakeTheMajority() {
    const int left = AnyNode();
    std::cout << "kill all but " << left << "\n";
    for (int node = 0; node < kNodes; ++node) {
      if (node != left) etcd_.Kill(node);
    }
    for (const auto& witness : witnesses_) EXPECT_TRUE(witness->AwaitUnavailable(witness->unavailable() + 1));
    EXPECT_TRUE(Eventually([&] { return Counted(server_.process(), "reversi_store_reachable") == 0; }));
    const int back = (left + 1 + static_cast<int>(e2e::Below(chance_, kNodes - 1))) % kNodes;
    StartAgain(back);
    const Clock::time_point ready = Clock::now();
    EXPECT_TRUE(EverybodyMoves());
    slowest_ = std::max(slowest_, Clock::now() - ready);
    StartAgain(kNodes - left - back);
    EXPECT_TRUE(Eventually([&] { return Counted(server_.process(), "reversi_store_reachable") == 1; }));
  }

  EtcdCluster& etcd_;
  KeptServer& server_;
  std::vector<std::unique_ptr<Witness>>& witnesses_;
  e2e::Chance chance_;
  std::vector<std::function<void()>> to_come_;
  std::atomic<size_t> left_ = 0;
  uint64_t next_ = 50;
  Clock::duration slowest_ = {};
};

TEST(EtcdFaults, NothingIsLostOrDoubledAndWatchesGoOn) {
  const uint64_t seed = TestSeed();
  const int rounds = TestRounds(1);
  EtcdCluster etcd(kNodes);
  const std::vector<std::string> flags = {"--store=etcd", "--etcd_endpoints=" + etcd.joined_endpoints(),
                                          "--store_wait=1s"};
  KeptServer server(flags);
  // The players' alone: only two that put at the same time need the store to compare.
  KeptServer other(flags);
  std::vector<std::unique_ptr<Witness>> witnesses;
  for (uint64_t i = 0; i < 3; ++i) {
    witnesses.push_back(std::make_unique<Witness>(server.address(), seed + i, Witness::Connection::kStays));
  }
  Faulty faulty(etcd, server, witnesses, seed, rounds);
  const auto history = e2e::PlayConcurrently({server.address(), other.address()}, seed,
                                             {.games = 20 + 20 * rounds,
                                              .watchers = 30,
                                              .players = 6,
                                              .calls = 0,
                                              .pause = std::chrono::milliseconds(1),
                                              .cuts = false,
                                              .more = [&] { return faulty.more(); }},
                                             [&](uint64_t step) { faulty.Step(step); });
  std::vector<std::string> faults = e2e::Faults(history);
  uint64_t moves = 0;
  for (const auto& witness : witnesses) {
    for (const std::string& fault : witness->Finish()) faults.push_back(fault);
    moves += witness->moves();
  }
  std::map<std::string, uint64_t> answers;
  for (const e2e::GameRecord& record : history.games) {
    for (const auto& [end, times] : record.answers) answers[end] += times;
  }
  for (const auto& [end, times] : answers) std::cout << times << " times " << end << "\n";
  for (const auto& [end, times] : answers) {
    // What the players' wrong calls earn at any time; nothing else comes of the store's faults.
    const std::set<std::string> may = {"OK", "STORE_UNAVAILABLE", "given up", "GAME_NOT_FOUND", "GAME_NOT_STARTED",
                                       "GAME_OVER", "SEAT_TAKEN", "STALE_VERSION", "NOT_YOUR_TURN", "ILLEGAL_MOVE"};
    if (!may.contains(end)) faults.push_back(std::to_string(times) + " answers of " + end);
  }
  faults.resize(std::min<size_t>(faults.size(), 20));
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_GT(answers["STORE_UNAVAILABLE"], 0u);
  EXPECT_LT(faulty.slowest(), kServiceAgain);
  EXPECT_TRUE(server.Runs());
  EXPECT_TRUE(other.Runs());
  std::cout << moves << " moves of witnesses; service again after "
            << std::chrono::duration_cast<std::chrono::milliseconds>(faulty.slowest()).count() << " ms at most\n";
}

}  // namespace
}  // namespace reversi::stores
