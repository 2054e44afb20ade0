// Requests that are wrong in two ways are refused for the one that ranks first.
#include <gmock/gmock.h>

#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

class PrecedenceTest : public ServingTest {
 protected:
  static v1::JoinGameRequest JoinOf(const std::string& game_id, v1::Color color = v1::COLOR_UNSPECIFIED) {
    v1::JoinGameRequest join;
    join.set_game_id(game_id);
    join.set_color(color);
    return join;
  }
  static TestGame Waiting() {
    v1::CreateGameRequest request;
    for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(i == 3 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
    return NewGame(caller(), request);
  }
  TestGame Finished() {
    const TestGame game = NewGame(caller());
    PlayRandomly(caller(), game);
    return game;
  }
  std::string FirstMove(const TestGame& game) { return caller().Get(game.id).position().legal_moves(0); }
};

TEST_F(PrecedenceTest, MalformedBeforeUnsupportedBeforeBadSquareInCreate) {
  v1::CreateGameRequest request;
  request.mutable_rules()->add_blocked_squares("A1");
  EXPECT_TRUE(Refused(caller().Call(request), "BAD_SQUARE", "rules.blocked_squares[0]"));
  request.mutable_rules()->set_players(2);
  EXPECT_TRUE(Refused(caller().Call(request), "UNSUPPORTED_RULES", "rules.players"));
  request.mutable_turn_limit()->set_seconds(-1);
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "turn_limit"));
  request.clear_turn_limit();
  request.set_game_id("no");
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "game_id"));
  request.clear_game_id();
  request.set_request_id("short");
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "request_id"));
  request.clear_request_id();
  request.mutable_rules()->set_objective(static_cast<v1::Objective>(9));
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "rules.objective"));
  // Seats that do not fit a number of players that is not offered: the rules cannot tell how many would fit.
  request.clear_rules();
  request.add_opening_moves("D3");
  EXPECT_TRUE(Refused(caller().Call(request), "BAD_SQUARE", "opening_moves[0]"));
  request.mutable_rules()->set_sides(true);
  EXPECT_TRUE(Refused(caller().Call(request), "UNSUPPORTED_RULES", "rules.sides"));
}

TEST_F(PrecedenceTest, BadSquareBeforeGameIdTakenBeforeIllegalMoveInCreate) {
  v1::CreateGameRequest request;
  request.set_game_id("taken-once");
  NewGame(caller(), request);
  request.add_opening_moves("a1");
  EXPECT_TRUE(Refused(caller().Call(request), "GAME_ID_TAKEN"));
  request.add_opening_moves("a 1");
  EXPECT_TRUE(Refused(caller().Call(request), "BAD_SQUARE", "opening_moves[1]"));
}

TEST_F(PrecedenceTest, RetryBeforeGameIdTakenAndAnotherBodyBeforeIt) {
  v1::CreateGameRequest request;
  request.set_game_id("taken-by-this-request");
  request.set_request_id("request-that-took-it");
  const TestGame game = NewGame(caller(), request);
  EXPECT_EQ(NewGame(caller(), request).id, game.id);
  request.mutable_rules()->set_players(3);
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST"));
  request.set_request_id("request-that-comes-late");
  EXPECT_TRUE(Refused(caller().Call(request), "GAME_ID_TAKEN"));
}

TEST_F(PrecedenceTest, MalformedBeforeBadSquareBeforeNotFoundInMoves) {
  EXPECT_TRUE(Refused(caller().Move("no-such-game", "", "D3", 1), "MALFORMED_REQUEST", "seat_token"));
  EXPECT_TRUE(Refused(caller().Move("NO", "x", "D3", 1), "MALFORMED_REQUEST", "game_id"));
  EXPECT_TRUE(Refused(caller().Move("no-such-game", "x", "D3", 1), "BAD_SQUARE", "move"));
  EXPECT_TRUE(Refused(caller().Move("no-such-game", "x", "d3", 1), "GAME_NOT_FOUND"));
  EXPECT_TRUE(Refused(caller().Move("no-such-game", "x", std::string(65, 'd'), 1), "MALFORMED_REQUEST", "move"));
}

