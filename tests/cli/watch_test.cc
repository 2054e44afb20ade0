#include "service/cli/watch.h"

#include <gtest/gtest.h>

namespace reversi::cli {
namespace {

v1::Game ThreeSeats() {
  v1::Game game;
  game.set_version(4);
  game.set_state(v1::GAME_STATE_ACTIVE);
  for (int seat = 0; seat < 3; ++seat) game.add_seats()->set_color(static_cast<v1::Color>(seat + 1));
  game.mutable_turn_deadline()->set_seconds(100);
  return game;
}

v1::GameEvent Event(uint64_t version) {
  v1::GameEvent event;
  event.set_version(version);
  event.set_state(v1::GAME_STATE_ACTIVE);
  event.mutable_position()->set_ply(7);
  return event;
}

TEST(ApplyEventTest, AMoveIsAddedWithItsPasses) {
  v1::Game game = ThreeSeats();
  v1::GameEvent event = Event(5);
  event.mutable_moved()->set_color(v1::COLOR_WHITE);
  event.mutable_moved()->set_move("d3");
  event.add_passed(v1::COLOR_RED);
  ApplyEvent(event, &game);
  EXPECT_EQ(game.version(), 5u);
  ASSERT_EQ(game.moves_size(), 1);
  EXPECT_EQ(game.moves(0).move(), "d3");
  EXPECT_EQ(game.moves(0).passed(0), v1::COLOR_RED);
  EXPECT_EQ(game.position().ply(), 7u);
  EXPECT_FALSE(game.has_turn_deadline());
}

TEST(ApplyEventTest, AnEventSeenBeforeOrAfterAGapChangesNothing) {
  for (const uint64_t version : {uint64_t{4}, uint64_t{6}}) {
    v1::Game game = ThreeSeats();
    ApplyEvent(Event(version), &game);
    EXPECT_EQ(game.SerializeAsString(), ThreeSeats().SerializeAsString()) << version;
  }
}

TEST(ApplyEventTest, WhoLeavesIsOutAndWhoJoinsIsSeated) {
  v1::Game game = ThreeSeats();
  game.mutable_seats(2)->set_kind(v1::SEAT_KIND_OPEN);
  v1::GameEvent joined = Event(5);
  joined.mutable_joined()->set_color(v1::COLOR_RED);
  joined.mutable_joined()->set_display_name("Ben");
  ApplyEvent(joined, &game);
  EXPECT_EQ(game.seats(2).kind(), v1::SEAT_KIND_PLAYER);
  EXPECT_EQ(game.seats(2).display_name(), "Ben");
  v1::GameEvent resigned = Event(6);
  resigned.mutable_resigned()->set_color(v1::COLOR_BLACK);
  ApplyEvent(resigned, &game);
  EXPECT_TRUE(game.seats(0).out());
  v1::GameEvent timed_out = Event(7);
  timed_out.mutable_timed_out()->set_color(v1::COLOR_WHITE);
  timed_out.set_state(v1::GAME_STATE_FINISHED);
  timed_out.mutable_result()->set_winner(v1::COLOR_RED);
  ApplyEvent(timed_out, &game);
  EXPECT_TRUE(game.seats(1).out());
  EXPECT_EQ(game.state(), v1::GAME_STATE_FINISHED);
  EXPECT_EQ(game.result().winner(), v1::COLOR_RED);
}

}  // namespace
}  // namespace reversi::cli
