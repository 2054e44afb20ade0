// WatchGame over a real server: many watchers, cuts, resumption, stalls, ends.
#include <gmock/gmock.h>

#include <list>
#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

using testing::IsEmpty;

class WatchTest : public ServingTest {
 protected:
  TestGame NewOctagon() {
    v1::CreateGameRequest request;
    request.mutable_rules()->set_board(v1::BOARD_OCTAGON);
    return NewGame(caller(), request);
  }
  // A game in which nobody can ever move: every square but the centre is blocked.
  TestGame OverAtCreation();
  void Append(WatchRecord& whole, WatchRecord part);
};

TestGame WatchTest::OverAtCreation() {
  v1::CreateGameRequest request;
  for (char row = '1'; row <= '8'; ++row) {
    for (char column = 'a'; column <= 'h'; ++column) {
      const bool centre = (row == '4' || row == '5') && (column == 'd' || column == 'e');
      if (!centre) request.mutable_rules()->add_blocked_squares({column, row});
    }
  }
  return NewGame(caller(), request);
}

// Joins the record of a watch and of the one that resumed it.
void WatchTest::Append(WatchRecord& whole, WatchRecord part) {
  whole.end = part.end;
  for (v1::WatchGameResponse& message : part.messages) whole.messages.push_back(std::move(message));
}

TEST_F(WatchTest, TwoHundredWatchersThatJoinAtAnyMomentSeeEveryVersionOnce) {
  const TestGame game = NewOctagon();
  Caller other(server().address());
  std::list<Watcher> watchers;
  std::vector<int> joining(90);
  for (int i = 0; i < 200; ++i) ++joining[Below(joining.size())];
  uint64_t last = 1;
  for (size_t ply = 0; ply < joining.size(); ++ply) {
    // They join while the next moves are under way.
    std::thread joiner([&] {
      for (int i = 0; i < joining[ply]; ++i) {
        Caller& through = i % 2 == 0 ? caller() : other;
        watchers.emplace_back(through.stub(), i % 3 == 0 ? WatchAfter(game.id, 0) : WatchFromNow(game.id));
      }
    });
    for (const v1::GameEvent& event : PlayRandomly(caller(), game, 1)) last = event.version();
    joiner.join();
  }
  ASSERT_EQ(caller().Get(game.id).state(), v1::GAME_STATE_FINISHED);
  std::vector<WatchRecord> records;
  for (Watcher& watcher : watchers) {
    EXPECT_TRUE(watcher.AwaitEnd().ok());
    records.push_back(watcher.Record());
    EXPECT_FALSE(records.back().messages.empty());
  }
  EXPECT_EQ(records.size(), 200u);
  EXPECT_THAT(BrokenPromises(records, last), IsEmpty());
}

TEST_F(WatchTest, TwoHundredWatchersThatAreCutAndResumeSeeEveryVersionOnce) {
  const TestGame game = NewOctagon();
  struct Resuming {
    std::unique_ptr<Watcher> watcher;
    WatchRecord whole;
  };
  std::vector<Resuming> watchers(200);
  const auto resume = [&](Resuming& resuming) {
    uint64_t seen = 0;
    if (resuming.watcher != nullptr) {
      resuming.watcher->Cancel();
      EXPECT_FALSE(resuming.watcher->AwaitEnd().ok() && caller().Get(game.id).state() != v1::GAME_STATE_FINISHED);
      Append(resuming.whole, resuming.watcher->Record());
      seen = resuming.whole.messages.empty() ? 0 : resuming.whole.messages.back().event().version();
    }
    resuming.watcher = std::make_unique<Watcher>(caller().stub(), WatchAfter(game.id, seen));
  };
  for (Resuming& resuming : watchers) {
    resuming.whole.request = WatchAfter(game.id, 0);
    resume(resuming);
  }
  uint64_t last = 1;
  while (caller().Get(game.id).state() != v1::GAME_STATE_FINISHED) {
    for (int i = 0; i < 8; ++i) resume(watchers[Below(watchers.size())]);
    for (const v1::GameEvent& event : PlayRandomly(caller(), game, 1)) last = event.version();
  }
  std::vector<WatchRecord> records;
  for (Resuming& resuming : watchers) {
    EXPECT_TRUE(resuming.watcher->AwaitEnd().ok());
    Append(resuming.whole, resuming.watcher->Record());
    EXPECT_EQ(resuming.whole.messages.size(), last);
    records.push_back(std::move(resuming.whole));
  }
  EXPECT_THAT(BrokenPromises(records, last), IsEmpty());
}

TEST_F(WatchTest, ResumesAtEveryVersionOfARunningAndOfAFinishedGame) {
  const TestGame game = NewGame(caller());
  PlayRandomly(caller(), game, 10);
  for (const bool finished : {false, true}) {
    if (finished) PlayRandomly(caller(), game);
    const uint64_t last = caller().Get(game.id).version();
    for (uint64_t after = 0; after <= last; ++after) {
      SCOPED_TRACE(after);
      Watcher watcher(caller().stub(), WatchAfter(game.id, after));
      ASSERT_TRUE(watcher.AwaitMessages(last - after));
      if (finished) {
        EXPECT_TRUE(watcher.AwaitEnd().ok());
        EXPECT_EQ(watcher.Record().messages.size(), last - after);
      }
      EXPECT_THAT(BrokenPromises({watcher.Record()}, last), IsEmpty());
    }
  }
}