TEST_F(PrecedenceTest, BadSquareBeforeBadTokenBeforeEverythingThatTheGameKnows) {
  const TestGame finished = Finished(), waiting = Waiting(), active = NewGame(caller());
  for (const TestGame& game : {finished, waiting, active}) {
    EXPECT_TRUE(Refused(caller().Move(game.id, "wrong", "D3", 99), "BAD_SQUARE", "move"));
    EXPECT_TRUE(Refused(caller().Move(game.id, "wrong", "a1", 99), "BAD_TOKEN"));
    v1::ResignGameRequest resign;
    resign.set_game_id(game.id);
    resign.set_seat_token("wrong");
    EXPECT_TRUE(Refused(caller().Call(resign), "BAD_TOKEN"));
    v1::AbortGameRequest abort;
    abort.set_game_id(game.id);
    abort.set_owner_token(game.tokens[0]);
    EXPECT_TRUE(Refused(caller().Call(abort), "BAD_TOKEN"));
  }
}

TEST_F(PrecedenceTest, RetryBeforeGameOverBeforeStaleVersion) {
  const TestGame game = NewGame(caller());
  const auto events = PlayRandomly(caller(), game);
  const v1::GameEvent& last = events.back();
  const auto again =
      caller().Move(game.id, game.TokenOf(last.moved().color()), last.moved().move(), last.version() - 1);
  ASSERT_TRUE(again.ok()) << Describe(again.status);
  EXPECT_TRUE(Same(again.response.event(), last));
  for (const v1::GameEvent& event : events) {
    const auto retry =
        caller().Move(game.id, game.TokenOf(event.moved().color()), event.moved().move(), event.version() - 1);
    ASSERT_TRUE(retry.ok()) << Describe(retry.status);
    EXPECT_TRUE(Same(retry.response.event(), event));
  }
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 3), "GAME_OVER"));
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 9999), "GAME_OVER"));
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 0), "GAME_OVER"));
}

TEST_F(PrecedenceTest, GameOverBeforeSeatTakenAndColourBeforeGameOver) {
  const TestGame game = Finished();
  EXPECT_TRUE(Refused(caller().Call(JoinOf(game.id)), "GAME_OVER"));
  EXPECT_TRUE(Refused(caller().Call(JoinOf(game.id, v1::COLOR_RED)), "GAME_OVER"));
  EXPECT_TRUE(Refused(caller().Call(JoinOf(game.id, v1::COLOR_YELLOW)), "MALFORMED_REQUEST", "color"));
  const TestGame full = NewGame(caller());
  EXPECT_TRUE(Refused(caller().Call(JoinOf(full.id)), "SEAT_TAKEN"));
  EXPECT_TRUE(Refused(caller().Call(JoinOf(full.id, v1::COLOR_YELLOW)), "MALFORMED_REQUEST", "color"));
  // It needs the game to know: a game that is not there ranks first.
  EXPECT_TRUE(Refused(caller().Call(JoinOf("no-such-game", v1::COLOR_YELLOW)), "GAME_NOT_FOUND"));
}

TEST_F(PrecedenceTest, RetryBeforeStaleVersionWhateverHappenedSince) {
  const TestGame game = NewGame(caller());
  const auto events = PlayRandomly(caller(), game, 10);
  const auto retry = caller().Move(game.id, game.tokens[0], events[0].moved().move(), 1);
  ASSERT_TRUE(retry.ok()) << Describe(retry.status);
  EXPECT_TRUE(Same(retry.response.event(), events[0]));
  // Another seat with the same move and version, and the same seat with another move, are no retries.
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[1], events[0].moved().move(), 1), "STALE_VERSION"));
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], "a1", 1), "STALE_VERSION"));
  // Without a version there is no retry.
  EXPECT_FALSE(caller().Move(game.id, game.tokens[0], events[0].moved().move(), 0).ok());
}

