// What replicas do by the clock: time-outs and clean-up happen once among all of them, whoever dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/watcher.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/kept_server.h"
#include "tests/stores/replicas.h"

namespace reversi::stores {
namespace {

using e2e::Caller;
using e2e::TestGame;
using e2e::Watcher;
using testing::IsEmpty;

constexpr int64_t kLimitSeconds = 3;

v1::CreateGameRequest WithTurnLimit(v1::TimeoutAction action) {
  v1::CreateGameRequest request;
  request.mutable_turn_limit()->set_seconds(kLimitSeconds);
  request.set_timeout_action(action);
  return request;
}

// In milliseconds since 1970.
int64_t Millis(const google::protobuf::Timestamp& time) { return time.seconds() * 1000 + time.nanos() / 1'000'000; }

bool IsTimeout(const v1::GameEvent& event) {
  return event.has_timed_out() || (event.has_moved() && event.moved().on_timeout());
}

// Time-outs of a watched log that came before their time, or not at all after it.
std::vector<std::string> EarlyTimeouts(const e2e::WatchRecord& record) {
  std::vector<std::string> early;
  for (size_t i = 1; i < record.messages.size(); ++i) {
    const v1::GameEvent& event = record.messages[i].event();
    const v1::GameEvent& before = record.messages[i - 1].event();
    if (IsTimeout(event) && Millis(event.time()) < Millis(before.turn_deadline())) {
      early.push_back(event.ShortDebugString());
    }
  }
  return early;
}

int Timeouts(const e2e::WatchRecord& record) {
  return static_cast<int>(std::count_if(record.messages.begin(), record.messages.end(),
                                        [](const auto& message) { return IsTimeout(message.event()); }));
}

double Sum(Replicas& replicas, const std::vector<int>& alive, const std::string& series) {
  double sum = 0;
  for (const int i : alive) sum += Counted(replicas.at(i), series);
  return sum;
}

// Three replicas, and games whose turns run out.
class ReplicasClock : public testing::Test {
 protected:
  ReplicasClock() {
    for (const std::string& address : replicas_.addresses()) callers_.push_back(std::make_unique<Caller>(address));
  }
  Caller& At(size_t i) { return *callers_[i % callers_.size()]; }
  // One move of the new game, by this replica.
  void MoveOnce(const TestGame& game, size_t replica) {
    const auto answer = At(replica).Move(game.id, game.TokenOf(game.created.position().turn()),
                                         game.created.position().legal_moves(0), 1);
    EXPECT_TRUE(answer.ok()) << e2e::Describe(answer.status);
  }
  std::unique_ptr<Watcher> Watch(const TestGame& game, size_t replica) {
    return std::make_unique<Watcher>(At(replica).stub(), e2e::WatchAfter(game.id, 0));
  }
  void Abort(const TestGame& game, size_t replica) {
    v1::AbortGameRequest request;
    request.set_game_id(game.id);
    request.set_owner_token(game.owner);
    EXPECT_TRUE(At(replica).Call(request).ok());
  }

