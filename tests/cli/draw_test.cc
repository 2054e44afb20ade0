#include "service/cli/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reversi::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// After Black c4 on the three-player 8x8 start.
v1::Game Opening() {
  v1::Game game;
  game.set_game_id("demo");
  game.set_version(2);
  game.set_state(v1::GAME_STATE_ACTIVE);
  game.mutable_rules()->set_variant(v1::VARIANT_MULTIPLAYER);
  game.mutable_rules()->set_players(3);
  game.mutable_rules()->set_board(v1::BOARD_8X8);
  game.mutable_rules()->add_blocked_squares("a1");
  const char* names[] = {"Anna", "", "Ben"};
  for (int seat = 0; seat < 3; ++seat) {
    v1::Seat* added = game.add_seats();
    added->set_color(static_cast<v1::Color>(seat + 1));
    added->set_kind(v1::SEAT_KIND_PLAYER);
    added->set_display_name(names[seat]);
    game.mutable_position()->add_discs(seat == 0 ? 3 : 1);
  }
  game.mutable_seats(2)->set_out(true);
  for (const char* row : {"#-------", "--------", "--------", "---BW---", "---BR---", "---B----", "--------",
                          "-------N"}) {
    game.mutable_position()->add_rows(row);
  }
  game.mutable_position()->set_turn(v1::COLOR_WHITE);
  game.mutable_position()->add_legal_moves("c4");
  game.mutable_position()->add_legal_moves("c6");
  game.mutable_position()->set_neutral(1);
  game.mutable_position()->set_empty(57);
  v1::PlayedMove* move = game.add_moves();
  move->set_color(v1::COLOR_BLACK);
  move->set_move("d6");
  move->add_passed(v1::COLOR_GREEN);
  return game;
}

TEST(DrawTest, BoardWithSeatsCountsTurnAndLastMove) {
  EXPECT_EQ(DrawGame(Opening(), {}),
            "Game demo, version 2: multiplayer for 3 on 8x8, most discs win, blocked: a1\n"
            "\n"
            "    a  b  c  d  e  f  g  h\n"
            " 1  #  .  .  .  .  .  .  .      B Black    3  Anna\n"
            " 2  .  .  .  .  .  .  .  .    > W White    1\n"
            " 3  .  .  .  .  .  .  .  .      R Red      1  Ben  (out)\n"
            " 4  .  .  +  B  W  .  .  .      N neutral  1\n"
            " 5  .  .  .  B  R  .  .  .        empty   57\n"
            " 6  .  .  + [B] .  .  .  .    Move 1: black d6, passed: green\n"
            " 7  .  .  .  .  .  .  .  .    White to move: 2 legal moves (+)\n"
            " 8  .  .  .  .  .  .  .  N\n");
}

TEST(DrawTest, ColoursAddEscapesAndNothingElse) {
  const std::string colored = DrawGame(Opening(), {.color = true, .now = {}});
  EXPECT_THAT(colored, HasSubstr("\x1b[1;97;40m[B]\x1b[0m"));
  std::string plain;
  for (size_t i = 0; i < colored.size(); ++i) {
    if (colored[i] == '\x1b') {
      i = colored.find('m', i);
    } else {
      // A coloured square keeps its blank at the end of a line.
      if (colored[i] == '\n' && plain.ends_with(' ')) plain.pop_back();
      plain += colored[i];
    }
  }
  EXPECT_EQ(plain, DrawGame(Opening(), {}));
}

TEST(DrawTest, WithoutColoursThereIsNoEscape) { EXPECT_THAT(DrawGame(Opening(), {}), Not(HasSubstr("\x1b"))); }

TEST(DrawTest, HolesOfTheOctagonAreBlank) {
  v1::Game game = Opening();
  game.mutable_position()->set_rows(0, "  B--   ");
  EXPECT_THAT(DrawGame(game, {}), HasSubstr("\n 1        B  .  .               B Black"));
}

TEST(DrawTest, TheClockShowsWhatIsLeft) {
  v1::Game game = Opening();
  game.mutable_turn_deadline()->set_seconds(1000);
  EXPECT_THAT(DrawGame(game, {.color = false, .now = absl::FromUnixSeconds(925)}), HasSubstr("Time left: 1:15\n"));
  EXPECT_THAT(DrawGame(game, {.color = false, .now = absl::FromUnixSeconds(1005)}), HasSubstr("Time left: 0:00\n"));
  EXPECT_EQ(TimeLeft(game, absl::FromUnixSeconds(1000 - 3661)), "1:01:01");
  EXPECT_THAT(DrawGame(game, {}), Not(HasSubstr("Time left")));
}

TEST(DrawTest, RoyalIsCalledAReconstructionAndItsMovesShareASquare) {
  v1::Game game = Opening();
  game.mutable_rules()->set_variant(v1::VARIANT_ROYAL);
  game.mutable_rules()->set_sides(true);
  game.mutable_position()->clear_legal_moves();
  for (const char* move : {"c4:n", "c4:ne", "c4:n,ne"}) game.mutable_position()->add_legal_moves(move);
  game.mutable_moves(0)->set_move("d6:n");
  const std::string text = DrawGame(game, {});
  EXPECT_THAT(text, HasSubstr("royal (a reconstruction) for 3 on 8x8"));
  EXPECT_THAT(text, HasSubstr(" 4  .  .  +  B  W"));
  EXPECT_THAT(text, HasSubstr("[B]"));
  EXPECT_THAT(text, HasSubstr("White to move: 3 legal moves (+)"));
  EXPECT_THAT(text, HasSubstr("side 2"));
}

