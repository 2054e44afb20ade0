// ResignGame, AbortGame and turn limits.
#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <list>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

using google::protobuf::util::TimeUtil;
using testing::IsEmpty;

class LeavingTest : public ServingTest {
 protected:
  static Answer<v1::ResignGameResponse> Resign(const std::string& game_id, const std::string& token) {
    v1::ResignGameRequest request;
    request.set_game_id(game_id);
    request.set_seat_token(token);
    return caller().Call(request);
  }
  static Answer<v1::AbortGameResponse> Abort(const std::string& game_id, const std::string& token) {
    v1::AbortGameRequest request;
    request.set_game_id(game_id);
    request.set_owner_token(token);
    return caller().Call(request);
  }
  static TestGame NewGameFor(uint32_t players) {
    v1::CreateGameRequest request;
    request.mutable_rules()->set_players(players);
    return NewGame(caller(), request);
  }
};

TEST_F(LeavingTest, DiscsOfASeatThatResignsBecomeNeutralAndItsTurnGoesOn) {
  const TestGame game = NewGameFor(4);
  PlayRandomly(caller(), game, 12);
  const v1::Game before = caller().Get(game.id);
  ASSERT_EQ(before.position().turn(), v1::COLOR_BLACK);
  const auto answer = Resign(game.id, game.tokens[0]);
  ASSERT_TRUE(answer.ok()) << Describe(answer.status);
  const v1::GameEvent& event = answer.response.event();
  EXPECT_EQ(event.resigned().color(), v1::COLOR_BLACK);
  EXPECT_EQ(event.version(), before.version() + 1);
  EXPECT_EQ(event.position().discs(0), 0u);
  EXPECT_EQ(event.position().neutral(), before.position().neutral() + before.position().discs(0));
  EXPECT_EQ(event.position().turn(), v1::COLOR_WHITE);
  EXPECT_EQ(event.position().ply(), 12u);
  const v1::Game after = caller().Get(game.id);
  EXPECT_TRUE(after.seats(0).out());
  EXPECT_EQ(after.moves_size(), 12);
  // One that is not on turn leaves the turn where it is.
  const auto green = Resign(game.id, game.tokens[3]);
  ASSERT_TRUE(green.ok());
  EXPECT_EQ(green.response.event().position().turn(), v1::COLOR_WHITE);
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 0), "NOT_YOUR_TURN"));
}

TEST_F(LeavingTest, RepeatedResignationIsAnsweredWithTheSameEventAlsoAfterTheEnd) {
  const TestGame game = NewGameFor(3);
  const auto first = Resign(game.id, game.tokens[1]);
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(Same(Resign(game.id, game.tokens[1]).response, first.response));
  PlayRandomly(caller(), game, 5);
  EXPECT_TRUE(Same(Resign(game.id, game.tokens[1]).response, first.response));
  PlayRandomly(caller(), game);
  ASSERT_EQ(caller().Get(game.id).state(), v1::GAME_STATE_FINISHED);
  EXPECT_TRUE(Same(Resign(game.id, game.tokens[1]).response, first.response));
  EXPECT_TRUE(Refused(Resign(game.id, game.tokens[0]), "GAME_OVER"));
  EXPECT_TRUE(Refused(Resign(game.id, "nobody's token"), "BAD_TOKEN"));
  EXPECT_TRUE(Refused(Resign(game.id, game.owner), "BAD_TOKEN"));
  EXPECT_TRUE(Refused(Resign(game.id, ""), "MALFORMED_REQUEST", "seat_token"));
}