TEST_F(PrecedenceTest, StaleVersionBeforeNotStartedBeforeNotYourTurnBeforeIllegalMove) {
  const TestGame waiting = Waiting();
  EXPECT_TRUE(Refused(caller().Move(waiting.id, waiting.tokens[1], "a1", 7), "STALE_VERSION"));
  EXPECT_TRUE(Refused(caller().Move(waiting.id, waiting.tokens[1], "a1", 1), "GAME_NOT_STARTED"));
  EXPECT_TRUE(Refused(caller().Move(waiting.id, waiting.tokens[0], "a1", 0), "GAME_NOT_STARTED"));
  const TestGame active = NewGame(caller());
  EXPECT_TRUE(Refused(caller().Move(active.id, active.tokens[1], "a1", 7), "STALE_VERSION"));
  EXPECT_TRUE(Refused(caller().Move(active.id, active.tokens[0], "a1", 7), "STALE_VERSION"));
  EXPECT_TRUE(Refused(caller().Move(active.id, active.tokens[1], "a1", 1), "NOT_YOUR_TURN"));
  EXPECT_TRUE(Refused(caller().Move(active.id, active.tokens[0], "a1", 1), "ILLEGAL_MOVE"));
}

TEST_F(PrecedenceTest, MalformedBeforeNotFoundBeforeVersionInFutureInWatches) {
  v1::WatchGameRequest request = WatchAfter("no-such-game", 99);
  EXPECT_TRUE(Refused(caller().Call(request), "GAME_NOT_FOUND"));
  request.mutable_heartbeat_interval()->set_seconds(0);
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "heartbeat_interval"));
}

// Limits of the server, with a server of their own.
class LimitPrecedenceTest : public PrecedenceTest {
 protected:
  static void SetUpTestSuite() {
    StartServer({.flags = {"--max_games=2", "--max_watchers_per_game=1", "--max_watchers=2"}});
  }
};

TEST_F(LimitPrecedenceTest, TooManyRanksLast) {
  v1::CreateGameRequest request;
  request.set_game_id("first-of-two");
  request.set_request_id("the-first-request-of-two");
  const TestGame first = NewGame(caller(), request);
  const TestGame second = NewGame(caller());
  v1::CreateGameRequest third;
  EXPECT_TRUE(Refused(caller().Call(third), "TOO_MANY_GAMES"));
  EXPECT_EQ(NewGame(caller(), request).id, first.id);
  third.set_game_id(first.id);
  EXPECT_TRUE(Refused(caller().Call(third), "GAME_ID_TAKEN"));
  third.clear_game_id();
  third.add_opening_moves("a1");
  EXPECT_TRUE(Refused(caller().Call(third), "ILLEGAL_MOVE", "opening_moves[0]"));
  third.add_opening_moves("A1");
  EXPECT_TRUE(Refused(caller().Call(third), "BAD_SQUARE", "opening_moves[1]"));

  auto watcher = std::make_unique<Watcher>(caller().stub(), WatchFromNow(first.id));
  ASSERT_TRUE(watcher->AwaitMessages(1));
  EXPECT_TRUE(Refused(caller().Call(WatchFromNow(first.id)), "TOO_MANY_WATCHERS"));
  EXPECT_TRUE(Refused(caller().Call(WatchAfter(first.id, 99)), "VERSION_IN_FUTURE"));
  Watcher other(caller().stub(), WatchFromNow(second.id));
  ASSERT_TRUE(other.AwaitMessages(1));
  // Others are unharmed, and a place that is given up is free again.
  EXPECT_TRUE(caller().Move(first.id, first.tokens[0], FirstMove(first), 1).ok());
  EXPECT_TRUE(watcher->AwaitVersion(2));
  watcher = nullptr;
  for (;;) {
    Watcher again(caller().stub(), WatchFromNow(first.id));
    if (again.AwaitMessages(1)) break;
    ASSERT_TRUE(Refused(again.AwaitEnd(), "TOO_MANY_WATCHERS"));
  }
}

