// kill -9 of the server in the middle of the load, again and again: what was acknowledged is there afterwards, once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watch_stand.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/kept_server.h"
#include "tests/stores/witness.h"

namespace reversi::stores {
namespace {

using testing::IsEmpty;

// The store's flags, and what they need.
struct Place {
  explicit Place(const std::string& kind) {
    if (kind == "etcd") {
      etcd = std::make_unique<EtcdCluster>(1);
      flags = {"--store=etcd", "--etcd_endpoints=" + etcd->joined_endpoints()};
    } else {
      flags = {"--store=disk", "--data_dir=" + folder.path() + "/games"};
    }
  }
  const TempFolder folder;
  std::unique_ptr<EtcdCluster> etcd;
  std::vector<std::string> flags;
};

// Kills the server and starts it again after random spells of play; counts down.
class Killing {
 public:
  Killing(KeptServer& server, std::vector<std::unique_ptr<Witness>>& witnesses, uint64_t seed, int rounds)
      : server_(server), witnesses_(witnesses), chance_(seed), left_(rounds) {}

  bool more() const { return left_ > 0; }

  void Step(uint64_t step) {
    if (!more() || step < next_) return;
    // Everybody is in the middle of something.
    for (const auto& witness : witnesses_) EXPECT_TRUE(witness->AwaitMoves(witness->moves() + 1));
    server_.KillAndStart();
    if (!server_.Runs()) {
      left_ = 0;
      return;
    }
    for (const auto& witness : witnesses_) EXPECT_THAT(witness->Missing(), IsEmpty()) << left_ << " rounds left";
    next_ = step + 20 + e2e::Below(chance_, 200);
    --left_;
  }

 private:
  KeptServer& server_;
  std::vector<std::unique_ptr<Witness>>& witnesses_;
  e2e::Chance chance_;
  uint64_t next_ = 100;
  std::atomic<int> left_;
};

// Ids of all games that are listed.
std::multiset<std::string> Listed(const std::string& address) {
  e2e::Caller caller(address);
  std::multiset<std::string> ids;
  v1::ListGamesRequest request;
  request.set_page_size(1000);
  do {
    const auto page = caller.Call(request);
    EXPECT_TRUE(page.ok()) << e2e::Describe(page.status);
    for (const v1::Game& game : page.response.games()) ids.insert(game.game_id());
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty());
  return ids;
}

class ServerKill : public testing::TestWithParam<std::string> {};

TEST_P(ServerKill, EveryAcknowledgedEventIsThereOnceAndNoOtherHalf) {
  const int rounds = TestRounds(4);
  const uint64_t seed = TestSeed();
  const Place place(GetParam());
  KeptServer server(place.flags);
  std::vector<std::unique_ptr<Witness>> witnesses;
  for (uint64_t i = 0; i < 3; ++i) {
    witnesses.push_back(std::make_unique<Witness>(server.address(), seed * 10 + i, Witness::Connection::kBreaks));
  }
  Killing killing(server, witnesses, seed, rounds);
  const auto history = e2e::PlayConcurrently(
      {server.address()}, seed,
      {.games = 10 + 4 * rounds, .watchers = 20, .players = 6, .calls = 0, .pause = std::chrono::milliseconds(2),
       .more = [&] { return killing.more(); }},
      [&](uint64_t step) { killing.Step(step); });
  std::vector<std::string> faults = e2e::Faults(history);
  std::multiset<std::string> made;
  uint64_t moves = 0, calls = 0, unknown = 0;
  for (const auto& witness : witnesses) {
    for (const std::string& fault : witness->Finish()) faults.push_back(fault);
    for (const std::string& id : witness->games()) made.insert(id);
    moves += witness->moves();
  }
  for (const e2e::GameRecord& record : history.games) {
    if (!record.unlisted) made.insert(record.id);
    calls += record.calls.size();
    for (const auto& call : record.calls) unknown += call.outcome == e2e::ObservedCall::Outcome::kUnknown;
  }
  faults.resize(std::min<size_t>(faults.size(), 20));
  EXPECT_THAT(faults, IsEmpty());
  EXPECT_EQ(Listed(server.address()), made) << "a creation that was sent again made one game";
  EXPECT_TRUE(server.Runs());
  std::cout << rounds << " rounds: " << calls << " calls, " << unknown << " of unknown outcome, " << moves
            << " moves of witnesses\n";
}

std::vector<std::string> Kinds() {
#ifdef REVERSI_DISK_STORE
  return {"disk", "etcd"};
#else
  return {"etcd"};
#endif
}

INSTANTIATE_TEST_SUITE_P(Stores, ServerKill, testing::ValuesIn(Kinds()), [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace reversi::stores
