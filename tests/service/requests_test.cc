#include "service/requests.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace reversi {
namespace {

struct Case {
  Reason reason;
  std::string field;
  std::function<void(v1::CreateGameRequest&)> make;
};

v1::Seat OpenSeat() {
  v1::Seat seat;
  seat.set_kind(v1::SEAT_KIND_OPEN);
  return seat;
}

TEST(CreateRequestTest, EveryWrongFieldIsNamed) {
  const std::vector<Case> cases = {
      {Reason::kMalformedRequest, "rules.variant", [](auto& r) { r.mutable_rules()->set_variant(v1::Variant(99)); }},
      {Reason::kMalformedRequest, "rules.board", [](auto& r) { r.mutable_rules()->set_board(v1::Board(-1)); }},
      {Reason::kMalformedRequest, "rules.objective", [](auto& r) { r.mutable_rules()->set_objective(v1::Objective(3)); }},
      {Reason::kMalformedRequest, "seats", [](auto& r) { *r.add_seats() = OpenSeat(); }},
      {Reason::kMalformedRequest, "seats[0].color", [](auto& r) { r.add_seats()->set_color(v1::COLOR_WHITE); }},
      {Reason::kMalformedRequest, "seats[0].color", [](auto& r) { r.add_seats()->set_color(v1::Color(7)); }},
      {Reason::kMalformedRequest, "seats[0].kind", [](auto& r) { r.add_seats()->set_kind(v1::SeatKind(3)); }},
      {Reason::kMalformedRequest, "seats[0].display_name",
       [](auto& r) { r.add_seats()->set_display_name(std::string(65, 'x')); }},
      {Reason::kMalformedRequest, "seats[0].display_name", [](auto& r) { r.add_seats()->set_display_name("a\nb"); }},
      {Reason::kMalformedRequest, "seats[0].display_name",
       [](auto& r) { r.add_seats()->set_display_name("a\xc2\x85"); }},
      {Reason::kMalformedRequest, "request_id", [](auto& r) { r.set_request_id("short"); }},
      {Reason::kMalformedRequest, "request_id", [](auto& r) { r.set_request_id(std::string(65, 'x')); }},
      {Reason::kMalformedRequest, "request_id", [](auto& r) { r.set_request_id("ü" + std::string(20, 'x')); }},
      {Reason::kMalformedRequest, "game_id", [](auto& r) { r.set_game_id("abc"); }},
      {Reason::kMalformedRequest, "game_id", [](auto& r) { r.set_game_id("Abcd"); }},
      {Reason::kMalformedRequest, "game_id", [](auto& r) { r.set_game_id(std::string(64, 'a')); }},
      {Reason::kMalformedRequest, "opening_moves[1]",
       [](auto& r) {
         r.add_opening_moves("d3");
         r.add_opening_moves("");
       }},
      {Reason::kMalformedRequest, "opening_moves[0]", [](auto& r) { r.add_opening_moves(std::string(65, 'a')); }},
      {Reason::kMalformedRequest, "turn_limit", [](auto& r) { r.mutable_turn_limit()->set_nanos(999'999'999); }},
      {Reason::kMalformedRequest, "turn_limit",
       [](auto& r) { r.mutable_turn_limit()->set_seconds(30 * 24 * 3600 + 1); }},
      {Reason::kMalformedRequest, "turn_limit", [](auto& r) { r.mutable_turn_limit()->set_seconds(-5); }},
      {Reason::kMalformedRequest, "turn_limit",
       [](auto& r) {
         r.mutable_turn_limit()->set_seconds(5);
         r.mutable_turn_limit()->set_nanos(-1);
       }},
      {Reason::kMalformedRequest, "timeout_action", [](auto& r) { r.set_timeout_action(v1::TimeoutAction(3)); }},
      {Reason::kUnsupportedRules, "rules.board", [](auto& r) { r.mutable_rules()->set_board(v1::BOARD_6X6); }},
      {Reason::kUnsupportedRules, "rules.players", [](auto& r) { r.mutable_rules()->set_players(2); }},
      {Reason::kUnsupportedRules, "rules.players", [](auto& r) { r.mutable_rules()->set_players(4'000'000'000u); }},
      {Reason::kUnsupportedRules, "rules.corner_handicap",
       [](auto& r) { r.mutable_rules()->set_corner_handicap(4'000'000'000u); }},
      {Reason::kUnsupportedRules, "rules.random_blocked",
       [](auto& r) { r.mutable_rules()->set_random_blocked(4'000'000'000u); }},
      {Reason::kBadSquare, "rules.blocked_squares[0]",
       [](auto& r) { r.mutable_rules()->add_blocked_squares("d4"); }},
      {Reason::kBadSquare, "rules.blocked_squares[1]",
       [](auto& r) {
         r.mutable_rules()->add_blocked_squares("a1");
         r.mutable_rules()->add_blocked_squares(std::string(1 << 20, 'x'));
       }},
      {Reason::kBadSquare, "opening_moves[0]", [](auto& r) { r.add_opening_moves("D3"); }},
      {Reason::kBadSquare, "opening_moves[0]", [](auto& r) { r.add_opening_moves("d3 "); }},
  };
  for (const Case& one : cases) {
    v1::CreateGameRequest request;
    one.make(request);
    const auto checked = Check(request, "", 1);
    const auto* error = std::get_if<Error>(&checked);
    ASSERT_NE(error, nullptr) << one.field << ": " << request.ShortDebugString().substr(0, 200);
    EXPECT_EQ(error->reason, one.reason) << error->message.substr(0, 200);
    EXPECT_EQ(error->field, one.field) << error->message.substr(0, 200);
  }
}

TEST(CreateRequestTest, MalformedRanksBeforeUnsupportedAndThatBeforeBadSquares) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_board(v1::BOARD_6X6);
  request.mutable_rules()->add_blocked_squares("zz");
  request.add_opening_moves("ZZ");
  request.set_timeout_action(v1::TimeoutAction(9));
  const auto reason = [&] { return std::get<Error>(Check(request, "", 1)).reason; };
  EXPECT_EQ(reason(), Reason::kMalformedRequest);
  request.clear_timeout_action();
  EXPECT_EQ(reason(), Reason::kUnsupportedRules);
  request.mutable_rules()->clear_board();
  EXPECT_EQ(reason(), Reason::kBadSquare);
}

TEST(CreateRequestTest, TheServerChoosesASeedWhereNoneIsGiven) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_random_blocked(4);
  const auto checked = Check(request, "", 77);
  const Rules& rules = std::get<CreateCall>(checked).wish.start.rules;
  EXPECT_EQ(rules.blocked_seed, 77u);
  EXPECT_EQ(rules.blocked.size(), 4u);
  request.mutable_rules()->set_blocked_seed(5);
  EXPECT_EQ(std::get<CreateCall>(Check(request, "", 77)).wish.start.rules.blocked_seed, 5u);
}

TEST(CreateRequestTest, TheDigestsTellRetriesFromOtherRequests) {
  v1::CreateGameRequest request;
  request.set_request_id(std::string(16, 'r'));
  const auto start = [](const v1::CreateGameRequest& r, const char* caller, uint64_t seed) {
    return std::get<CreateCall>(Check(r, caller, seed)).wish.start;
  };
  const Start first = start(request, "a", 1);
  EXPECT_FALSE(first.request.empty());
  EXPECT_EQ(start(request, "a", 2).request, first.request);
  EXPECT_EQ(start(request, "a", 2).body, first.body);
  EXPECT_NE(start(request, "b", 1).request, first.request);
  request.set_unlisted(true);
  EXPECT_NE(start(request, "a", 1).body, first.body);
}

TEST(OtherRequestsTest, AreCheckedToo) {
  v1::SubmitMoveRequest move;
  const auto of = [](const auto& request) { return std::get<Error>(Check(request)); };
  EXPECT_EQ(of(move).field, "game_id");
  move.set_game_id("game");
  EXPECT_EQ(of(move).field, "seat_token");
  move.set_seat_token("token");
  EXPECT_EQ(of(move).field, "move");
  EXPECT_EQ(of(move).reason, Reason::kMalformedRequest);
  move.set_move("d03");
  EXPECT_EQ(of(move).reason, Reason::kBadSquare);
  move.set_move(std::string(1 << 20, 'd'));
  EXPECT_EQ(of(move).reason, Reason::kMalformedRequest);
  move.set_move("d3:ne,n");
  EXPECT_TRUE(std::holds_alternative<MoveWish>(Check(move)));

  v1::JoinGameRequest join;
  join.set_game_id("game");
  join.set_color(v1::Color(7));
  EXPECT_EQ(of(join).field, "color");

  v1::WatchGameRequest watch;
  watch.set_game_id("game");
  watch.mutable_heartbeat_interval()->set_nanos(1);
  EXPECT_EQ(of(watch).field, "heartbeat_interval");
  watch.mutable_heartbeat_interval()->set_nanos(0);
  watch.mutable_heartbeat_interval()->set_seconds(301);
  EXPECT_EQ(of(watch).field, "heartbeat_interval");

  v1::ListGamesRequest list;
  list.set_page_size(-1);
  EXPECT_EQ(of(list).field, "page_size");
  list.set_page_size(100'000);
  EXPECT_EQ(std::get<ListCall>(Check(list)).page_size, 1000);
  list.set_page_size(0);
  EXPECT_EQ(std::get<ListCall>(Check(list)).page_size, 50);
  list.set_state(v1::GameState(4));
  EXPECT_EQ(of(list).field, "state");
}

}  // namespace
}  // namespace reversi