class RateTest : public PrecedenceTest {
 protected:
  static void SetUpTestSuite() { StartServer({.flags = {"--rate_limit=0.001", "--rate_burst=3"}}); }
};

TEST_F(RateTest, RateLimitedRanksFirst) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Refused(caller().Move("NO", "", "", 0), "MALFORMED_REQUEST"));
  EXPECT_TRUE(Refused(caller().Move("NO", "", "", 0), "RATE_LIMITED"));
  EXPECT_TRUE(Refused(caller().Call(v1::CreateGameRequest()), "RATE_LIMITED"));
  EXPECT_TRUE(Refused(caller().Call(WatchFromNow("NO")), "RATE_LIMITED"));
  EXPECT_TRUE(Refused(caller().Call(v1::ListGamesRequest()), "RATE_LIMITED"));
  EXPECT_EQ(caller().Health(), 1);
}

// Games that nobody joins, touches or needs any more; every wait is for an event or an answer.
class RetentionTest : public ServingTest {
 protected:
  static void SetUpTestSuite() {
    StartServer({.flags = {"--keep_finished=1s", "--keep_waiting=1s", "--keep_idle=1s"}});
  }
  void AwaitGone(const std::string& game_id) {
    v1::GetGameRequest get;
    get.set_game_id(game_id);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (caller().Call(get).ok() && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_TRUE(Refused(caller().Call(get), "GAME_NOT_FOUND"));
  }
};

TEST_F(RetentionTest, GamesExpireWithAnEventForTheirWatchersAndAreGoneAfterwards) {
  v1::CreateGameRequest request;
  const TestGame idle = NewGame(caller(), request);
  EXPECT_TRUE(idle.created.has_expire_time());
  request.set_request_id("made-twice-" + std::to_string(chance()()));
  for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(v1::SEAT_KIND_OPEN);
  const TestGame waiting = NewGame(caller(), request);
  Watcher idle_watcher(caller().stub(), WatchAfter(idle.id, 0));
  Watcher waiting_watcher(caller().stub(), WatchFromNow(waiting.id));
  for (Watcher* watcher : {&idle_watcher, &waiting_watcher}) {
    ASSERT_TRUE(watcher->AwaitEnd().ok());
    const v1::GameEvent event = watcher->Record().messages.back().event();
    EXPECT_TRUE(event.has_expired());
    EXPECT_EQ(event.version(), 2u);
    EXPECT_EQ(event.state(), v1::GAME_STATE_FINISHED);
    EXPECT_EQ(event.result().reason(), v1::RESULT_REASON_EXPIRED);
    EXPECT_EQ(event.result().outcome_case(), v1::Result::OUTCOME_NOT_SET);
  }
  AwaitGone(idle.id);
  AwaitGone(waiting.id);
  EXPECT_EQ(caller().Call(v1::ListGamesRequest()).response.games_size(), 0);
  // Its request_id lived as long as the game: it makes a game anew, under the same id.
  const TestGame again = NewGame(caller(), request);
  EXPECT_EQ(again.id, waiting.id);
  EXPECT_EQ(again.created.version(), 1u);
}

TEST_F(RetentionTest, FinishedGameLastsAsLongAsItsSlowestWatcher) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_board(v1::BOARD_10X10);
  const TestGame game = NewGame(caller(), request);
  Caller slow(server().address());
  Watcher stalled(slow.stub(), WatchAfter(game.id, 0), /*stalled=*/true);
  const auto events = PlayRandomly(caller(), game);
  ASSERT_GT(events.size(), 20u);
  const v1::Game end = caller().Get(game.id);
  EXPECT_TRUE(end.has_expire_time());
  AwaitGone(game.id);
  stalled.Resume();
  EXPECT_TRUE(stalled.AwaitEnd().ok());
  EXPECT_EQ(stalled.version(), events.back().version());
}

}  // namespace
}  // namespace reversi::e2e