TEST(DrawTest, TheJackIsOffered) {
  v1::Game game = Opening();
  game.mutable_position()->clear_legal_moves();
  game.mutable_position()->add_legal_moves("jack");
  EXPECT_THAT(DrawGame(game, {}), HasSubstr("White to move: may claim the Jack, e5 (jack)"));
}

TEST(DrawTest, PlacementsAndWaitingAreNamed) {
  v1::Game game = Opening();
  game.mutable_position()->set_placement(true);
  EXPECT_THAT(DrawGame(game, {}), HasSubstr("2 legal moves (+), none flips"));
  game.set_state(v1::GAME_STATE_WAITING);
  EXPECT_THAT(DrawGame(game, {}), HasSubstr("Waiting for open seats to be joined"));
}

TEST(ResultTextTest, EveryEnd) {
  v1::Result result;
  result.set_reason(v1::RESULT_REASON_COMPLETED);
  for (const uint32_t discs : {10u, 20u, 12u, 9u}) result.add_discs(discs);
  result.set_winner(v1::COLOR_WHITE);
  EXPECT_EQ(ResultText(result), "White wins with 20 discs");
  result.set_winning_side(2);
  EXPECT_EQ(ResultText(result), "Side 2 wins with 29 discs");
  result.set_draw(true);
  EXPECT_EQ(ResultText(result), "A draw for the whole table");
  result.add_wof_score(32);
  result.add_wof_score(32);
  EXPECT_EQ(ResultText(result), "A draw for the whole table, Othello Federation score 32 - 32");
  v1::Result aborted;
  aborted.set_reason(v1::RESULT_REASON_ABORTED);
  EXPECT_EQ(ResultText(aborted), "Nobody wins (aborted)");
}

TEST(EventLineTest, EveryKind) {
  v1::GameEvent event;
  event.set_version(5);
  event.mutable_position()->add_discs(4);
  event.mutable_position()->add_discs(0);
  event.mutable_moved()->set_color(v1::COLOR_WHITE);
  event.mutable_moved()->set_move("d3");
  event.mutable_moved()->add_flipped("d4");
  event.mutable_moved()->add_flipped("e4");
  event.add_passed(v1::COLOR_BLACK);
  EXPECT_EQ(EventLine(event), "  5  white d3 turns d4 e4; B 4 W 0; passed: black");
  event.mutable_moved()->clear_flipped();
  event.mutable_moved()->set_on_timeout(true);
  EXPECT_THAT(EventLine(event), HasSubstr("white d3 (time ran out) turns nothing"));
  event.mutable_created();
  EXPECT_THAT(EventLine(event), HasSubstr("created"));
  event.mutable_joined()->set_color(v1::COLOR_WHITE);
  event.mutable_joined()->set_display_name("Anna");
  EXPECT_THAT(EventLine(event), HasSubstr("white joined: Anna"));
  event.mutable_resigned()->set_color(v1::COLOR_WHITE);
  EXPECT_THAT(EventLine(event), HasSubstr("white resigned"));
  event.mutable_timed_out()->set_color(v1::COLOR_WHITE);
  EXPECT_THAT(EventLine(event), HasSubstr("white ran out of time"));
  event.mutable_aborted();
  EXPECT_THAT(EventLine(event), HasSubstr("aborted"));
  event.mutable_expired();
  event.mutable_result()->set_reason(v1::RESULT_REASON_EXPIRED);
  EXPECT_THAT(EventLine(event), HasSubstr("expired; B 4 W 0; passed: black; Nobody wins (expired)"));
}

TEST(VariantsTextTest, NamesWhatIsOffered) {
  v1::ListVariantsResponse response;
  v1::VariantInfo* info = response.add_variants();
  info->set_variant(v1::VARIANT_STANDARD);
  info->set_description("Reversi for two.");
  info->add_player_counts(2);
  info->add_boards(v1::BOARD_6X6);
  info->add_boards(v1::BOARD_8X8);
  info->add_objectives(v1::OBJECTIVE_MOST_DISCS);
  info->add_objectives(v1::OBJECTIVE_FEWEST_DISCS);
  info->set_max_corner_handicap(4);
  info->add_corner_handicap_boards(v1::BOARD_8X8);
  info->mutable_defaults()->set_players(2);
  info->mutable_defaults()->set_board(v1::BOARD_8X8);
  EXPECT_EQ(VariantsText(response),
            "standard  Reversi for two.\n"
            "  players 2 (2 unless told otherwise)\n"
            "  boards 6x6, 8x8 (8x8 unless told otherwise)\n"
            "  options fewest discs win; corner handicap up to 4 (8x8)\n");
}

}  // namespace
}  // namespace reversi::cli