// Every order in which all but one can leave, with no, few and many moves between; what is left is always played by
// seats that are in, and the one that stays wins.
TEST_F(LeavingTest, AllOrdersOfLeavingEndWithTheLastSeatAsWinner) {
  for (const uint32_t players : {3u, 4u}) {
    std::vector<int> order(players);
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    do {
      for (const int between : {0, 1, 7}) {
        SCOPED_TRACE(testing::PrintToString(order) + " between " + std::to_string(between));
        const TestGame game = NewGameFor(players);
        for (size_t i = 0; i + 1 < order.size(); ++i) {
          PlayRandomly(caller(), game, between);
          const auto answer = Resign(game.id, game.tokens[order[i]]);
          ASSERT_TRUE(answer.ok()) << Describe(answer.status);
          EXPECT_NE(answer.response.event().position().turn(), order[i] + 1);
        }
        const v1::Game end = caller().Get(game.id);
        ASSERT_EQ(end.state(), v1::GAME_STATE_FINISHED);
        EXPECT_EQ(end.result().reason(), v1::RESULT_REASON_RESIGNATION);
        EXPECT_EQ(end.result().winner(), order.back() + 1);
        EXPECT_TRUE(Refused(Resign(game.id, game.tokens[order.back()]), "GAME_OVER"));
        const auto log = caller().Call(WatchAfter(game.id, 0));
        WatchRecord record{WatchAfter(game.id, 0), log.response, log.status};
        EXPECT_THAT(BrokenPromises({record}, end.version()), IsEmpty());
        if (HasFailure()) return;
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST_F(LeavingTest, GamesOfEverySystemGoOnAfterRandomLeavings) {
  for (const v1::Variant variant : {v1::VARIANT_MULTIPLAYER, v1::VARIANT_ROLIT, v1::VARIANT_ROYAL}) {
    for (int round = 0; round < 8; ++round) {
      v1::CreateGameRequest request;
      request.mutable_rules()->set_variant(variant);
      const uint32_t players = variant == v1::VARIANT_ROYAL ? 3 + static_cast<uint32_t>(Below(4)) : 4;
      request.mutable_rules()->set_players(players);
      request.mutable_rules()->set_sides(variant == v1::VARIANT_ROYAL && players % 2 == 0);
      const TestGame game = NewGame(caller(), request);
      Watcher watcher(caller().stub(), WatchAfter(game.id, 0));
      for (int leaver = 0; leaver < 2; ++leaver) {
        PlayRandomly(caller(), game, static_cast<int>(Below(20)));
        const auto answer = Resign(game.id, game.tokens[Below(game.tokens.size())]);
        if (!answer.ok()) {
          EXPECT_TRUE(Refused(answer, "GAME_OVER"));
        }
      }
      PlayRandomly(caller(), game);
      ASSERT_TRUE(watcher.AwaitEnd().ok());
      const v1::Game end = caller().Get(game.id);
      EXPECT_THAT(BrokenPromises({watcher.Record()}, end.version()), IsEmpty()) << end.rules().ShortDebugString();
      if (end.result().has_winner()) {
        EXPECT_FALSE(end.seats(end.result().winner() - 1).out());
      }
    }
  }
}

TEST_F(LeavingTest, SideThatIsLeftAloneWins) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_variant(v1::VARIANT_ROYAL);
  request.mutable_rules()->set_players(4);
  request.mutable_rules()->set_sides(true);
  const TestGame game = NewGame(caller(), request);
  ASSERT_TRUE(Resign(game.id, game.tokens[0]).ok());
  EXPECT_EQ(caller().Get(game.id).state(), v1::GAME_STATE_ACTIVE);
  ASSERT_TRUE(Resign(game.id, game.tokens[2]).ok());
  const v1::Game end = caller().Get(game.id);
  ASSERT_EQ(end.state(), v1::GAME_STATE_FINISHED);
  EXPECT_EQ(end.result().winning_side(), 2u);
  EXPECT_EQ(end.result().reason(), v1::RESULT_REASON_RESIGNATION);
}

TEST_F(LeavingTest, AbortEndsTheGameWithoutAWinnerAndIsRepeatable) {
  const TestGame game = NewGameFor(4);
  PlayRandomly(caller(), game, 6);
  Watcher watcher(caller().stub(), WatchFromNow(game.id));
  ASSERT_TRUE(watcher.AwaitMessages(1));
  EXPECT_TRUE(Refused(Abort(game.id, game.tokens[0]), "BAD_TOKEN"));
  EXPECT_TRUE(Refused(Abort(game.id, "nobody's"), "BAD_TOKEN"));
  EXPECT_TRUE(Refused(Abort(game.id, ""), "MALFORMED_REQUEST", "owner_token"));
  EXPECT_TRUE(Refused(Abort("no-such-game", "x"), "GAME_NOT_FOUND"));
  const auto first = Abort(game.id, game.owner);
  ASSERT_TRUE(first.ok()) << Describe(first.status);
  const v1::GameEvent& event = first.response.event();
  EXPECT_TRUE(event.has_aborted());
  EXPECT_EQ(event.state(), v1::GAME_STATE_FINISHED);
  EXPECT_EQ(event.result().reason(), v1::RESULT_REASON_ABORTED);
  EXPECT_EQ(Winner(event.result()), "nobody");
  EXPECT_TRUE(Same(Abort(game.id, game.owner).response, first.response));
  EXPECT_TRUE(watcher.AwaitEnd().ok());
  EXPECT_THAT(BrokenPromises({watcher.Record()}, event.version()), IsEmpty());
  EXPECT_TRUE(Refused(Resign(game.id, game.tokens[0]), "GAME_OVER"));
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 0), "GAME_OVER"));
}

