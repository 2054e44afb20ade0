// Nodes of etcd that die, stop and come back under the load of two servers: nobody sees more of it than waits,
// STORE_UNAVAILABLE and retries that succeed. Servers with a fault built in must fail the same checks.
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

// The faults, one after another, while others play: every kind once a round, in an order of chance. It ends with the
// first witness that has found something wrong: the others would only be waited for.
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
  // What did not come although it should have.
  const std::vector<std::string>& missed() const { return missed_; }

  void Step(uint64_t step) {
    if (!more() || step < next_ || !server_.Runs()) return;
    to_come_[to_come_.size() - left_]();
    Expect(EverybodyMoves(), "moves after the fault");
    next_ = step + 20 + e2e::Below(chance_, 100);
    left_ = missed_.empty() ? left_ - 1 : 0;
  }

 private:
  void Expect(bool come, const std::string& what) {
    if (!come) missed_.push_back("did not come: " + what);
  }
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
    Expect(EverybodyMoves(), "moves without the leader");
    StartAgain(leader);
  }

  void KillAFollower() {
    const int follower = (Leader() + 1 + static_cast<int>(e2e::Below(chance_, kNodes - 1))) % kNodes;
    std::cout << "kill a follower, " << follower << "\n";
    etcd_.Kill(follower);
    Expect(EverybodyMoves(), "moves without a follower");
    StartAgain(follower);
  }

  void PauseANode() {
    const int node = AnyNode();
    std::cout << "pause a node, " << node << "\n";
    etcd_.Pause(node);
    Expect(EverybodyMoves(), "moves with a node paused");
    etcd_.Resume(node);
    EXPECT_TRUE(etcd_.WaitReady(node));
  }

  void TakeTheMajority() {
    const int left = AnyNode();
    std::cout << "kill all but " << left << "\n";
    for (int node = 0; node < kNodes; ++node) {
      if (node != left) etcd_.Kill(node);
    }
    for (const auto& witness : witnesses_) {
      Expect(witness->AwaitUnavailable(witness->unavailable() + 1), "STORE_UNAVAILABLE without a majority");
    }
    EXPECT_TRUE(Eventually([&] { return Counted(server_.process(), "reversi_store_reachable") == 0; }));
    const int back = (left + 1 + static_cast<int>(e2e::Below(chance_, kNodes - 1))) % kNodes;
    StartAgain(back);
    const Clock::time_point ready = Clock::now();
    Expect(EverybodyMoves(), "moves with a majority again");
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
  std::vector<std::string> missed_;
};

struct Seen {
  std::vector<std::string> faults = {};
  std::map<std::string, uint64_t> answers = {};
  uint64_t moves = 0;  // of witnesses
  Clock::duration slowest = {};
};

struct Patience {
  std::chrono::milliseconds players = e2e::kPatience;
  std::chrono::milliseconds witnesses = e2e::kPatience;
};

// Everything that was seen of servers of this kind while etcd met its faults.
Seen PlayThrough(const std::string& binary, uint64_t seed, int rounds, const Patience& patience) {
  EtcdCluster etcd(kNodes);
  const std::vector<std::string> flags = {"--store=etcd", "--etcd_endpoints=" + etcd.joined_endpoints(),
                                          "--store_wait=1s"};
  KeptServer server(flags, binary);
  // The players' alone: only two that put at the same time need the store to compare.
  KeptServer other(flags, binary);
  std::vector<std::unique_ptr<Witness>> witnesses;
  for (uint64_t i = 0; i < 3; ++i) {
    witnesses.push_back(
        std::make_unique<Witness>(server.address(), seed + i, Witness::Connection::kStays, patience.witnesses));
  }
  Faulty faulty(etcd, server, witnesses, seed, rounds);
  const auto history = e2e::PlayConcurrently({server.address(), other.address()}, seed,
                                             {.games = 20 + 20 * rounds,
                                              .watchers = 30,
                                              .players = 6,
                                              .calls = 0,
                                              .pause = std::chrono::milliseconds(1),
                                              .cuts = false,
                                              .patience = patience.players,
                                              .more = [&] { return faulty.more(); }},
                                             [&](uint64_t step) { faulty.Step(step); });
  Seen seen{.faults = e2e::Faults(history), .slowest = faulty.slowest()};
  const auto add = [&](const std::vector<std::string>& more) {
    seen.faults.insert(seen.faults.end(), more.begin(), more.end());
  };
  add(faulty.missed());
  for (const auto& witness : witnesses) {
    add(witness->Finish());
    seen.moves += witness->moves();
  }
  for (const e2e::GameRecord& record : history.games) {
    for (const auto& [end, times] : record.answers) seen.answers[end] += times;
  }
  EXPECT_TRUE(server.Runs());
  EXPECT_TRUE(other.Runs());
  return seen;
}

