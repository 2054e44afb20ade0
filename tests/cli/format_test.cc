#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "service/cli/format_json_lines.h"
#include "service/cli/format_transcript.h"

namespace reversi::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A game made with one opening move, then c6 over the API.
v1::Game TwoMoves() {
  v1::Game game;
  game.set_game_id("abcd");
  game.mutable_rules()->set_variant(v1::VARIANT_MULTIPLAYER);
  game.mutable_rules()->set_players(4);
  game.add_moves()->set_move("f6");
  game.add_moves()->set_move("c6");
  game.mutable_turn_limit()->set_seconds(30);
  return game;
}

GameFile TwoEvents() {
  GameFile file{.header = HeaderOf(TwoMoves(), 1), .events = {}};
  v1::GameEvent created;
  created.set_version(1);
  created.mutable_created();
  created.mutable_position()->set_ply(1);
  v1::GameEvent moved;
  moved.set_version(2);
  moved.mutable_moved()->set_color(v1::COLOR_WHITE);
  moved.mutable_moved()->set_move("c6");
  moved.mutable_position()->set_hash(0xfedcba9876543210);
  file.events = {created, moved};
  return file;
}

TEST(JsonLinesTest, TextAndBack) {
  const std::string text = JsonLinesText(TwoEvents());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, testing::StartsWith("{\"format\":\"reversi-game\",\"format_version\":1,"));
  const auto file = ParseJsonLines(text);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(JsonLinesText(*file), text);
  EXPECT_EQ(file->events[1].position().hash(), 0xfedcba9876543210u);
  EXPECT_EQ(file->header.turn_limit().seconds(), 30);
}

TEST(JsonLinesTest, MovesAreThoseOfTheCreationThenThoseOfTheLog) {
  const auto moves = MovesOf(TwoEvents());
  ASSERT_TRUE(moves.ok()) << moves.status();
  EXPECT_THAT(*moves, ElementsAre("f6", "c6"));
}

TEST(JsonLinesTest, LeavingsAndEndsWithoutAWinnerAreRefusedByName) {
  const auto refusal = [](auto change) {
    GameFile file = TwoEvents();
    v1::GameEvent last;
    last.set_version(3);
    change(&last);
    file.events.push_back(last);
    return std::string(MovesOf(file).status().message());
  };
  EXPECT_EQ(refusal([](v1::GameEvent* e) { e->mutable_resigned()->set_color(v1::COLOR_RED); }),
            "event 3: a leaving (red resigned), which moves alone cannot make again");
  EXPECT_THAT(refusal([](v1::GameEvent* e) { e->mutable_timed_out()->set_color(v1::COLOR_RED); }),
              HasSubstr("a leaving (red ran out of time)"));
  EXPECT_THAT(refusal([](v1::GameEvent* e) { e->mutable_aborted(); }), HasSubstr("the game was aborted"));
  EXPECT_THAT(refusal([](v1::GameEvent* e) { e->mutable_expired(); }), HasSubstr("the game expired"));
  EXPECT_EQ(refusal([](v1::GameEvent* e) { e->mutable_joined()->set_color(v1::COLOR_RED); }), "");
}

TEST(JsonLinesTest, ErrorsNameTheLine) {
  const std::string good = JsonLinesText(TwoEvents());
  const auto error = [&](const std::string& from, const std::string& to) {
    const auto file = ParseJsonLines(absl::StrReplaceAll(good, {{from, to}}));
    return file.ok() ? "" : std::string(file.status().message());
  };
  EXPECT_EQ(error("reversi-game", "chess"), "line 1: no reversi-game file");
  EXPECT_EQ(error("\"format_version\":1", "\"format_version\":2"), "line 1: format_version 2, this build reads 1");
  EXPECT_EQ(error("\"version\":\"2\"", "\"version\":\"3\""), "line 3: version 3, expected 2");
  EXPECT_THAT(error("\"ply\":1", "\"ply\":-1"), HasSubstr("line 2: "));
  EXPECT_THAT(error("\"moved\"", "\"hopped\""), HasSubstr("line 3: "));
  EXPECT_EQ(error("\"created\":{},", ""), "line 2: the log does not begin with the game's creation");
  EXPECT_FALSE(ParseJsonLines("").ok());
  EXPECT_FALSE(ParseJsonLines("{").ok());
  EXPECT_FALSE(ParseJsonLines(good.substr(0, good.find('\n'))).ok()) << "no events";
}

TEST(TranscriptTest, WritesSquaresTogetherAndReadsThemLoosely) {
  EXPECT_EQ(TranscriptOf(TwoMoves()), "f6c6\n");
  EXPECT_THAT(*ParseTranscriptMoves("F6 pa c6\n"), ElementsAre("f6", "c6"));
  const auto wrong = ParseTranscriptMoves("f6x");
  EXPECT_EQ(wrong.status().message(), "no move at character 3");
}

}  // namespace
}  // namespace reversi::cli
