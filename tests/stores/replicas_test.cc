// Several servers over one store: one service to everybody who calls. Real servers, real etcd nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/watcher.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/replicas.h"
#include "tests/stores/tcp_proxy.h"

namespace reversi::stores {
namespace {

using e2e::Caller;
using e2e::TestGame;

std::vector<std::string> SomeFaults(const e2e::History& history) {
  std::vector<std::string> faults = e2e::Faults(history);
  faults.resize(std::min<size_t>(faults.size(), 20));
  return faults;
}

TEST(Replicas, EveryMoveIsSeenThroughAnyOtherAtOnce) {
  EtcdCluster etcd(1);
  Replicas replicas(3, etcd.endpoints());
  std::vector<std::unique_ptr<Caller>> callers;
  for (const std::string& address : replicas.addresses()) callers.push_back(std::make_unique<Caller>(address));
  const TestGame game = e2e::NewGame(*callers[0]);
  e2e::Watcher watcher(callers[2]->stub(), e2e::WatchFromNow(game.id));
  uint64_t version = 1;
  for (size_t ply = 0; ply < 30; ++ply) {
    const v1::Game now = callers[(ply + 2) % 3]->Get(game.id);
    ASSERT_EQ(now.version(), version);
    const auto answer = callers[ply % 3]->Move(game.id, game.TokenOf(now.position().turn()),
                                               now.position().legal_moves(0), version);
    ASSERT_TRUE(answer.ok()) << answer.status.error_message();
    ++version;
  }
  EXPECT_TRUE(watcher.AwaitVersion(version));
}

TEST(Replicas, ThreeOfThemAreOneServiceToEverybody) {
  EtcdCluster etcd(1);
  Replicas replicas(3, etcd.endpoints());
  const auto history =
      e2e::PlayConcurrently(replicas.addresses(), 5, {.games = 20, .watchers = 60, .players = 6, .calls = 250});
  EXPECT_THAT(SomeFaults(history), testing::IsEmpty());
}

TEST(Replicas, OneCutOffFromEtcdWaitsOrFailsAndNeverShowsAnOldVersion) {
  EtcdCluster etcd(1);
  TcpProxy proxy(etcd.endpoint(0));
  Replicas whole(1, etcd.endpoints());
  Replicas cut(1, {proxy.address()}, {"--store_wait=300ms"});
  Caller other(whole.address(0)), caller(cut.address(0));
  const TestGame game = e2e::NewGame(other);
  // On a busy machine etcd may need longer than this server waits: then again.
  std::unique_ptr<e2e::Watcher> watcher;
  for (int tries = 0; watcher == nullptr || !watcher->AwaitVersion(1); ++tries) {
    ASSERT_LT(tries, 100) << e2e::Describe(watcher->AwaitEnd());
    watcher = std::make_unique<e2e::Watcher>(caller.stub(), e2e::WatchAfter(game.id, 0));
  }
  proxy.Set(TcpProxy::Mode::kFrozen);
  const v1::Position position = other.Get(game.id).position();
  ASSERT_TRUE(other.Move(game.id, game.TokenOf(position.turn()), position.legal_moves(0), 1).ok());
  v1::GetGameRequest get;
  get.set_game_id(game.id);
  EXPECT_EQ(caller.Call(get).status.error_code(), grpc::StatusCode::UNAVAILABLE);
  // A refusal would say that nothing has changed.
  const auto stale = caller.Move(game.id, game.TokenOf(v1::COLOR_WHITE), "a1", 1);
  EXPECT_EQ(stale.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  proxy.Set(TcpProxy::Mode::kOpen);
  EXPECT_TRUE(watcher->AwaitVersion(2)) << "the watch goes on";
}

TEST(Replicas, AGameDeletedByHandEndsItsWatchesAndIsForgotten) {
  EtcdCluster etcd(1);
  Replicas replicas(2, etcd.endpoints());
  std::vector<std::unique_ptr<Caller>> callers;
  std::vector<std::unique_ptr<e2e::Watcher>> watchers, others;
  v1::CreateGameRequest wish;
  wish.set_game_id("deleted");
  for (const std::string& address : replicas.addresses()) callers.push_back(std::make_unique<Caller>(address));
  const TestGame game = e2e::NewGame(*callers[0], wish), other = e2e::NewGame(*callers[0]);
  for (const auto& caller : callers) {
    watchers.push_back(std::make_unique<e2e::Watcher>(caller->stub(), e2e::WatchFromNow(game.id)));
    watchers.push_back(std::make_unique<e2e::Watcher>(caller->stub(), e2e::WatchAfter(game.id, 0)));
    others.push_back(std::make_unique<e2e::Watcher>(caller->stub(), e2e::WatchFromNow(other.id)));
  }
  for (const auto& watcher : watchers) ASSERT_TRUE(watcher->AwaitVersion(1));
  ASSERT_EQ(etcd.Ctl({"del", "reversi/g/deleted"}), "1\n");
  for (const auto& watcher : watchers) {
    EXPECT_THAT(e2e::Describe(watcher->AwaitEnd()), testing::HasSubstr("GAME_NOT_FOUND"));
  }
  for (const auto& caller : callers) {
    v1::GetGameRequest get;
    get.set_game_id(game.id);
    EXPECT_EQ(caller->Call(get).error.reason, "GAME_NOT_FOUND");
    EXPECT_EQ(caller->Call(v1::ListGamesRequest()).response.games_size(), 1);
  }
  // Its id is free, and the news of the deletion ends nothing of the next game.
  e2e::NewGame(*callers[1], wish);
  e2e::Watcher next(callers[0]->stub(), e2e::WatchAfter(game.id, 0));
  EXPECT_TRUE(next.AwaitVersion(1));
  for (const auto& watcher : others) EXPECT_TRUE(watcher->AwaitVersion(1) && !watcher->done());
}

TEST(Replicas, OneThatHasNotReachedEtcdListsAllGamesOrNone) {
  EtcdCluster etcd(1);
  TcpProxy proxy(etcd.endpoint(0));
  proxy.Set(TcpProxy::Mode::kCut);
  Replicas whole(1, etcd.endpoints());
  Caller other(whole.address(0));
  for (int i = 0; i < 3; ++i) e2e::NewGame(other);
  Replicas hasty(1, {proxy.address()}, {"--store_wait=100ms"});
  Replicas patient(1, {proxy.address()}, {"--store_wait=1m"});
  const auto refused = Caller(hasty.address(0)).Call(v1::ListGamesRequest());
  EXPECT_EQ(refused.error.reason, "STORE_UNAVAILABLE") << e2e::Describe(refused.status);
  EXPECT_TRUE(refused.error.retry_seconds.has_value());
  v1::ListGamesRequest bad;
  bad.set_page_token("?");
  Caller caller(patient.address(0));
  std::jthread open([&proxy] { proxy.Set(TcpProxy::Mode::kOpen); });
  const auto all = caller.Call(v1::ListGamesRequest());
  ASSERT_TRUE(all.ok()) << e2e::Describe(all.status);
  EXPECT_EQ(all.response.games_size(), 3);
  EXPECT_EQ(caller.Call(bad).error.reason, "MALFORMED_REQUEST");
}

}  // namespace
}  // namespace reversi::stores