TEST_F(WatchTest, AtTheCurrentVersionHeadersComeAtOnceAndTheNextEventLater) {
  const TestGame game = NewGame(caller());
  PlayRandomly(caller(), game, 3);
  Watcher watcher(caller().stub(), WatchAfter(game.id, 4));
  ASSERT_TRUE(watcher.AwaitOpen());
  EXPECT_THAT(watcher.Record().messages, IsEmpty());
  PlayRandomly(caller(), game, 1);
  ASSERT_TRUE(watcher.AwaitMessages(1));
  EXPECT_EQ(watcher.Record().messages[0].event().version(), 5u);
}

TEST_F(WatchTest, AboveTheCurrentVersionIsRefused) {
  const TestGame game = NewGame(caller());
  PlayRandomly(caller(), game, 2);
  for (const uint64_t after : {uint64_t{4}, uint64_t{5}, uint64_t{1} << 63, ~uint64_t{0}}) {
    const auto answer = caller().Call(WatchAfter(game.id, after));
    EXPECT_TRUE(Refused(answer, "VERSION_IN_FUTURE")) << after;
    EXPECT_EQ(answer.current_version(), 3u);
    EXPECT_THAT(answer.response, IsEmpty());
  }
  PlayRandomly(caller(), game);
  const uint64_t last = caller().Get(game.id).version();
  const auto answer = caller().Call(WatchAfter(game.id, last + 1));
  EXPECT_TRUE(Refused(answer, "VERSION_IN_FUTURE"));
  EXPECT_EQ(answer.current_version(), last);
}

TEST_F(WatchTest, FinishedGameSendsSnapshotAndOk) {
  const TestGame game = NewGame(caller());
  PlayRandomly(caller(), game);
  const auto answer = caller().Call(WatchFromNow(game.id));
  ASSERT_TRUE(answer.ok()) << Describe(answer.status);
  ASSERT_EQ(answer.response.size(), 1u);
  EXPECT_TRUE(Same(answer.response[0].snapshot(), caller().Get(game.id)));
}

TEST_F(WatchTest, GameOverAtCreationIsFinishedWithAResultAndItsWatchersGetSnapshotAndOk) {
  const TestGame game = OverAtCreation();
  EXPECT_EQ(game.created.state(), v1::GAME_STATE_FINISHED);
  EXPECT_EQ(game.created.version(), 1u);
  EXPECT_EQ(game.created.result().reason(), v1::RESULT_REASON_COMPLETED);
  EXPECT_EQ(Winner(game.created.result()), "draw");
  EXPECT_EQ(game.created.position().turn(), v1::COLOR_UNSPECIFIED);
  EXPECT_EQ(game.created.position().empty(), 0u);
  const auto answer = caller().Call(WatchFromNow(game.id));
  ASSERT_TRUE(answer.ok()) << Describe(answer.status);
  ASSERT_EQ(answer.response.size(), 1u);
  EXPECT_TRUE(answer.response[0].has_snapshot());
  const auto log = caller().Call(WatchAfter(game.id, 0));
  ASSERT_TRUE(log.ok());
  ASSERT_EQ(log.response.size(), 1u);
  EXPECT_TRUE(log.response[0].event().has_created());
  EXPECT_TRUE(log.response[0].event().has_result());
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 1), "GAME_OVER"));
}

TEST_F(WatchTest, SnapshotIsTheGameAsGetGameShowsIt) {
  const TestGame game = NewOctagon();
  PlayRandomly(caller(), game, 20);
  Watcher watcher(caller().stub(), WatchFromNow(game.id));
  ASSERT_TRUE(watcher.AwaitMessages(1));
  EXPECT_TRUE(Same(watcher.Record().messages[0].snapshot(), caller().Get(game.id)));
}

TEST_F(WatchTest, StalledWatcherSlowsNobodyAndIsToldEverythingLater) {
  const TestGame game = NewOctagon();
  Caller slow(server().address());
  Watcher stalled(slow.stub(), WatchAfter(game.id, 0), /*stalled=*/true);
  Watcher reading(caller().stub(), WatchFromNow(game.id));
  ASSERT_TRUE(reading.AwaitOpen());
  const auto events = PlayRandomly(caller(), game);
  ASSERT_TRUE(reading.AwaitEnd().ok());
  EXPECT_THAT(stalled.Record().messages, IsEmpty());
  stalled.Resume();
  ASSERT_TRUE(stalled.AwaitEnd().ok());
  EXPECT_EQ(stalled.Record().messages.size(), events.size() + 1);
  EXPECT_THAT(BrokenPromises({stalled.Record(), reading.Record()}, events.back().version()), IsEmpty());
}

TEST_F(WatchTest, HeartbeatsBookmarkTheLastVersionWhileIdle) {
  const TestGame game = NewGame(caller());
  v1::WatchGameRequest request = WatchFromNow(game.id);
  request.mutable_heartbeat_interval()->set_seconds(1);
  Watcher watcher(caller().stub(), request);
  ASSERT_TRUE(watcher.AwaitMessages(2));
  PlayRandomly(caller(), game, 1);
  ASSERT_TRUE(watcher.AwaitMessages(4));
  const WatchRecord record = watcher.Record();
  EXPECT_THAT(BrokenPromises(record), IsEmpty());
  EXPECT_TRUE(record.messages[1].has_heartbeat());
  EXPECT_EQ(record.messages[1].heartbeat().version(), 1u);
  EXPECT_TRUE(record.messages[3].has_heartbeat());
  EXPECT_EQ(record.messages[3].heartbeat().version(), 2u);
}

TEST_F(WatchTest, UnknownGameIsRefused) {
  EXPECT_TRUE(Refused(caller().Call(WatchFromNow("no-such-game")), "GAME_NOT_FOUND"));
  EXPECT_TRUE(Refused(caller().Call(WatchAfter("no-such-game", 7)), "GAME_NOT_FOUND"));
}

}  // namespace
}  // namespace reversi::e2e