  EtcdCluster etcd_{1};
  Replicas replicas_{3, etcd_.endpoints()};
  std::vector<std::unique_ptr<Caller>> callers_;
};

TEST_F(ReplicasClock, EveryTimeoutIsMadeOnceByOneOfThem) {
  std::vector<TestGame> games;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < 9; ++i) {
    games.push_back(e2e::NewGame(At(i), WithTurnLimit(v1::TIMEOUT_ACTION_PLAY)));
    watchers.push_back(Watch(games[i], i + 1));
    MoveOnce(games[i], i / 3);
  }
  // The creation, a move, and two that were made for seats whose time was over.
  for (const auto& watcher : watchers) EXPECT_TRUE(watcher->AwaitVersion(4));
  for (size_t i = 0; i < games.size(); ++i) Abort(games[i], i);
  int timeouts = 0;
  for (const auto& watcher : watchers) {
    EXPECT_TRUE(watcher->AwaitEnd().ok());
    const e2e::WatchRecord record = watcher->Record();
    EXPECT_THAT(e2e::BrokenPromises(record), IsEmpty());
    EXPECT_THAT(EarlyTimeouts(record), IsEmpty());
    timeouts += Timeouts(record);
  }
  EXPECT_EQ(Sum(replicas_, {0, 1, 2}, "reversi_moves_total{outcome=\"on_timeout\""), timeouts);
}

TEST_F(ReplicasClock, TimeoutsComeWhenTheReplicaThatTookTheLastMoveIsGone) {
  std::vector<TestGame> games;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < 6; ++i) {
    games.push_back(e2e::NewGame(At(0), WithTurnLimit(v1::TIMEOUT_ACTION_LEAVE)));
    watchers.push_back(Watch(games[i], 1 + i % 2));
    EXPECT_TRUE(watchers[i]->AwaitVersion(1));
    MoveOnce(games[i], 0);
  }
  replicas_.Kill(0);
  for (const auto& watcher : watchers) {
    EXPECT_TRUE(watcher->AwaitEnd().ok()) << "three of four have left";
    const e2e::WatchRecord record = watcher->Record();
    EXPECT_THAT(e2e::BrokenPromises(record), IsEmpty());
    EXPECT_THAT(EarlyTimeouts(record), IsEmpty());
    EXPECT_EQ(Timeouts(record), 3) << "each seat once";
    EXPECT_EQ(record.messages.size(), 5u);
    EXPECT_EQ(record.messages.back().event().result().reason(), v1::RESULT_REASON_TIMEOUT);
  }
}

TEST_F(ReplicasClock, TimeoutsThatAreDueDuringAnOutageComeOnceAfterIt) {
  std::vector<TestGame> games;
  std::vector<std::unique_ptr<Watcher>> watchers;
  for (size_t i = 0; i < 3; ++i) {
    games.push_back(e2e::NewGame(At(i), WithTurnLimit(v1::TIMEOUT_ACTION_PLAY)));
    watchers.push_back(Watch(games[i], i + 1));
    EXPECT_TRUE(watchers[i]->AwaitVersion(1));
  }
  etcd_.Kill(0);
  // All replicas have tried to make them.
  EXPECT_TRUE(Eventually([&] {
    for (int i = 0; i < 3; ++i) {
      if (Counted(replicas_.at(i), "reversi_store_puts_total{outcome=\"unknown\"}") == 0) return false;
    }
    return true;
  }));
  std::vector<uint64_t> before;
  for (const auto& watcher : watchers) before.push_back(watcher->version());
  etcd_.Start(0);
  for (size_t i = 0; i < games.size(); ++i) {
    EXPECT_TRUE(watchers[i]->AwaitVersion(before[i] + 1));
    Abort(games[i], i);
    EXPECT_TRUE(watchers[i]->AwaitEnd().ok());
    const e2e::WatchRecord record = watchers[i]->Record();
    EXPECT_THAT(e2e::BrokenPromises(record), IsEmpty());
    EXPECT_THAT(EarlyTimeouts(record), IsEmpty());
    EXPECT_GE(Timeouts(record), 1);
  }
}

// Retention of seconds, and three replicas that all look after it.
class ReplicasCleanUp : public testing::Test {
 protected:
  ReplicasCleanUp() {
    for (const std::string& address : replicas_.addresses()) callers_.push_back(std::make_unique<Caller>(address));
  }
  std::string Keys() const { return etcd_.Ctl({"get", "--prefix", "--keys-only", "reversi/"}); }
  EtcdCluster etcd_{1};
  Replicas replicas_{3, etcd_.endpoints(), {"--keep_finished=4s", "--keep_idle=5s", "--keep_waiting=5s"}};
  std::vector<std::unique_ptr<Caller>> callers_;
};

