// Many callers at once for one thing: a version, a seat, an id.
#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <set>
#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

constexpr int kCallers = 100;

class RaceTest : public ServingTest {
 protected:
  static void SetUpTestSuite() {
    ServingTest::SetUpTestSuite();
    for (int i = 0; i < 10; ++i) connections().push_back(std::make_unique<Caller>(server().address()));
  }
  static void TearDownTestSuite() {
    connections().clear();
    ServingTest::TearDownTestSuite();
  }
  static std::vector<std::unique_ptr<Caller>>& connections() {
    static std::vector<std::unique_ptr<Caller>> all;
    return all;
  }
  // Runs call(i, connection) for i = 0 … kCallers - 1, all starting at the same moment.
  static void AllAtOnce(const std::function<void(int, Caller&)>& call) {
    std::latch start(kCallers);
    std::vector<std::jthread> threads;
    for (int i = 0; i < kCallers; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        call(i, *connections()[i % connections().size()]);
      });
    }
  }
};

TEST_F(RaceTest, OneVersionGoesToExactlyOneMoveAndItsRetriesAreAnsweredAlike) {
  for (int round = 0; round < 10; ++round) {
    const TestGame game = NewGame(caller());
    PlayRandomly(caller(), game, static_cast<int>(Below(40)));
    const v1::Game before = caller().Get(game.id);
    const v1::Position& position = before.position();
    std::vector<Answer<v1::SubmitMoveResponse>> answers(kCallers);
    std::vector<std::string> moves(kCallers);
    for (std::string& move : moves) move = position.legal_moves(static_cast<int>(Below(position.legal_moves_size())));
    AllAtOnce([&](int i, Caller& by) {
      answers[i] = by.Move(game.id, game.TokenOf(position.turn()), moves[i], before.version());
    });
    const v1::Game after = caller().Get(game.id);
    ASSERT_EQ(after.version(), before.version() + 1);
    const std::string played = after.moves(after.moves_size() - 1).move();
    const v1::GameEvent* event = nullptr;
    for (int i = 0; i < kCallers; ++i) {
      if (moves[i] == played) {
        ASSERT_TRUE(answers[i].ok()) << Describe(answers[i].status);
        if (event == nullptr) event = &answers[i].response.event();
        EXPECT_TRUE(Same(*event, answers[i].response.event()));
      } else {
        EXPECT_TRUE(Refused(answers[i], "STALE_VERSION"));
        EXPECT_EQ(answers[i].current_version(), after.version());
      }
    }
  }
}

TEST_F(RaceTest, SeatsThatAreNotOnTurnNeverGetTheVersion) {
  const TestGame game = NewGame(caller());
  const v1::Position position = game.created.position();
  std::vector<Answer<v1::SubmitMoveResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) {
    answers[i] = by.Move(game.id, game.tokens[i % game.tokens.size()], position.legal_moves(0), 1);
  });
  for (int i = 0; i < kCallers; ++i) {
    if (i % game.tokens.size() == 0) {
      EXPECT_TRUE(answers[i].ok()) << Describe(answers[i].status);
    } else if (answers[i].error.reason == "NOT_YOUR_TURN") {
      EXPECT_TRUE(Refused(answers[i], "NOT_YOUR_TURN"));
    } else {
      EXPECT_TRUE(Refused(answers[i], "STALE_VERSION"));
    }
  }
  EXPECT_EQ(caller().Get(game.id).version(), 2u);
}

// Without a version every call stands for itself: the callers play one after the other as far as it is their turn.
TEST_F(RaceTest, WithoutAVersionEveryAcceptedCallIsAnEventOfItsOwn) {
  const TestGame game = NewGame(caller());
  std::vector<Answer<v1::SubmitMoveResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) {
    answers[i] = by.Move(game.id, game.tokens[0], game.created.position().legal_moves(0), 0);
  });
  std::set<uint64_t> versions;
  for (const auto& answer : answers) {
    if (answer.ok()) {
      EXPECT_TRUE(versions.insert(answer.response.event().version()).second);
    } else {
      EXPECT_TRUE(Refused(answer, "NOT_YOUR_TURN"));
    }
  }
  EXPECT_EQ(versions, std::set<uint64_t>{2});
}

TEST_F(RaceTest, OneRequestIdMakesOneGame) {
  v1::CreateGameRequest request;
  request.set_request_id("one-request-of-many-" + std::to_string(chance()()));
  std::vector<Answer<v1::CreateGameResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) { answers[i] = by.Call(request); });
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.ok()) << Describe(answer.status);
    EXPECT_TRUE(Same(answer.response, answers[0].response));
  }
}

TEST_F(RaceTest, OneGameIdGoesToOneCaller) {
  v1::CreateGameRequest request;
  request.set_game_id("wanted-by-many");
  std::vector<Answer<v1::CreateGameResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) { answers[i] = by.Call(request); });
  int made = 0;
  for (const auto& answer : answers) {
    if (answer.ok()) {
      ++made;
    } else {
      EXPECT_TRUE(Refused(answer, "GAME_ID_TAKEN"));
    }
  }
  EXPECT_EQ(made, 1);
}

class JoinRaceTest : public RaceTest {};

TEST_F(JoinRaceTest, TheLastSeatGoesToExactlyOne) {
  v1::CreateGameRequest request;
  for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(i == 2 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
  const TestGame game = NewGame(caller(), request);
  ASSERT_EQ(game.created.state(), v1::GAME_STATE_WAITING);
  std::vector<Answer<v1::JoinGameResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) {
    v1::JoinGameRequest join;
    join.set_game_id(game.id);
    if (i % 2 == 0) join.set_request_id("this-is-caller-number-" + std::to_string(i));
    if (i % 3 == 0) join.set_color(v1::COLOR_RED);
    answers[i] = by.Call(join);
  });
  int joined = 0;
  for (const auto& answer : answers) {
    if (answer.ok()) {
      ++joined;
      EXPECT_EQ(answer.response.color(), v1::COLOR_RED);
      EXPECT_FALSE(answer.response.seat_token().empty());
      EXPECT_EQ(answer.response.game().state(), v1::GAME_STATE_ACTIVE);
    } else {
      EXPECT_TRUE(Refused(answer, "SEAT_TAKEN"));
    }
  }
  EXPECT_EQ(joined, 1);
  const v1::Game now = caller().Get(game.id);
  EXPECT_EQ(now.version(), 2u);
  EXPECT_EQ(now.state(), v1::GAME_STATE_ACTIVE);
}

TEST_F(JoinRaceTest, RetriesOfOneJoinGetOneSeat) {
  v1::CreateGameRequest request;
  for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(v1::SEAT_KIND_OPEN);
  const TestGame game = NewGame(caller(), request);
  v1::JoinGameRequest join;
  join.set_game_id(game.id);
  join.set_request_id("the-same-request-again");
  std::vector<Answer<v1::JoinGameResponse>> answers(kCallers);
  AllAtOnce([&](int i, Caller& by) { answers[i] = by.Call(join); });
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.ok()) << Describe(answer.status);
    EXPECT_EQ(answer.response.color(), v1::COLOR_BLACK);
    EXPECT_EQ(answer.response.seat_token(), answers[0].response.seat_token());
  }
  EXPECT_EQ(caller().Get(game.id).version(), 2u);
}

}  // namespace
}  // namespace reversi::e2e
