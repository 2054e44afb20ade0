// The generator's own parts: it must find every wrong answer, and count right.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/load/load_game.h"
#include "tests/load/tally.h"
#include "tests/load/tape.h"

namespace reversi::load {
namespace {

const RulesRequest kKind = {.variant = Variant::kMultiplayer, .players = 4, .board = Board::k8x8};
constexpr uint64_t kSeed = 7;

v1::GameEvent AnswerAt(const Tape& tape, size_t move) {
  v1::SubmitMoveResponse response;
  response.ParseFromString(tape.answers[move]);
  return response.event();
}

TEST(LoadGame, PlaysEveryKindToItsEndWithoutFault) {
  for (const RulesRequest& kind : KindsOf("all")) {
    const Tape tape(kind, kSeed);
    std::string fault;
    LoadGame game(kind, tape.created, kSeed, &fault);
    EXPECT_EQ(fault, "");
    v1::SubmitMoveRequest request;
    for (size_t move = 0; move < tape.answers.size(); ++move) {
      ASSERT_FALSE(game.over());
      game.NextMove(&request);
      ASSERT_EQ(game.Check(AnswerAt(tape, move)), "") << "move " << move;
    }
    EXPECT_TRUE(game.over());
  }
}

TEST(LoadGame, FindsEveryWrongFieldOfAnAnswer) {
  const Tape tape(kKind, kSeed);
  std::string fault;
  LoadGame game(kKind, tape.created, kSeed, &fault);
  v1::SubmitMoveRequest request;
  game.NextMove(&request);
  using Spoil = std::function<void(v1::GameEvent&)>;
  const std::vector<std::pair<std::string, Spoil>> spoils = {
      {"version", [](auto& event) { event.set_version(3); }},
      {"what", [](auto& event) { event.mutable_aborted(); }},
      {"moved.color", [](auto& event) { event.mutable_moved()->set_color(v1::COLOR_GREEN); }},
      {"moved.move", [](auto& event) { event.mutable_moved()->set_move("a1"); }},
      {"moved.flipped", [](auto& event) { event.mutable_moved()->add_flipped("a1"); }},
      {"passed", [](auto& event) { event.add_passed(v1::COLOR_RED); }},
      {"state", [](auto& event) { event.set_state(v1::GAME_STATE_FINISHED); }},
      {"position.rows", [](auto& event) { event.mutable_position()->set_rows(0, "GGGGGGGG"); }},
      {"position.rows", [](auto& event) { event.mutable_position()->add_rows("--------"); }},
      {"position.legal_moves", [](auto& event) { event.mutable_position()->add_legal_moves("a1"); }},
      {"position.turn", [](auto& event) { event.mutable_position()->set_turn(v1::COLOR_GREEN); }},
      {"position.placement", [](auto& event) { event.mutable_position()->set_placement(true); }},
      {"position.discs", [](auto& event) { event.mutable_position()->set_discs(2, 9); }},
      {"position.neutral", [](auto& event) { event.mutable_position()->set_neutral(9); }},
      {"position.empty", [](auto& event) { event.mutable_position()->set_empty(9); }},
      {"position.ply", [](auto& event) { event.mutable_position()->set_ply(9); }},
      {"position.hash", [](auto& event) { event.mutable_position()->set_hash(9); }},
  };
  EXPECT_EQ(game.Check(AnswerAt(tape, 0)), "");
  for (const auto& [wrong, spoil] : spoils) {
    v1::GameEvent event = AnswerAt(tape, 0);
    spoil(event);
    EXPECT_EQ(game.Check(event), wrong);
  }
}

TEST(LoadGame, FindsAWrongWinner) {
  const Tape tape(kKind, kSeed);
  std::string fault;
  LoadGame game(kKind, tape.created, kSeed, &fault);
  v1::SubmitMoveRequest request;
  while (!game.over()) game.NextMove(&request);
  v1::GameEvent last = AnswerAt(tape, tape.answers.size() - 1);
  EXPECT_EQ(game.Check(last), "");
  last.mutable_result()->set_draw(!last.result().draw());
  EXPECT_EQ(game.Check(last), "result.outcome");
}

TEST(LoadGame, WatchersOfOneEventGetTheSameBytes) {
  const Tape tape(kKind, kSeed);
  std::string fault;
  LoadGame game(kKind, tape.created, kSeed, &fault);
  v1::SubmitMoveRequest request;
  game.NextMove(&request);
  v1::WatchGameResponse response;
  *response.mutable_event() = AnswerAt(tape, 0);
  const std::string bytes = response.SerializeAsString();
  EXPECT_NE(game.CheckWatched(1, bytes), "") << "version 2 is not version 1";
  EXPECT_EQ(game.CheckWatched(2, bytes), "");
  EXPECT_EQ(game.CheckWatched(2, bytes), "");
  EXPECT_NE(game.CheckWatched(2, bytes + "x"), "");
}

TEST(LoadGame, KindsAreNamedByVariantBoardAndPlayers) {
  EXPECT_EQ(KindsOf("8x8/4,octagon/3,royal/6,standard/6x6/2,rolit/3").size(), 5u);
  EXPECT_TRUE(KindsOf("8x8/5").empty());
  EXPECT_TRUE(KindsOf("").empty());
}

TEST(Latency, PercentilesAreRightWithinABucket) {
  Latency latency;
  EXPECT_EQ(latency.At(0.5), 0);
  for (int64_t us = 1; us <= 1000; ++us) latency.Add(us * 1000);
  EXPECT_NEAR(static_cast<double>(latency.At(0.5)), 500e3, 500e3 / 60);
  EXPECT_NEAR(static_cast<double>(latency.At(0.99)), 990e3, 990e3 / 60);
  EXPECT_EQ(latency.At(1), 1'000'000);
  EXPECT_EQ(latency.max(), 1'000'000);
  EXPECT_EQ(latency.count(), 1000u);
}

TEST(Latency, SmallTimesAreExact) {
  Latency latency;
  for (int64_t ns = 0; ns < 128; ++ns) latency.Add(ns);
  EXPECT_EQ(latency.At(0.25), 32);
  EXPECT_EQ(latency.At(0.75), 96);
}

}  // namespace
}  // namespace reversi::load