TEST_F(ReplicasCleanUp, HappensOnceInTheStoreAndInEverybodysMemory) {
  std::vector<std::string> ids;
  std::vector<std::unique_ptr<Watcher>> watchers;
  constexpr size_t kEach = 20;
  for (size_t i = 0; i < 3 * kEach; ++i) {
    v1::CreateGameRequest request;
    if (i % 3 == 1) request.mutable_rules()->set_players(3);
    for (int seat = 0; i % 3 == 2 && seat < 4; ++seat) request.add_seats()->set_kind(v1::SEAT_KIND_OPEN);
    const TestGame game = e2e::NewGame(*callers_[i / 3 % 3], request);
    ids.push_back(game.id);
    watchers.push_back(std::make_unique<Watcher>(callers_[i % 3]->stub(), e2e::WatchAfter(game.id, 0)));
    if (i % 3 == 0) {
      v1::AbortGameRequest abort;
      abort.set_game_id(game.id);
      abort.set_owner_token(game.owner);
      EXPECT_TRUE(callers_[(i + 1) % 3]->Call(abort).ok());
    }
  }
  for (const auto& watcher : watchers) {
    EXPECT_TRUE(watcher->AwaitEnd().ok());
    const e2e::WatchRecord record = watcher->Record();
    EXPECT_THAT(e2e::BrokenPromises(record), IsEmpty());
    EXPECT_EQ(record.messages.size(), 2u) << "made, and aborted or expired once";
  }
  EXPECT_TRUE(Eventually([&] { return Keys().find("reversi/") == std::string::npos; })) << Keys();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Eventually([&] { return Counted(replicas_.at(i), "reversi_games_held") == 0; })) << "replica " << i;
    for (const std::string& id : ids) {
      v1::GetGameRequest get;
      get.set_game_id(id);
      EXPECT_EQ(callers_[static_cast<size_t>(i)]->Call(get).error.reason, "GAME_NOT_FOUND");
    }
    EXPECT_EQ(Counted(replicas_.at(i), "reversi_games_active"), 0) << "replica " << i;
    EXPECT_EQ(callers_[static_cast<size_t>(i)]->Call(v1::ListGamesRequest()).response.games_size(), 0);
  }
  const std::vector<int> all = {0, 1, 2};
  const auto sum = [&](const std::string& series) { return Sum(replicas_, all, series); };
  EXPECT_EQ(sum("reversi_games_evicted_total"), 3 * kEach);
  EXPECT_EQ(sum("reversi_games_finished_total"), 3 * kEach);
}

// The outage of the store later on leaves every replica in service: none of them could do better.
TEST(ReplicasHealth, IsNotServingOnlyUntilTheFirstContactWithEtcd) {
  constexpr char kService[] = "reversi.v1.GameService";
  EtcdCluster etcd(1);
  etcd.Kill(0);
  Replicas replicas(1, etcd.endpoints(), {"--store_wait=300ms"});
  Caller caller(replicas.address(0));
  v1::CreateGameRequest request;
  request.set_request_id("one-request-for-one-game");
  EXPECT_EQ(caller.Call(request).error.reason, "STORE_UNAVAILABLE");
  EXPECT_EQ(caller.Health(kService), 2);
  EXPECT_EQ(caller.Health(""), 1);
  etcd.Start(0);
  EXPECT_TRUE(Eventually([&] { return caller.Health(kService) == 1; }));
  EXPECT_TRUE(Eventually([&] { return caller.Call(request).ok(); }));

  for (const bool kill : {true, false}) {
    kill ? etcd.Kill(0) : etcd.Pause(0);
    EXPECT_TRUE(Eventually([&] { return Counted(replicas.at(0), "reversi_store_reachable") == 0; })) << "told unasked";
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(caller.Call(request).error.reason, "STORE_UNAVAILABLE");
      EXPECT_EQ(caller.Health(kService), 1);
      EXPECT_EQ(caller.Health(""), 1);
    }
    kill ? etcd.Start(0) : etcd.Resume(0);
    EXPECT_TRUE(Eventually([&] { return Counted(replicas.at(0), "reversi_store_reachable") == 1; })) << "told unasked";
    EXPECT_TRUE(caller.Call(request).ok());
    EXPECT_EQ(caller.Health(kService), 1);
  }
}

}  // namespace
}  // namespace reversi::stores
