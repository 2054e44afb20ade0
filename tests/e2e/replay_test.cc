// The golden games, played through the API with a watcher at the table.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "tests/e2e/followed_game.h"
#include "tests/e2e/serving_test.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/wire_words.h"
#include "tests/engine/golden.h"

namespace reversi::e2e {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;

class ReplayTest : public ServingTest {
 protected:
  void Replay(const twin::GoldenGame& golden);
  void ReplayAll(const std::string& variant);

 private:
  void CheckPosition(const twin::GoldenGame& golden, const v1::Position& position);
  void CheckEnd(const twin::GoldenGame& golden, const v1::Game& game);
};

void ReplayTest::CheckPosition(const twin::GoldenGame& golden, const v1::Position& position) {
  const size_t ply = position.ply();
  if (ply < golden.moves.size()) {
    EXPECT_EQ(position.legal_moves_size(), golden.legal_counts[ply]);
    EXPECT_EQ(Letter(position.turn()), golden.turns[ply]);
  }
  for (const twin::Look& look : golden.looks) {
    if (look.ply != static_cast<int>(ply)) continue;
    EXPECT_EQ(Diagram(position), look.diagram);
    EXPECT_EQ(position.turn(), ColorNamed(look.turn));
    EXPECT_THAT(std::set<std::string>(position.legal_moves().begin(), position.legal_moves().end()),
                ElementsAreArray(std::set<std::string>(look.legal.begin(), look.legal.end())));
    EXPECT_THAT(position.discs(), ElementsAreArray(look.discs));
  }
}

void ReplayTest::CheckEnd(const twin::GoldenGame& golden, const v1::Game& game) {
  ASSERT_EQ(game.state(), v1::GAME_STATE_FINISHED);
  EXPECT_EQ(game.version(), golden.moves.size() + 1);
  EXPECT_EQ(Diagram(game.position()), golden.final_diagram);
  EXPECT_THAT(WrongIn(game.position()), IsEmpty());
  EXPECT_EQ(game.position().ply(), golden.moves.size());
  const v1::Result& result = game.result();
  EXPECT_EQ(result.reason(), v1::RESULT_REASON_COMPLETED);
  EXPECT_EQ(Winner(result), golden.winner);
  EXPECT_THAT(result.discs(), ElementsAreArray(golden.discs));
  if (golden.neutral >= 0) {
    EXPECT_EQ(result.neutral(), static_cast<uint32_t>(golden.neutral));
  }
  if (golden.empty >= 0) {
    EXPECT_EQ(result.empty(), static_cast<uint32_t>(golden.empty));
  }
  std::vector<double> score;
  if (golden.rules.variant == "standard" && !golden.rules.fewest) {
    const double black = golden.discs[0], white = golden.discs[1], empty = result.empty();
    score = black > white   ? std::vector{black + empty, white}
            : white > black ? std::vector{black, white + empty}
                            : std::vector{black + empty / 2, white + empty / 2};
  }
  EXPECT_THAT(result.wof_score(), ElementsAreArray(score));
}

void ReplayTest::Replay(const twin::GoldenGame& golden) {
  SCOPED_TRACE(golden.id);
  v1::CreateGameRequest request;
  *request.mutable_rules() = ToRules(golden.rules);
  const TestGame game = NewGame(caller(), request);
  ASSERT_EQ(game.tokens.size(), static_cast<size_t>(golden.rules.players));
  ASSERT_EQ(game.created.state(), v1::GAME_STATE_ACTIVE);
  Watcher from_start(caller().stub(), WatchAfter(game.id, 0));
  Watcher from_snapshot(caller().stub(), WatchFromNow(game.id));
  ASSERT_TRUE(from_snapshot.AwaitOpen());
  CheckPosition(golden, game.created.position());
  v1::Color turn = game.created.position().turn();
  std::vector<v1::GameEvent> answers;
  for (size_t i = 0; i < golden.moves.size(); ++i) {
    SCOPED_TRACE("move " + std::to_string(i + 1) + " " + golden.moves[i]);
    const auto answer = caller().Move(game.id, game.TokenOf(turn), golden.moves[i], i + 1);
    ASSERT_TRUE(answer.ok()) << Describe(answer.status);
    const v1::GameEvent& event = answer.response.event();
    ASSERT_EQ(event.version(), i + 2);
    EXPECT_EQ(event.moved().color(), turn);
    EXPECT_EQ(event.moved().move(), golden.moves[i]);
    if (!golden.flip_counts.empty()) {
      EXPECT_EQ(event.moved().flipped_size(), golden.flip_counts[i]);
    }
    CheckPosition(golden, event.position());
    turn = event.position().turn();
    answers.push_back(event);
    if (HasFailure()) return;
  }
  const v1::Game end = caller().Get(game.id);
  CheckEnd(golden, end);
  ASSERT_TRUE(from_start.AwaitEnd().ok());
  ASSERT_TRUE(from_snapshot.AwaitEnd().ok());
  EXPECT_THAT(BrokenPromises({from_start.Record(), from_snapshot.Record()}, end.version()), IsEmpty());
  const WatchRecord told = from_start.Record();
  ASSERT_EQ(told.messages.size(), answers.size() + 1);
  ASSERT_EQ(end.moves_size(), static_cast<int>(answers.size()));
  for (size_t i = 0; i < answers.size(); ++i) {
    EXPECT_TRUE(Same(told.messages[i + 1].event(), answers[i])) << "move " << i + 1;
    const v1::PlayedMove& played = end.moves(static_cast<int>(i));
    EXPECT_EQ(played.move(), golden.moves[i]);
    EXPECT_EQ(played.color(), answers[i].moved().color());
    EXPECT_THAT(played.passed(), ElementsAreArray(answers[i].passed()));
  }
  EXPECT_TRUE(Same(end.position(), answers.back().position()));
  EXPECT_TRUE(Same(end.result(), answers.back().result()));
}

void ReplayTest::ReplayAll(const std::string& variant) {
  int games = 0;
  for (const twin::GoldenGame& golden : twin::GoldenGames()) {
    if (golden.rules.variant != variant) continue;
    ++games;
    Replay(golden);
    if (HasFailure()) return;
  }
  EXPECT_GT(games, 0);
}

TEST_F(ReplayTest, MultiplayerGames) { ReplayAll("multiplayer"); }
TEST_F(ReplayTest, StandardGames) { ReplayAll("standard"); }
TEST_F(ReplayTest, RolitGames) { ReplayAll("rolit"); }
TEST_F(ReplayTest, RoyalGames) { ReplayAll("royal"); }

// The whole game at once: opening_moves to the end is a finished game, with the same position and hash.
TEST_F(ReplayTest, OpeningMovesToTheEndAreTheSameGame) {
  for (const twin::GoldenGame& golden : twin::GoldenGames()) {
    SCOPED_TRACE(golden.id);
    v1::CreateGameRequest request;
    *request.mutable_rules() = ToRules(golden.rules);
    for (const std::string& move : golden.moves) request.add_opening_moves(move);
    const TestGame game = NewGame(caller(), request);
    ASSERT_EQ(game.created.state(), v1::GAME_STATE_FINISHED);
    EXPECT_EQ(game.created.version(), 1u);
    EXPECT_EQ(game.created.position().ply(), golden.moves.size());
    EXPECT_EQ(Diagram(game.created.position()), golden.final_diagram);
    EXPECT_EQ(Winner(game.created.result()), golden.winner);
    if (HasFailure()) return;
  }
}

// Sending the effective rules again makes the same start, whatever was asked for first.
TEST_F(ReplayTest, EffectiveRulesMakeTheSameStart) {
  std::vector<v1::Rules> wishes(1);
  wishes.emplace_back().set_random_blocked(8);
  wishes.emplace_back().set_random_blocked(16);
  for (const twin::GoldenGame& golden : twin::GoldenGames()) wishes.push_back(ToRules(golden.rules));
  for (const v1::Rules& wish : wishes) {
    v1::CreateGameRequest request;
    *request.mutable_rules() = wish;
    const v1::Game first = NewGame(caller(), request).created;
    *request.mutable_rules() = first.rules();
    const v1::Game second = NewGame(caller(), request).created;
    EXPECT_TRUE(Same(first.rules(), second.rules())) << first.rules().ShortDebugString();
    EXPECT_TRUE(Same(first.position(), second.position())) << first.rules().ShortDebugString();
    EXPECT_NE(first.rules().variant(), v1::VARIANT_UNSPECIFIED);
    EXPECT_NE(first.rules().players(), 0u);
    EXPECT_NE(first.rules().board(), v1::BOARD_UNSPECIFIED);
    EXPECT_NE(first.rules().objective(), v1::OBJECTIVE_UNSPECIFIED);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace reversi::e2e