TEST_F(LeavingTest, WaitingGamesCanBeAbortedAndCompletedOnesCannot) {
  v1::CreateGameRequest request;
  for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(v1::SEAT_KIND_OPEN);
  const TestGame waiting = NewGame(caller(), request);
  EXPECT_TRUE(Abort(waiting.id, waiting.owner).ok());
  EXPECT_EQ(caller().Get(waiting.id).state(), v1::GAME_STATE_FINISHED);
  const TestGame completed = NewGameFor(3);
  PlayRandomly(caller(), completed);
  EXPECT_TRUE(Refused(Abort(completed.id, completed.owner), "GAME_OVER"));
}

// Both actions at once, so that the seconds are waited for only once; the tests wait for events.
TEST_F(LeavingTest, SeatsWhoseTimeRunsOutLeaveOrAreMovedFor) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_players(3);
  request.mutable_turn_limit()->set_seconds(1);
  const TestGame leave = NewGame(caller(), request);
  request.set_timeout_action(v1::TIMEOUT_ACTION_PLAY);
  const TestGame play = NewGame(caller(), request);
  EXPECT_TRUE(leave.created.has_turn_deadline());
  Watcher leaving(caller().stub(), WatchAfter(leave.id, 0));
  Watcher playing(caller().stub(), WatchAfter(play.id, 0));
  ASSERT_TRUE(leaving.AwaitVersion(2));
  const auto late = Resign(leave.id, leave.tokens[0]);
  ASSERT_TRUE(late.ok()) << Describe(late.status);
  EXPECT_EQ(late.response.event().timed_out().color(), v1::COLOR_BLACK);
  EXPECT_TRUE(Refused(caller().Move(leave.id, leave.tokens[0], "a1", 0), "NOT_YOUR_TURN"));
  ASSERT_TRUE(leaving.AwaitEnd().ok());
  ASSERT_TRUE(playing.AwaitVersion(3));
  EXPECT_TRUE(Abort(play.id, play.owner).ok());

  const WatchRecord left = leaving.Record();
  EXPECT_THAT(BrokenPromises({left}, 3), IsEmpty());
  ASSERT_EQ(left.messages.size(), 3u);
  for (size_t i = 1; i < 3; ++i) {
    const v1::GameEvent& before = left.messages[i - 1].event();
    const v1::GameEvent& event = left.messages[i].event();
    EXPECT_EQ(event.timed_out().color(), static_cast<int>(i));
    EXPECT_EQ(before.turn_deadline(), before.time() + TimeUtil::SecondsToDuration(1));
    EXPECT_GE(event.time(), before.turn_deadline());
  }
  const v1::Result& result = left.messages[2].event().result();
  EXPECT_EQ(result.reason(), v1::RESULT_REASON_TIMEOUT);
  EXPECT_EQ(result.winner(), v1::COLOR_RED);
  EXPECT_FALSE(left.messages[2].event().has_turn_deadline());

  const WatchRecord played = playing.Record();
  EXPECT_THAT(BrokenPromises(played), IsEmpty());
  for (size_t i = 1; i < 3; ++i) {
    EXPECT_TRUE(played.messages[i].event().moved().on_timeout());
    EXPECT_EQ(played.messages[i].event().moved().color(), static_cast<int>(i));
  }
}

TEST_F(LeavingTest, DeadlinesAreShownWithEveryTurnAndOnlyWithALimit) {
  v1::CreateGameRequest request;
  request.mutable_turn_limit()->set_seconds(3600);
  const TestGame game = NewGame(caller(), request);
  EXPECT_EQ(game.created.turn_deadline(), game.created.create_time() + TimeUtil::HoursToDuration(1));
  for (const v1::GameEvent& event : PlayRandomly(caller(), game, 5)) {
    EXPECT_FALSE(event.moved().on_timeout());
    EXPECT_EQ(event.turn_deadline(), event.time() + TimeUtil::HoursToDuration(1));
  }
  const v1::Game before = caller().Get(game.id);
  // Who leaves out of turn gives the one on turn no new time; who leaves on turn does so for the next.
  const size_t turn = static_cast<size_t>(before.position().turn()) - 1;
  const auto other = Resign(game.id, game.tokens[(turn + 2) % 4]);
  EXPECT_EQ(other.response.event().turn_deadline(), before.turn_deadline());
  const auto own = Resign(game.id, game.tokens[turn]);
  EXPECT_EQ(own.response.event().turn_deadline(), own.response.event().time() + TimeUtil::HoursToDuration(1));
  for (const v1::GameEvent& event : PlayRandomly(caller(), NewGameFor(3), 3)) EXPECT_FALSE(event.has_turn_deadline());
}

}  // namespace
}  // namespace reversi::e2e
