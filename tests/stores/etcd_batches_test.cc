// Batches of puts on their way to etcd: with conflicts among them, at its quota, and when their answer is lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/etcd_stores.h"
#include "tests/stores/store_driver.h"
#include "tests/stores/tcp_proxy.h"

namespace reversi::stores {
namespace {

TEST(EtcdBatches, ABatchOfPutsAndDeletionsGoesTogether) {
  EtcdCluster cluster(1);
  LogLines log;
  constexpr int kGames = 100;
  std::vector<absl::Notification> done(2 * kGames);
  const auto store = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto id = [](int game) { return absl::StrCat("game ", game); };
  for (int round = 0; round < 2; ++round) {
    for (int game = 0; game < kGames; ++game) {
      absl::Notification& each = done[static_cast<size_t>(round * kGames + game)];
      const auto came = [&each, game](const PutResult& result) {
        EXPECT_EQ(result.outcome, PutOutcome::kDone) << game;
        each.Notify();
      };
      if (round == 1 && game % 2 == 0) {
        store->Delete(id(game), 1, came);
      } else {
        store->Put(id(game), static_cast<uint64_t>(round), Bytes(absl::StrCat(game, " in round ", round)), came);
      }
    }
    for (int game = 0; game < kGames; ++game) MustCome(done[static_cast<size_t>(round * kGames + game)], "a put");
  }
  for (int game = 0; game < kGames; ++game) {
    const Stored stored = GetNow(*store, id(game));
    EXPECT_EQ(stored.version, game % 2 == 0 ? 0u : 2u);
    EXPECT_EQ(stored.record.view(), game % 2 == 0 ? "" : absl::StrCat(game, " in round 1"));
  }
}

// Some puts and deletions at once, most of which go in one batch; among them some that expect another version.
TEST(EtcdBatches, AConflictLeavesTheRestOfItsBatchAlone) {
  EtcdCluster cluster(1);
  LogLines log;
  const auto store = MakeStore(OptionsFor(cluster.endpoints()), log);
  constexpr int kGames = 100;
  const auto id = [](int game) { return absl::StrCat("game ", game); };
  const auto stale = [](int game, int round) { return game % 20 == round; };
  for (int round = 0; round < 4; ++round) {
    std::vector<PutResult> results(kGames);
    std::vector<absl::Notification> done(kGames);
    for (int game = 0; game < kGames; ++game) {
      const uint64_t expected = static_cast<uint64_t>(stale(game, round) ? 77 : round);
      const auto came = [&, game](PutResult result) {
        results[static_cast<size_t>(game)] = std::move(result);
        done[static_cast<size_t>(game)].Notify();
      };
      if (round == 3) {
        store->Delete(id(game), expected, came);
      } else {
        store->Put(id(game), expected, Bytes(absl::StrCat("round ", round)), came);
      }
    }
    for (int game = 0; game < kGames; ++game) {
      MustCome(done[static_cast<size_t>(game)], "a put");
      const PutResult& result = results[static_cast<size_t>(game)];
      if (!stale(game, round)) {
        EXPECT_EQ(result.outcome, PutOutcome::kDone) << game << " in round " << round;
        continue;
      }
      ASSERT_EQ(result.outcome, PutOutcome::kConflict) << game << " in round " << round;
      EXPECT_EQ(result.current.version, static_cast<uint64_t>(round));
      if (round == 3) continue;
      EXPECT_EQ(result.current.record.view(), round == 0 ? "" : absl::StrCat("round ", round - 1));
      ASSERT_EQ(PutNow(*store, id(game), result.current.version, absl::StrCat("round ", round)).outcome, PutOutcome::kDone);
    }
  }
  for (int game = 0; game < kGames; ++game) EXPECT_EQ(GetNow(*store, id(game)).version, stale(game, 3) ? 3u : 0u);
}

// etcd by itself overlooks puts inside of transactions inside of a transaction when it looks at its quota.
TEST(EtcdBatches, PutsThatGoApartMindTheQuotaToo) {
  EtcdCluster cluster(1, {"--quota-backend-bytes=1000000"});
  LogLines log;
  const auto store = MakeStore(OptionsFor(cluster.endpoints(), absl::Milliseconds(500)), log);
  const std::string record(100'000, 'r');
  // Two are under way when the put comes, so that it waits, and goes with one that fails: so it goes apart.
  const auto put = [&](uint64_t version) {
    std::vector<absl::Notification> done(4);
    PutOutcome outcome = PutOutcome::kUnknown;
    const auto fail = [&](int i) {
      store->Delete(absl::StrCat("nobody ", i), 77, [&done, i](const PutResult&) { done[static_cast<size_t>(i)].Notify(); });
    };
    fail(0);
    fail(1);
    store->Put("game", version, Bytes(record), [&](const PutResult& result) {
      outcome = result.outcome;
      done[2].Notify();
    });
    fail(3);
    for (absl::Notification& each : done) MustCome(each, "a put");
    return outcome;
  };
  uint64_t version = 0;
  while (version < 500 && put(version) == PutOutcome::kDone) ++version;
  EXPECT_LT(version, 500u);
  EXPECT_TRUE(log.Has("database space exceeded"));
}

// The answer to a put is lost on the way; sent again, it meets its own record.
TEST(EtcdBatches, APutWhoseAnswerWasLostIsKnownAgain) {
  EtcdCluster cluster(1);
  TcpProxy proxy(cluster.endpoint(0));
  LogLines log;
  EtcdStore::Options options = OptionsFor({proxy.address()});
  options.client.attempt_timeout = absl::Milliseconds(300);
  const auto store = MakeStore(options, log);
  const auto witness = MakeStore(OptionsFor(cluster.endpoints()), log);
  ASSERT_EQ(PutNow(*store, "game", 0, "one").outcome, PutOutcome::kDone);
  proxy.Set(TcpProxy::Mode::kOneWay);
  absl::Notification put;
  PutResult came;
  store->Put("game", 1, Bytes("two"), [&](PutResult result) {
    came = std::move(result);
    put.Notify();
  });
  ASSERT_TRUE(Eventually([&] { return GetNow(*witness, "game").version == 2; }));
  EXPECT_TRUE(Eventually([&] { return !store->reachable(); })) << "the answer did not come";
  proxy.Set(TcpProxy::Mode::kCut);
  proxy.Set(TcpProxy::Mode::kOpen);
  MustCome(put, "the put");
  EXPECT_EQ(came.outcome, PutOutcome::kDone);
  EXPECT_EQ(GetNow(*store, "game").version, 2u);
}

// The same with many in one batch: its condition fails the second time, and each is known again by itself.
TEST(EtcdBatches, ABatchWhoseAnswerWasLostIsKnownAgain) {
  EtcdCluster cluster(1);
  TcpProxy proxy(cluster.endpoint(0));
  LogLines log;
  EtcdStore::Options options = OptionsFor({proxy.address()});
  options.client.attempt_timeout = absl::Milliseconds(300);
  constexpr int kGames = 20;
  std::vector<PutResult> results(kGames);
  std::vector<absl::Notification> done(kGames);
  absl::Notification all_wait;
  absl::once_flag losing;
  const auto store = MakeStore(options, log);
  const auto witness = MakeStore(OptionsFor(cluster.endpoints()), log);
  ASSERT_EQ(GetNow(*store, "game 0").version, 0u);
  for (int game = 0; game < kGames; ++game) {
    const auto at = static_cast<size_t>(game);
    store->Put(absl::StrCat("game ", game), 0, Bytes("one"), [&, at](PutResult result) {
      // From the first answer on they are lost, before the rest goes in one batch.
      MustCome(all_wait, "the last put");
      absl::call_once(losing, [&] { proxy.Set(TcpProxy::Mode::kOneWay); });
      results[at] = std::move(result);
      done[at].Notify();
    });
  }
  all_wait.Notify();
  ASSERT_TRUE(Eventually([&] { return GetNow(*witness, absl::StrCat("game ", kGames - 1)).version == 1; }));
  EXPECT_TRUE(Eventually([&] { return !store->reachable(); })) << "the answer did not come";
  EXPECT_FALSE(done[kGames - 1].HasBeenNotified());
  proxy.Set(TcpProxy::Mode::kCut);
  proxy.Set(TcpProxy::Mode::kOpen);
  for (int game = 0; game < kGames; ++game) {
    MustCome(done[static_cast<size_t>(game)], "a put");
    EXPECT_EQ(results[static_cast<size_t>(game)].outcome, PutOutcome::kDone) << game;
    EXPECT_EQ(GetNow(*store, absl::StrCat("game ", game)).version, 1u);
  }
}

}  // namespace
}  // namespace reversi::stores