TEST(EtcdFaults, NothingIsLostOrDoubledAndWatchesGoOn) {
  Seen seen = PlayThrough(e2e::kServerBinary, TestSeed(), TestRounds(1), {});
  for (const auto& [end, times] : seen.answers) std::cout << times << " times " << end << "\n";
  for (const auto& [end, times] : seen.answers) {
    // What the players' wrong calls earn at any time; nothing else comes of the store's faults.
    const std::set<std::string> may = {"OK", "STORE_UNAVAILABLE", "given up", "GAME_NOT_FOUND", "GAME_NOT_STARTED",
                                       "GAME_OVER", "SEAT_TAKEN", "STALE_VERSION", "NOT_YOUR_TURN", "ILLEGAL_MOVE"};
    if (!may.contains(end)) seen.faults.push_back(std::to_string(times) + " answers of " + end);
  }
  seen.faults.resize(std::min<size_t>(seen.faults.size(), 20));
  EXPECT_THAT(seen.faults, IsEmpty());
  EXPECT_GT(seen.answers["STORE_UNAVAILABLE"], 0u);
  EXPECT_LT(seen.slowest, kServiceAgain);
  std::cout << seen.moves << " moves of witnesses; service again after "
            << std::chrono::duration_cast<std::chrono::milliseconds>(seen.slowest).count() << " ms at most\n";
}

struct Broken {
  const char* name;
  std::vector<const char*> faults;  // of which one must be found
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenServers : public testing::TestWithParam<Broken> {};

TEST_P(BrokenServers, AreFound) {
  const uint64_t seed = TestSeed();
  const std::string binary = std::string(REVERSI_BROKEN_SERVERS) + "/reversi_server_" + GetParam().name;
  std::vector<std::string> faults;
  bool found = false;
  int rounds = 0;
  for (; !found && rounds < 5; ++rounds) {
    // With such servers some waits have no end.
    const Patience patience{.players = std::chrono::seconds(1), .witnesses = std::chrono::seconds(10)};
    faults = PlayThrough(binary, seed + static_cast<uint64_t>(rounds), 1, patience).faults;
    for (const std::string& fault : faults) {
      found = found || std::any_of(GetParam().faults.begin(), GetParam().faults.end(), [&](const char* words) {
                return fault.find(words) != std::string::npos;
              });
    }
  }
  std::cout << faults.size() << " faults in round " << rounds << ", such as: " << (found ? faults[0] : "") << "\n";
  EXPECT_TRUE(found) << faults.size() << " faults";
}

constexpr char kOld[] = "told an old version";
constexpr char kTwo[] = "two commands own one event";
constexpr char kOther[] = "the answer differs from the log";
constexpr char kState[] = "told another state than the log's";

INSTANTIATE_TEST_SUITE_P(EtcdFaults, BrokenServers,
                         testing::Values(Broken{"without_compare", {kTwo, kOther, kState}},
                                         Broken{"answering_before_the_put", {kOld, kTwo, kOther, kState}}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace reversi::stores
