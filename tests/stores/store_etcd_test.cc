// What only the replicated store promises: it waits, comes back, resumes, and knows its own puts again.
#include "service/store_etcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/store_driver.h"
#include "tests/stores/tcp_proxy.h"

namespace reversi::stores {
namespace {

using testing::HasSubstr;

EtcdStore::Options OptionsFor(std::vector<std::string> endpoints, absl::Duration wait = absl::Minutes(1)) {
  EtcdStore::Options options;
  options.client.endpoints = std::move(endpoints);
  options.prefix = "test/";
  options.wait = wait;
  return options;
}

std::unique_ptr<EtcdStore> MakeStore(const EtcdStore::Options& options, LogLines& log) {
  auto made = EtcdStore::Make(options, log.sink());
  if (const auto* wrong = std::get_if<std::string>(&made)) {
    ADD_FAILURE() << *wrong;
    return nullptr;
  }
  return std::get<std::unique_ptr<EtcdStore>>(std::move(made));
}

// Waits for what must come; false after a minute.
bool Eventually(const std::function<bool()>& come) {
  for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end; absl::SleepFor(absl::Milliseconds(5))) {
    if (come()) return true;
  }
  return false;
}

bool CanGet(Store& store) {
  bool came = false;
  absl::Notification done;
  store.Get("game", [&](bool ok, const Stored&) {
    came = ok;
    done.Notify();
  });
  MustCome(done, "the read");
  return came;
}

// A call that gRPC still holds on a thread of its callbacks: the channel must not go with it.
TEST(EtcdClient, OutlivesItsCalls) {
  struct Held {
    absl::Notification& gone;
    ~Held() { EXPECT_FALSE(gone.WaitForNotificationWithTimeout(absl::Milliseconds(100))); }
  };
  EtcdOptions options;
  options.endpoints = {absl::StrCat("127.0.0.1:", FreePort())};
  auto made = EtcdClient::Make(options);
  auto client = std::get<std::unique_ptr<EtcdClient>>(std::move(made));
  absl::Notification answered, gone;
  client->Range(std::make_shared<etcdserverpb::RangeRequest>(), absl::Seconds(1),
                [&answered, held = std::unique_ptr<Held>(new Held{gone})](const grpc::Status& status, auto&) {
                  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
                  answered.Notify();
                });
  ASSERT_TRUE(answered.WaitForNotificationWithTimeout(absl::Minutes(1)));
  client.reset();
  gone.Notify();
}

TEST(EtcdStore, WaitsForEtcdAndSaysSo) {
  EtcdCluster cluster(1);
  cluster.Kill(0);
  LogLines log;
  const auto store = MakeStore(OptionsFor(cluster.endpoints()), log);
  Follow follow(*store);
  EXPECT_FALSE(store->reachable());
  absl::Notification put;
  store->Put("game", 0, Bytes("one"), [&](PutResult result) {
    EXPECT_EQ(result.outcome, PutOutcome::kDone);
    put.Notify();
  });
  EXPECT_TRUE(Eventually([&] { return log.Has(absl::StrCat("waiting for etcd at ", cluster.endpoint(0))); }));
  EXPECT_FALSE(put.HasBeenNotified());
  cluster.Start(0);
  MustCome(put, "the put");
  follow.WaitCaughtUp();
  EXPECT_TRUE(follow.WaitFor("game", 1));
  EXPECT_TRUE(store->reachable());
}

TEST(EtcdStore, KnowsWithoutACallThatEtcdIsAwayAndBack) {
  EtcdCluster cluster(1);
  LogLines log;
  const auto store = MakeStore(OptionsFor(cluster.endpoints()), log);
  Follow follow(*store);
  EXPECT_TRUE(Eventually([&] { return store->reachable(); }));
  cluster.Kill(0);
  EXPECT_TRUE(Eventually([&] { return !store->reachable(); }));
  cluster.Start(0);
  EXPECT_TRUE(Eventually([&] { return store->reachable(); }));
  cluster.Pause(0);
  EXPECT_TRUE(Eventually([&] { return !store->reachable(); }));
  cluster.Resume(0);
  EXPECT_TRUE(Eventually([&] { return store->reachable(); }));
}

TEST(EtcdStore, WhenEtcdStaysAwayCallsEndAsUnknownAndNothingOldIsShown) {
  EtcdCluster cluster(1);
  LogLines log;
  const auto patient = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto store = MakeStore(OptionsFor(cluster.endpoints(), absl::Milliseconds(300)), log);
  ASSERT_EQ(PutNow(*patient, "game", 0, "one").outcome, PutOutcome::kDone);
  cluster.Pause(0);
  EXPECT_EQ(PutNow(*store, "game", 1, "two").outcome, PutOutcome::kUnknown);
  EXPECT_FALSE(CanGet(*store));
  EXPECT_FALSE(store->reachable());
  cluster.Resume(0);
  EXPECT_TRUE(Eventually([&] { return CanGet(*store) && store->reachable(); }));
  // The put may have landed meanwhile, or still may; whichever it is, everybody goes on from what stands there.
  PutResult next{PutOutcome::kConflict, GetNow(*patient, "game")};
  while (next.outcome == PutOutcome::kConflict) next = PutNow(*patient, "game", next.current.version, "three");
  EXPECT_EQ(next.outcome, PutOutcome::kDone);
}

TEST(EtcdStore, WhenEtcdsQuotaIsUsedUpReadsAndDeletionsGoOnAndAfterwardsPutsToo) {
  EtcdCluster cluster(1, {"--quota-backend-bytes=1000000"});
  LogLines log;
  const auto store = MakeStore(OptionsFor(cluster.endpoints(), absl::Milliseconds(500)), log);
  const std::string record(100'000, 'r');
  ASSERT_EQ(PutNow(*store, "game", 0, record).outcome, PutOutcome::kDone);
  // Another game, to which etcd's quota allows some ten puts, and as many more as fit into the tenth of a second after
  // which it looks at its size anew.
  uint64_t version = 0;
  while (version < 500 && PutNow(*store, "other", version, record).outcome == PutOutcome::kDone) ++version;
  EXPECT_LT(version, 500u);
  EXPECT_TRUE(log.Has("database space exceeded"));
  EXPECT_EQ(GetNow(*store, "game").version, 1u);
  EXPECT_EQ(DeleteNow(*store, "game", 1).outcome, PutOutcome::kDone);
  EXPECT_EQ(GetNow(*store, "other").version, version) << "refused puts are not there";
  // An operator makes room.
  cluster.Ctl({"compact", "--physical", absl::StrCat(version + 2)});
  cluster.Ctl({"defrag"});
  cluster.Ctl({"alarm", "disarm"});
  EXPECT_EQ(PutNow(*store, "other", version, record).outcome, PutOutcome::kDone);
}

TEST(EtcdStore, ABatchOfPutsAndDeletionsGoesTogether) {
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
TEST(EtcdStore, AConflictLeavesTheRestOfItsBatchAlone) {
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
TEST(EtcdStore, PutsThatGoApartMindTheQuotaToo) {
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
TEST(EtcdStore, APutWhoseAnswerWasLostIsKnownAgain) {
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
TEST(EtcdStore, ABatchWhoseAnswerWasLostIsKnownAgain) {
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

TEST(EtcdStore, TheFeedResumesAfterCutsWithoutGapOrDouble) {
  EtcdCluster cluster(1);
  TcpProxy proxy(cluster.endpoint(0));
  LogLines log;
  const auto writer = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto reader = MakeStore(OptionsFor({proxy.address()}), log);
  Follow follow(*reader);
  follow.WaitCaughtUp();
  constexpr uint64_t kPuts = 400;
  for (uint64_t version = 0; version < kPuts; ++version) {
    ASSERT_EQ(PutNow(*writer, "game", version, absl::StrCat(version + 1)).outcome, PutOutcome::kDone);
    if (version % 100 == 50) proxy.Set(TcpProxy::Mode::kCut);
    if (version % 100 == 80) proxy.Set(TcpProxy::Mode::kOpen);
  }
  ASSERT_TRUE(follow.WaitFor("game", kPuts));
  std::vector<uint64_t> all;
  for (uint64_t version = 1; version <= kPuts; ++version) all.push_back(version);
  EXPECT_EQ(follow.Versions("game"), all);
}

TEST(EtcdStore, TheFeedLeavesAConnectionThatIsOpenButSilent) {
  EtcdCluster cluster(1);
  TcpProxy frozen(cluster.endpoint(0));
  LogLines log;
  const auto writer = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto reader = MakeStore(OptionsFor({frozen.address(), cluster.endpoint(0)}), log);
  Follow follow(*reader);
  follow.WaitCaughtUp();
  ASSERT_EQ(PutNow(*writer, "game", 0, "one").outcome, PutOutcome::kDone);
  ASSERT_TRUE(follow.WaitFor("game", 1));
  frozen.Set(TcpProxy::Mode::kFrozen);
  ASSERT_EQ(PutNow(*writer, "game", 1, "two").outcome, PutOutcome::kDone);
  EXPECT_TRUE(follow.WaitFor("game", 2));
}

// Changes and a deletion that the feed missed, and that etcd has since compacted away.
TEST(EtcdStore, TheFeedReadsEverythingAgainAfterACompaction) {
  EtcdCluster cluster(1);
  TcpProxy proxy(cluster.endpoint(0));
  LogLines log;
  const auto writer = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto reader = MakeStore(OptionsFor({proxy.address()}), log);
  Follow follow(*reader);
  for (const char* game : {"changed", "deleted", "same"}) PutNow(*writer, game, 0, "one");
  for (const char* game : {"changed", "deleted", "same"}) ASSERT_TRUE(follow.WaitFor(game, 1));
  proxy.Set(TcpProxy::Mode::kCut);
  PutNow(*writer, "changed", 1, "two");
  PutNow(*writer, "changed", 2, "three");
  DeleteNow(*writer, "deleted", 1);
  PutNow(*writer, "new", 0, "one");
  const std::string status = cluster.Ctl({"endpoint", "status", "--write-out=json"});
  const size_t at = status.find("\"revision\":");
  ASSERT_NE(at, std::string::npos) << status;
  cluster.Ctl({"compact", std::to_string(std::stoi(status.substr(at + 11)))});
  proxy.Set(TcpProxy::Mode::kOpen);
  EXPECT_TRUE(follow.WaitFor("changed", 3));
  EXPECT_TRUE(follow.WaitFor("deleted", 0));
  EXPECT_TRUE(follow.WaitFor("new", 1));
  EXPECT_THAT(log.text(), HasSubstr("reading all games again"));
  PutNow(*writer, "same", 1, "two");
  EXPECT_TRUE(follow.WaitFor("same", 2));
}

TEST(EtcdStore, TwoPrefixesAreTwoWorlds) {
  EtcdCluster cluster(1);
  LogLines log;
  EtcdStore::Options other = OptionsFor(cluster.endpoints());
  other.prefix = "test/g/";  // even one inside the other's
  const auto one = MakeStore(OptionsFor(cluster.endpoints()), log);
  const auto two = MakeStore(other, log);
  Follow follow(*two);
  PutNow(*one, "game", 0, "one");
  EXPECT_EQ(GetNow(*two, "game").version, 0u);
  PutNow(*two, "mine", 0, "two");
  EXPECT_TRUE(follow.WaitFor("mine", 1));
  EXPECT_EQ(follow.games(), 1u);
}

TEST(EtcdStore, UserAndPasswordAreSentAndTokensRenewed) {
  EtcdCluster cluster(1, {"--auth-token-ttl=1"});
  cluster.Ctl({"user", "add", "root:secret"});
  cluster.Ctl({"user", "grant-role", "root", "root"});
  cluster.Ctl({"user", "add", "reversi:word"});
  cluster.Ctl({"role", "add", "games"});
  cluster.Ctl({"role", "grant-permission", "games", "--prefix=true", "readwrite", "test/"});
  cluster.Ctl({"user", "grant-role", "reversi", "games"});
  cluster.Ctl({"auth", "enable"});
  TcpProxy proxy(cluster.endpoint(0));
  LogLines log;
  EtcdStore::Options options = OptionsFor({proxy.address()});
  options.client.user = "reversi";
  options.client.password = "word";
  const auto store = MakeStore(options, log);
  Follow follow(*store);
  follow.WaitCaughtUp();
  ASSERT_EQ(PutNow(*store, "game", 0, "one").outcome, PutOutcome::kDone);
  EXPECT_TRUE(follow.WaitFor("game", 1));
  // A change of roles makes older tokens useless, and so does their age.
  cluster.Ctl({"--user=root:secret", "role", "add", "another"});
  ASSERT_EQ(PutNow(*store, "game", 1, "two").outcome, PutOutcome::kDone);
  EXPECT_TRUE(follow.WaitFor("game", 2));
  // The feed gets a new one by itself, where nobody puts.
  const auto other = MakeStore(options, log);
  proxy.Set(TcpProxy::Mode::kCut);
  cluster.Ctl({"--user=root:secret", "auth", "disable"});
  cluster.Ctl({"auth", "enable"});
  proxy.Set(TcpProxy::Mode::kOpen);
  ASSERT_EQ(PutNow(*other, "game", 2, "three").outcome, PutOutcome::kDone);
  EXPECT_TRUE(follow.WaitFor("game", 3));
  EXPECT_TRUE(Eventually([&] { return store->reachable(); }));

  options.client.password = "wrong";
  options.wait = absl::Milliseconds(200);
  LogLines wrong_log;
  const auto wrong = MakeStore(options, wrong_log);
  EXPECT_TRUE(Eventually([&] { return !CanGet(*wrong) && wrong_log.Has("authentication failed"); })) << wrong_log.text();
}

// openssl makes an authority and certificates in `folder`.
void MakeCertificates(const std::string& folder) {
  const auto openssl = [&](const std::string& arguments) {
    std::string output;
    EXPECT_EQ(Run({"sh", "-c", "cd " + folder + " && openssl " + arguments}, &output), 0) << output;
  };
  openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem");
  for (const std::string name : {"server", "client"}) {
    openssl("req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + name + ".key -out " + name + ".csr");
    openssl("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out " + name +
            ".pem -extfile /dev/stdin <<END\nsubjectAltName=IP:127.0.0.1\nEND");
  }
}

TEST(EtcdStore, SpeaksMutualTlsWithFiles) {
  const TempFolder folder;
  MakeCertificates(folder.path());
  const std::string& at = folder.path();
  EtcdCluster cluster(1, {"--cert-file=" + at + "/server.pem", "--key-file=" + at + "/server.key",
                          "--trusted-ca-file=" + at + "/ca.pem", "--client-cert-auth"});
  LogLines log;
  EtcdStore::Options options = OptionsFor(cluster.endpoints());
  options.client.ca_file = at + "/ca.pem";
  options.client.cert_file = at + "/client.pem";
  options.client.key_file = at + "/client.key";
  const auto store = MakeStore(options, log);
  Follow follow(*store);
  EXPECT_EQ(PutNow(*store, "game", 0, "one").outcome, PutOutcome::kDone);
  EXPECT_TRUE(follow.WaitFor("game", 1));

  options.client.cert_file.clear();
  options.client.key_file.clear();
  options.wait = absl::Milliseconds(500);
  EXPECT_FALSE(CanGet(*MakeStore(options, log))) << "without a certificate of its own";
  options.client.ca_file = at + "/nothing.pem";
  const auto made = EtcdStore::Make(options, log.sink());
  EXPECT_THAT(std::get<std::string>(made), HasSubstr("nothing.pem cannot be read"));
}

}  // namespace
}  // namespace reversi::stores
