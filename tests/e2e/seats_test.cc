// CreateGame and JoinGame: seats, tokens, ids, retries.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"
#include "tests/e2e/watch_promises.h"

namespace reversi::e2e {
namespace {

using testing::IsEmpty;

class SeatsTest : public ServingTest {
 protected:
  // Four seats; those of `open` are OPEN.
  static v1::CreateGameRequest WithOpen(const std::set<int>& open) {
    v1::CreateGameRequest request;
    for (int i = 0; i < 4; ++i)
      request.add_seats()->set_kind(open.count(i) != 0 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
    return request;
  }
  static v1::JoinGameRequest JoinOf(const std::string& game_id, const std::string& request_id = "") {
    v1::JoinGameRequest join;
    join.set_game_id(game_id);
    join.set_request_id(request_id);
    return join;
  }
  // A request_id that no other test uses.
  std::string FreshRequestId() { return "fresh-request-id-" + std::to_string(chance()()); }
};

TEST_F(SeatsTest, WithoutSeatsAllAreGivenToTheCaller) {
  const TestGame game = NewGame(caller());
  EXPECT_EQ(game.created.state(), v1::GAME_STATE_ACTIVE);
  EXPECT_EQ(game.created.version(), 1u);
  EXPECT_TRUE(testing::Matches(testing::MatchesRegex("[a-z0-9]+"))(game.id) && game.id.size() >= 20 &&
              game.id.size() <= 32)
      << game.id;
  ASSERT_EQ(game.created.seats_size(), 4);
  std::set<std::string> secrets = {game.owner, ""};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(game.created.seats(i).color(), i + 1);
    EXPECT_EQ(game.created.seats(i).kind(), v1::SEAT_KIND_PLAYER);
    EXPECT_FALSE(game.created.seats(i).out());
    EXPECT_TRUE(secrets.insert(game.tokens[i]).second);
  }
  EXPECT_FALSE(game.created.has_turn_limit());
  EXPECT_FALSE(game.created.has_turn_deadline());
  EXPECT_FALSE(game.created.has_result());
  EXPECT_EQ(game.created.timeout_action(), v1::TIMEOUT_ACTION_LEAVE);
  EXPECT_TRUE(game.created.has_create_time());
  EXPECT_TRUE(game.created.has_update_time());
}

TEST_F(SeatsTest, ChosenIdsNamesColoursAndLimitsAreKept) {
  v1::CreateGameRequest request = WithOpen({3});
  const std::string name = "Élodie 😀 " + std::string(64 - 14 + 2, 'x');
  ASSERT_LE(name.size(), 65u);
  request.mutable_seats(0)->set_display_name(name.substr(0, 64));
  request.mutable_seats(1)->set_color(v1::COLOR_WHITE);
  request.set_game_id("a-chosen-id-of-0-to-63");
  request.mutable_turn_limit()->set_seconds(30 * 86400);
  request.set_timeout_action(v1::TIMEOUT_ACTION_PLAY);
  request.set_unlisted(true);
  const TestGame game = NewGame(caller(), request);
  EXPECT_EQ(game.id, "a-chosen-id-of-0-to-63");
  EXPECT_EQ(game.created.seats(0).display_name(), request.seats(0).display_name());
  EXPECT_EQ(game.created.turn_limit().seconds(), 30 * 86400);
  EXPECT_EQ(game.created.timeout_action(), v1::TIMEOUT_ACTION_PLAY);
  EXPECT_TRUE(game.created.unlisted());
  EXPECT_TRUE(game.tokens[3].empty());
  EXPECT_FALSE(game.tokens[2].empty());
  EXPECT_TRUE(Same(caller().Get(game.id), game.created));
  EXPECT_TRUE(Refused(caller().Call(request), "GAME_ID_TAKEN"));
  for (const std::string& id : {std::string("abcd"), std::string(63, '-'), std::string("0000")}) {
    request.set_game_id(id);
    EXPECT_EQ(NewGame(caller(), request).id, id);
  }
}

TEST_F(SeatsTest, WaitingGameShowsItsStartAndAcceptsNoMoves) {
  const TestGame game = NewGame(caller(), WithOpen({1, 2}));
  EXPECT_EQ(game.created.state(), v1::GAME_STATE_WAITING);
  EXPECT_EQ(game.created.seats(1).kind(), v1::SEAT_KIND_OPEN);
  EXPECT_EQ(game.created.position().turn(), v1::COLOR_BLACK);
  ASSERT_GT(game.created.position().legal_moves_size(), 0);
  const std::string move = game.created.position().legal_moves(0);
  EXPECT_TRUE(Refused(caller().Move(game.id, game.tokens[0], move, 1), "GAME_NOT_STARTED"));
  v1::ResignGameRequest resign;
  resign.set_game_id(game.id);
  resign.set_seat_token(game.tokens[0]);
  EXPECT_TRUE(Refused(caller().Call(resign), "GAME_NOT_STARTED"));
  EXPECT_EQ(caller().Get(game.id).version(), 1u);
}

TEST_F(SeatsTest, JoinsTakeTheFirstOpenSeatOrTheOneAskedForAndTheLastStartsTheGame) {
  v1::CreateGameRequest request = WithOpen({0, 2, 3});
  request.mutable_turn_limit()->set_seconds(1000);
  const TestGame game = NewGame(caller(), request);
  EXPECT_FALSE(game.created.has_turn_deadline());
  Watcher watcher(caller().stub(), WatchAfter(game.id, 0));
  v1::JoinGameRequest join = JoinOf(game.id);
  join.set_color(v1::COLOR_RED);
  join.set_display_name("Rosa");
  const auto red = caller().Call(join);
  ASSERT_TRUE(red.ok()) << Describe(red.status);
  EXPECT_EQ(red.response.color(), v1::COLOR_RED);
  EXPECT_EQ(red.response.game().version(), 2u);
  EXPECT_EQ(red.response.game().state(), v1::GAME_STATE_WAITING);
  EXPECT_EQ(red.response.game().seats(2).display_name(), "Rosa");
  EXPECT_EQ(red.response.game().seats(2).kind(), v1::SEAT_KIND_PLAYER);
  const auto black = caller().Call(JoinOf(game.id));
  ASSERT_TRUE(black.ok());
  EXPECT_EQ(black.response.color(), v1::COLOR_BLACK);
  EXPECT_TRUE(Refused(caller().Call(join), "SEAT_TAKEN"));
  const auto green = caller().Call(JoinOf(game.id));
  ASSERT_TRUE(green.ok());
  EXPECT_EQ(green.response.color(), v1::COLOR_GREEN);
  EXPECT_EQ(green.response.game().state(), v1::GAME_STATE_ACTIVE);
  EXPECT_TRUE(green.response.game().has_turn_deadline());
  EXPECT_TRUE(Refused(caller().Call(JoinOf(game.id)), "SEAT_TAKEN"));
  const std::string move = green.response.game().position().legal_moves(0);
  EXPECT_TRUE(caller().Move(game.id, black.response.seat_token(), move, 4).ok());
  ASSERT_TRUE(watcher.AwaitVersion(5));
  const WatchRecord told = watcher.Record();
  EXPECT_THAT(BrokenPromises(told), IsEmpty());
  EXPECT_EQ(told.messages[1].event().joined().color(), v1::COLOR_RED);
  EXPECT_EQ(told.messages[1].event().joined().display_name(), "Rosa");
  EXPECT_EQ(told.messages[1].event().state(), v1::GAME_STATE_WAITING);
  EXPECT_FALSE(told.messages[1].event().has_turn_deadline());
  EXPECT_EQ(told.messages[3].event().state(), v1::GAME_STATE_ACTIVE);
  EXPECT_TRUE(told.messages[3].event().has_turn_deadline());
}

TEST_F(SeatsTest, WrongJoinsAreRefused) {
  const TestGame game = NewGame(caller(), WithOpen({1}));
  const auto wrong = [&](const std::string& reason, const std::string& field,
                         const std::function<void(v1::JoinGameRequest&)>& spoil) {
    v1::JoinGameRequest join = JoinOf(game.id);
    spoil(join);
    EXPECT_TRUE(Refused(caller().Call(join), reason, field)) << join.ShortDebugString().substr(0, 200);
  };
  using namespace std::string_literals;
  for (const int color : {7, -1, 99}) {
    wrong("MALFORMED_REQUEST", "color", [&](v1::JoinGameRequest& j) { j.set_color(static_cast<v1::Color>(color)); });
  }
  for (const v1::Color color : {v1::COLOR_BLUE, v1::COLOR_YELLOW}) {
    wrong("MALFORMED_REQUEST", "color", [&](v1::JoinGameRequest& j) { j.set_color(color); });
  }
  wrong("SEAT_TAKEN", "", [](v1::JoinGameRequest& j) { j.set_color(v1::COLOR_BLACK); });
  for (const std::string& name :
       {std::string(65, 'x'), std::string(1 << 20, 'x'), "\t"s, "a\0"s, "\x7f"s, "\xc2\x9f"s}) {
    wrong("MALFORMED_REQUEST", "display_name", [&](v1::JoinGameRequest& j) { j.set_display_name(name); });
  }
  for (const std::string& id : {"short"s, std::string(65, 'x'), "has-a-\n-in-the-middle"s, "ütf-eight-is-not-ascii"s}) {
    wrong("MALFORMED_REQUEST", "request_id", [&](v1::JoinGameRequest& j) { j.set_request_id(id); });
  }
  for (const std::string& id : {""s, "abc"s, "UPPERCASE"s, std::string(64, 'x')}) {
    wrong("MALFORMED_REQUEST", "game_id", [&](v1::JoinGameRequest& j) { j.set_game_id(id); });
  }
  wrong("GAME_NOT_FOUND", "", [](v1::JoinGameRequest& j) { j.set_game_id("no-such-game"); });
  EXPECT_TRUE(Same(caller().Get(game.id), game.created));
}

TEST_F(SeatsTest, RetriedJoinGetsTheSameSeatWithTheCurrentGame) {
  const TestGame game = NewGame(caller(), WithOpen({0, 1, 2, 3}));
  const std::string id = FreshRequestId();
  v1::JoinGameRequest join = JoinOf(game.id, id);
  const auto first = caller().Call(join);
  ASSERT_TRUE(first.ok()) << Describe(first.status);
  // Two joins without a request_id are two seats.
  const auto second = caller().Call(JoinOf(game.id)), third = caller().Call(JoinOf(game.id));
  EXPECT_EQ(second.response.color(), v1::COLOR_WHITE);
  EXPECT_EQ(third.response.color(), v1::COLOR_RED);
  auto again = caller().Call(join);
  ASSERT_TRUE(again.ok()) << Describe(again.status);
  EXPECT_EQ(again.response.color(), v1::COLOR_BLACK);
  EXPECT_EQ(again.response.seat_token(), first.response.seat_token());
  EXPECT_EQ(again.response.game().version(), 4u);
  // Another body under the same id; a color that it did not ask for before is another body.
  v1::JoinGameRequest other = join;
  other.set_display_name("somebody else");
  EXPECT_TRUE(Refused(caller().Call(other), "MALFORMED_REQUEST"));
  other = join;
  other.set_color(v1::COLOR_GREEN);
  EXPECT_TRUE(Refused(caller().Call(other), "MALFORMED_REQUEST"));
  EXPECT_EQ(caller().Get(game.id).version(), 4u);
  // The scope is the game: the same id elsewhere is another request.
  const TestGame elsewhere = NewGame(caller(), WithOpen({3}));
  EXPECT_EQ(caller().Call(JoinOf(elsewhere.id, id)).response.color(), v1::COLOR_GREEN);
  // A retry is answered also when every seat is taken, and after the end.
  EXPECT_TRUE(caller().Call(JoinOf(game.id)).ok());
  again = caller().Call(join);
  EXPECT_EQ(again.response.seat_token(), first.response.seat_token());
  EXPECT_EQ(again.response.game().state(), v1::GAME_STATE_ACTIVE);
  v1::AbortGameRequest abort;
  abort.set_game_id(game.id);
  abort.set_owner_token(game.owner);
  ASSERT_TRUE(caller().Call(abort).ok());
  again = caller().Call(join);
  EXPECT_EQ(again.response.seat_token(), first.response.seat_token());
  EXPECT_EQ(again.response.game().state(), v1::GAME_STATE_FINISHED);
  EXPECT_TRUE(Refused(caller().Call(JoinOf(game.id, FreshRequestId())), "GAME_OVER"));
}

TEST_F(SeatsTest, RetriedCreateGetsTheSameGameAsItIsNow) {
  for (const bool chosen : {false, true}) {
    v1::CreateGameRequest request = WithOpen({2});
    request.set_request_id(FreshRequestId());
    if (chosen) request.set_game_id("chosen-and-retried");
    request.mutable_rules()->set_random_blocked(6);
    const auto first = caller().Call(request);
    ASSERT_TRUE(first.ok()) << Describe(first.status);
    auto again = caller().Call(request);
    EXPECT_TRUE(Same(first.response, again.response));
    ASSERT_TRUE(caller().Call(JoinOf(first.response.game().game_id())).ok());
    again = caller().Call(request);
    ASSERT_TRUE(again.ok()) << Describe(again.status);
    EXPECT_EQ(again.response.game().version(), 2u);
    EXPECT_EQ(again.response.game().game_id(), first.response.game().game_id());
    EXPECT_EQ(again.response.owner_token(), first.response.owner_token());
    EXPECT_EQ(again.response.seat_tokens(0), first.response.seat_tokens(0));
    v1::CreateGameRequest other = request;
    other.mutable_rules()->set_board(v1::BOARD_10X10);
    EXPECT_TRUE(Refused(caller().Call(other), "MALFORMED_REQUEST"));
    other = request;
    other.set_unlisted(true);
    EXPECT_TRUE(Refused(caller().Call(other), "MALFORMED_REQUEST"));
  }
}

TEST_F(SeatsTest, WithoutRequestIdEveryCreateIsAGameOfItsOwn) { EXPECT_NE(NewGame(caller()).id, NewGame(caller()).id); }

TEST_F(SeatsTest, OpeningMovesAreInsideTheFirstEvent) {
  v1::CreateGameRequest request;
  request.add_opening_moves("d6");
  request.add_opening_moves("c4");
  const TestGame game = NewGame(caller(), request);
  EXPECT_EQ(game.created.version(), 1u);
  EXPECT_EQ(game.created.position().ply(), 2u);
  EXPECT_EQ(game.created.position().turn(), v1::COLOR_RED);
  ASSERT_EQ(game.created.moves_size(), 2);
  EXPECT_EQ(game.created.moves(1).move(), "c4");
  EXPECT_EQ(game.created.moves(1).color(), v1::COLOR_WHITE);
  Watcher watcher(caller().stub(), WatchAfter(game.id, 0));
  ASSERT_TRUE(watcher.AwaitMessages(1));
  EXPECT_TRUE(watcher.Record().messages[0].event().has_created());
  EXPECT_EQ(watcher.Record().messages[0].event().position().ply(), 2u);
}

TEST_F(SeatsTest, VariantsAreListedWithDefaultsThatMakeGames) {
  const auto answer = caller().Call(v1::ListVariantsRequest());
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer.response.variants_size(), 4);
  EXPECT_EQ(answer.response.variants(0).variant(), v1::VARIANT_MULTIPLAYER);
  for (const v1::VariantInfo& info : answer.response.variants()) {
    SCOPED_TRACE(info.name());
    EXPECT_FALSE(info.name().empty());
    EXPECT_FALSE(info.description().empty());
    v1::CreateGameRequest request;
    request.mutable_rules()->set_variant(info.variant());
    EXPECT_TRUE(Same(NewGame(caller(), request).created.rules(), info.defaults()));
    // Everything that is listed is offered.
    for (const uint32_t players : info.player_counts()) {
      for (const int board : info.boards()) {
        for (const int objective : info.objectives()) {
          request.mutable_rules()->set_players(players);
          request.mutable_rules()->set_board(static_cast<v1::Board>(board));
          request.mutable_rules()->set_objective(static_cast<v1::Objective>(objective));
          const v1::Rules rules = NewGame(caller(), request).created.rules();
          EXPECT_EQ(rules.players(), players);
          EXPECT_EQ(rules.board(), board);
          EXPECT_EQ(rules.objective(), objective);
        }
      }
    }
  }
  const auto& royal = answer.response.variants(3);
  EXPECT_EQ(royal.variant(), v1::VARIANT_ROYAL);
  EXPECT_THAT(royal.description(), testing::HasSubstr("reconstruction"));
  EXPECT_THAT(royal.sides_player_counts(), testing::ElementsAre(4, 6));
  EXPECT_THAT(answer.response.variants(0).player_counts(), testing::ElementsAre(3, 4));
}

}  // namespace
}  // namespace reversi::e2e
