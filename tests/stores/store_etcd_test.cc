// What only the replicated store promises: it waits, comes back, resumes, and is let in.
#include "service/store_etcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/etcd_stores.h"
#include "tests/stores/store_driver.h"
#include "tests/stores/tcp_proxy.h"

namespace reversi::stores {
namespace {

using testing::HasSubstr;

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
