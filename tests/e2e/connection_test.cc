// Connections: peers that fall silent, connections that grow old, memory and messages that are limited.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"
#include "tests/e2e/tcp_relay.h"

namespace reversi::e2e {
namespace {

// Plenty below what the kernel's own time-outs take, so that only pings can have found the dead peer.
class SilentPeerTest : public ServingTest {
 protected:
  static void SetUpTestSuite() {
    StartServer({.flags = {"--keepalive_time=1s", "--keepalive_timeout=500ms", "--max_watchers=1"}});
  }
};

TEST_F(SilentPeerTest, APeerThatAnswersNoPingIsCutAndItsPlaceIsFreeAgain) {
  TcpRelay relay(server().address());
  Caller far(relay.address());
  const TestGame game = NewGame(caller());
  Watcher dead(far.stub(), WatchFromNow(game.id));
  ASSERT_TRUE(dead.AwaitMessages(1));
  relay.Block(true);
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int refusals = 0;
  bool admitted = false;
  while (!admitted && std::chrono::steady_clock::now() < end) {
    Watcher next(caller().stub(), WatchFromNow(game.id));
    admitted = next.AwaitMessages(1);
    if (admitted) break;
    ASSERT_TRUE(Refused(next.AwaitEnd(), "TOO_MANY_WATCHERS"));
    ++refusals;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_TRUE(admitted);
  EXPECT_GT(refusals, 0) << "the silent peer never held the place";
}

class OldConnectionTest : public ServingTest {
 protected:
  static void SetUpTestSuite() { StartServer({.flags = {"--connection_age=1s", "--connection_age_grace=1s"}}); }
};

TEST_F(OldConnectionTest, CallersAreMovedToANewConnectionWithoutLosingACall) {
  const TestGame game = NewGame(caller());
  Watcher watcher(caller().stub(), WatchFromNow(game.id));
  ASSERT_TRUE(watcher.AwaitMessages(1));
  const auto calls = [&] {
    v1::GetGameRequest get;
    get.set_game_id(game.id);
    for (int i = 0; i < 100; ++i) {
      const auto answer = caller().Call(get);
      ASSERT_TRUE(answer.ok()) << Describe(answer.status);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  calls();
  // A watch lasts as long as its connection.
  EXPECT_EQ(watcher.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  Watcher resumed(caller().stub(), WatchAfter(game.id, watcher.version()));
  ASSERT_TRUE(caller().Move(game.id, game.tokens[0], game.created.position().legal_moves(0), 1).ok());
  EXPECT_TRUE(resumed.AwaitVersion(2));
  calls();
}

class SmallServerTest : public ServingTest {
 protected:
  static void SetUpTestSuite() {
    StartServer({.flags = {"--memory_quota_bytes=16777216", "--max_message_bytes=1024"}});
  }
};

TEST_F(SmallServerTest, GamesArePlayedUnderAMemoryQuota) {
  const TestGame game = NewGame(caller());
  EXPECT_EQ(PlayRandomly(caller(), game).back().state(), v1::GAME_STATE_FINISHED);
}

TEST_F(SmallServerTest, ARequestThatIsTooLargeIsRefusedAndTheNextIsServed) {
  v1::CreateGameRequest request;
  request.set_game_id(std::string(2000, 'a'));
  const auto refused = caller().Call(request);
  EXPECT_EQ(refused.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.error.reason, "");
  NewGame(caller());
}

}  // namespace
}  // namespace reversi::e2e
