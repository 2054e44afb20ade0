// Every field of every request wrong in every way: the right reason, the field named, nothing changed, the server
// alive (ServingTest looks after each test).
#include <gmock/gmock.h>

#include <functional>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

using testing::HasSubstr;

const std::string kMegabyte(1 << 20, 'a');

class BadInputTest : public ServingTest {
 protected:
  void Create(const std::string& reason, const std::string& field,
              const std::function<void(v1::CreateGameRequest&)>& spoil) {
    v1::CreateGameRequest request;
    spoil(request);
    EXPECT_TRUE(Refused(caller().Call(request), reason, field)) << request.ShortDebugString().substr(0, 300);
  }
  void Rules(const std::string& reason, const std::string& field, const std::function<void(v1::Rules&)>& spoil) {
    Create(reason, field, [&](v1::CreateGameRequest& request) { spoil(*request.mutable_rules()); });
  }
};

TEST_F(BadInputTest, RulesOfMultiplayerThatItDoesNotOffer) {
  for (const uint32_t players : {1u, 2u, 5u, 6u, 7u, 256u + 4u, 4294967295u}) {
    Rules("UNSUPPORTED_RULES", "rules.players", [&](v1::Rules& r) { r.set_players(players); });
  }
  for (const v1::Board board : {v1::BOARD_6X6, v1::BOARD_9X9}) {
    Rules("UNSUPPORTED_RULES", "rules.board", [&](v1::Rules& r) { r.set_board(board); });
  }
  Rules("UNSUPPORTED_RULES", "rules.free_opening", [](v1::Rules& r) { r.set_free_opening(true); });
  Rules("UNSUPPORTED_RULES", "rules.sides", [](v1::Rules& r) { r.set_sides(true); });
  for (const uint32_t corners : {1u, 4u, 5u, 256u, 4294967295u}) {
    Rules("UNSUPPORTED_RULES", "rules.corner_handicap", [&](v1::Rules& r) { r.set_corner_handicap(corners); });
  }
  for (const uint32_t count : {1u, 3u, 17u, 18u, 64u, 65536u, 4294967294u, 4294967295u}) {
    Rules("UNSUPPORTED_RULES", "rules.random_blocked", [&](v1::Rules& r) { r.set_random_blocked(count); });
  }
  Rules("UNSUPPORTED_RULES", "rules.random_blocked", [](v1::Rules& r) {
    r.set_random_blocked(2);
    for (const char* square : {"a1", "b1", "c1", "d1"}) r.add_blocked_squares(square);
  });
}

TEST_F(BadInputTest, RulesThatTheOtherVariantsDoNotOffer) {
  const auto rules = [&](v1::Variant variant, const std::string& field, const std::function<void(v1::Rules&)>& spoil) {
    Rules("UNSUPPORTED_RULES", "rules." + field, [&](v1::Rules& r) {
      r.set_variant(variant);
      spoil(r);
    });
  };
  for (const uint32_t players : {1u, 3u, 4u})
    rules(v1::VARIANT_STANDARD, "players", [&](v1::Rules& r) { r.set_players(players); });
  rules(v1::VARIANT_STANDARD, "board", [](v1::Rules& r) { r.set_board(v1::BOARD_9X9); });
  rules(v1::VARIANT_STANDARD, "corner_handicap", [](v1::Rules& r) { r.set_corner_handicap(5); });
  rules(v1::VARIANT_STANDARD, "corner_handicap", [](v1::Rules& r) {
    r.set_corner_handicap(1);
    r.set_board(v1::BOARD_OCTAGON);
  });
  rules(v1::VARIANT_STANDARD, "sides", [](v1::Rules& r) { r.set_sides(true); });
  rules(v1::VARIANT_STANDARD, "random_blocked", [](v1::Rules& r) {
    r.set_board(v1::BOARD_6X6);
    r.set_random_blocked(10);
  });
  for (const uint32_t players : {1u, 5u})
    rules(v1::VARIANT_ROLIT, "players", [&](v1::Rules& r) { r.set_players(players); });
  for (const v1::Board board : {v1::BOARD_6X6, v1::BOARD_9X9, v1::BOARD_10X10, v1::BOARD_OCTAGON}) {
    rules(v1::VARIANT_ROLIT, "board", [&](v1::Rules& r) { r.set_board(board); });
  }
  for (const v1::Board board : {v1::BOARD_6X6, v1::BOARD_8X8, v1::BOARD_10X10, v1::BOARD_OCTAGON}) {
    rules(v1::VARIANT_ROYAL, "board", [&](v1::Rules& r) { r.set_board(board); });
  }
  for (const uint32_t players : {1u, 7u})
    rules(v1::VARIANT_ROYAL, "players", [&](v1::Rules& r) { r.set_players(players); });
  for (const uint32_t players : {0u, 2u, 3u, 5u}) {
    rules(v1::VARIANT_ROYAL, "sides", [&](v1::Rules& r) {
      r.set_players(players);
      r.set_sides(true);
    });
  }
  for (const v1::Variant variant : {v1::VARIANT_ROLIT, v1::VARIANT_ROYAL}) {
    rules(variant, "objective", [](v1::Rules& r) { r.set_objective(v1::OBJECTIVE_FEWEST_DISCS); });
    rules(variant, "free_opening", [](v1::Rules& r) { r.set_free_opening(true); });
    rules(variant, "corner_handicap", [](v1::Rules& r) { r.set_corner_handicap(1); });
    rules(variant, "random_blocked", [](v1::Rules& r) { r.set_random_blocked(2); });
    rules(variant, "blocked_squares", [](v1::Rules& r) { r.add_blocked_squares("a1"); });
  }
  // Free opening and handicap are offered, but not together: either may be named.
  v1::CreateGameRequest both;
  both.mutable_rules()->set_variant(v1::VARIANT_STANDARD);
  both.mutable_rules()->set_free_opening(true);
  both.mutable_rules()->set_corner_handicap(1);
  EXPECT_TRUE(Refused(caller().Call(both), "UNSUPPORTED_RULES"));
}

TEST_F(BadInputTest, RefusedRulesSayWhatIsOffered) {
  v1::CreateGameRequest request;
  request.mutable_rules()->set_players(2);
  const auto players = caller().Call(request);
  EXPECT_THAT(players.error.descriptions, testing::Contains(testing::AllOf(HasSubstr("3"), HasSubstr("4"))));
  request.mutable_rules()->set_players(4);
  request.mutable_rules()->set_board(v1::BOARD_6X6);
  const auto board = caller().Call(request);
  EXPECT_THAT(board.error.descriptions, testing::Contains(testing::AllOf(HasSubstr("8x8"), HasSubstr("10x10"),
                                                                         testing::ContainsRegex("[Oo]ctagon"))));
}

TEST_F(BadInputTest, BlockedSquaresThatAreNone) {
  const auto square = [&](const std::string& text, v1::Board board) {
    Rules("BAD_SQUARE", "rules.blocked_squares[1]", [&](v1::Rules& r) {
      r.set_board(board);
      r.add_blocked_squares("c3");
      r.add_blocked_squares(text);
    });
  };
  using namespace std::string_literals;
  for (const std::string& text : {""s,    "A1"s,  "a1 "s,  " a1"s,  "a"s,   "1"s,    "a0"s,   "a01"s, "a11"s,  "k1"s,
                                  "a-1"s, "a1a"s, "jack"s, "a1:n"s, "a\0"s, "a1\0"s, "\x7f"s, "é1"s,  "a1\n"s, "c3"s}) {
    square(text, v1::BOARD_10X10);
  }
  for (const char* text : {"i1", "a9", "a10", "j10", "d4", "e4", "d5", "e5"}) square(text, v1::BOARD_8X8);
  for (const char* text : {"e5", "f5", "e6", "f6"}) square(text, v1::BOARD_10X10);
  for (const char* text : {"a1", "b1", "a2", "i1", "j1", "j2", "a9", "a10", "b10", "i10", "j9", "j10", "e5"}) {
    square(text, v1::BOARD_OCTAGON);
  }
  for (const auto& [corners, text] : {std::pair{1u, "a1"}, {2u, "h8"}, {3u, "h1"}, {4u, "a8"}}) {
    Rules("BAD_SQUARE", "rules.blocked_squares[0]", [&, c = corners, t = text](v1::Rules& r) {
      r.set_variant(v1::VARIANT_STANDARD);
      r.set_corner_handicap(c);
      r.add_blocked_squares(t);
    });
  }
  // All squares, the centre among them: the first centre square by row is d4, number 27.
  Rules("BAD_SQUARE", "rules.blocked_squares[27]", [](v1::Rules& r) {
    for (char row = '1'; row <= '8'; ++row) {
      for (char column = 'a'; column <= 'h'; ++column) r.add_blocked_squares({column, row});
    }
  });
}

TEST_F(BadInputTest, HugeListsAndTexts) {
  v1::CreateGameRequest request;
  request.mutable_rules()->add_blocked_squares(kMegabyte);
  const auto square = caller().Call(request);
  EXPECT_TRUE(square.error.reason == "BAD_SQUARE" || square.error.reason == "MALFORMED_REQUEST")
      << Describe(square.status);
  EXPECT_LT(square.status.error_message().size() + square.status.error_details().size(), 4096u);
  request.Clear();
  for (int i = 0; i < 10000; ++i) request.mutable_rules()->add_blocked_squares("a1");
  EXPECT_TRUE(Refused(caller().Call(request), "BAD_SQUARE", "rules.blocked_squares[1]"));
  request.Clear();
  for (int i = 0; i < 100000; ++i) request.add_opening_moves("a1");
  const auto moves = caller().Call(request);
  EXPECT_FALSE(moves.ok());
  EXPECT_FALSE(moves.error.reason.empty()) << Describe(moves.status);
  request.Clear();
  for (int i = 0; i < 10000; ++i) request.add_seats();
  EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "seats"));
}

TEST_F(BadInputTest, UnknownEnumNumbers) {
  for (const int number : {-1, 5, 6, 99, 2147483647}) {
    Rules("MALFORMED_REQUEST", "rules.variant", [&](v1::Rules& r) { r.set_variant(static_cast<v1::Variant>(number)); });
    Create("MALFORMED_REQUEST", "timeout_action",
           [&](v1::CreateGameRequest& r) { r.set_timeout_action(static_cast<v1::TimeoutAction>(number)); });
    Rules("MALFORMED_REQUEST", "rules.objective",
          [&](v1::Rules& r) { r.set_objective(static_cast<v1::Objective>(number)); });
  }
  for (const int number : {-1, 6, 99}) {
    Rules("MALFORMED_REQUEST", "rules.board", [&](v1::Rules& r) { r.set_board(static_cast<v1::Board>(number)); });
  }
  for (const int number : {-1, 3, 99}) {
    Create("MALFORMED_REQUEST", "seats[2].kind", [&](v1::CreateGameRequest& r) {
      for (int i = 0; i < 4; ++i) r.add_seats();
      r.mutable_seats(2)->set_kind(static_cast<v1::SeatKind>(number));
    });
  }
}

TEST_F(BadInputTest, SeatsThatDoNotFit) {
  for (const int count : {1, 2, 3, 5, 6, 7, 300}) {
    Create("MALFORMED_REQUEST", "seats", [&](v1::CreateGameRequest& r) {
      for (int i = 0; i < count; ++i) r.add_seats();
    });
  }
  const auto seat = [&](const std::string& field, const std::function<void(v1::Seat&)>& spoil) {
    Create("MALFORMED_REQUEST", field, [&](v1::CreateGameRequest& r) {
      for (int i = 0; i < 4; ++i) r.add_seats();
      spoil(*r.mutable_seats(1));
    });
  };
  for (const int color : {1, 3, 4, 5, 6, 7, -1, 99}) {
    seat("seats[1].color", [&](v1::Seat& s) { s.set_color(static_cast<v1::Color>(color)); });
  }
  using namespace std::string_literals;
  for (const std::string& name : {std::string(65, 'x'), kMegabyte, "\n"s, "a\0b"s, "\x7f"s, "\x1b[31m"s, "\xc2\x85"s}) {
    seat("seats[1].display_name", [&](v1::Seat& s) { s.set_display_name(name); });
  }
}

TEST_F(BadInputTest, IdsOutsideTheirAlphabet) {
  using namespace std::string_literals;
  for (const std::string& id :
       {"abc"s, std::string(64, 'a'), kMegabyte, "ABCD"s, "ab_cd"s, "ab cd"s, "abcd "s, "ab/cd"s, "abcd\0"s, "äbcd"s}) {
    Create("MALFORMED_REQUEST", "game_id", [&](v1::CreateGameRequest& r) { r.set_game_id(id); });
  }
  for (const std::string& id : {"fifteen-letters"s, std::string(65, 'a'), kMegabyte, "sixteen-letters\n"s,
                                "sixteen-letters\0"s, "seventeen-lettérs"s}) {
    Create("MALFORMED_REQUEST", "request_id", [&](v1::CreateGameRequest& r) { r.set_request_id(id); });
  }
}

TEST_F(BadInputTest, TurnLimitsOutOfRange) {
  constexpr int64_t kThirtyDays = 30 * 86400;
  const auto limit = [&](int64_t seconds, int32_t nanos) {
    Create("MALFORMED_REQUEST", "turn_limit", [&](v1::CreateGameRequest& r) {
      r.mutable_turn_limit()->set_seconds(seconds);
      r.mutable_turn_limit()->set_nanos(nanos);
    });
  };
  limit(0, 0);
  limit(0, 999999999);
  limit(0, 2000000000);
  limit(-1, 0);
  limit(0, -1);
  limit(2, -1);
  limit(2, 1000000000);
  limit(kThirtyDays, 1);
  limit(kThirtyDays + 1, 0);
  limit(INT64_MAX, 999999999);
  limit(INT64_MIN, -999999999);
  limit(315576000000, 0);
}

TEST_F(BadInputTest, OpeningMovesNameTheirPlace) {
  const auto second = [&](const std::string& reason, const std::string& move) {
    Create(reason, "opening_moves[1]", [&](v1::CreateGameRequest& r) {
      r.add_opening_moves("d6");
      r.add_opening_moves(move);
    });
  };
  using namespace std::string_literals;
  second("MALFORMED_REQUEST", "");
  second("MALFORMED_REQUEST", std::string(65, 'a'));
  second("MALFORMED_REQUEST", kMegabyte);
  for (const std::string& move : {"C4"s, " c4"s, "c4 "s, "k1"s, "a11"s, "a0"s, "d03"s, "c4:n,n"s, "c4:"s, "c4:x"s,
                                  "c4:n,"s, "pass"s, "--"s, "c4\0"s}) {
    second("BAD_SQUARE", move);
  }
  for (const auto& [move, why] : {std::pair{"d6", "occupied"},
                                  {"i1", "off_board"},
                                  {"a1", "flips_nothing"},
                                  {"c4:e", "not_outflanked"},
                                  {"jack", "no_jack"}}) {
    v1::CreateGameRequest request;
    request.add_opening_moves("d6");
    request.add_opening_moves(move);
    EXPECT_TRUE(Illegal(caller().Call(request).status, move, why, "opening_moves[1]"));
  }
}

TEST_F(BadInputTest, GameIdsOfEveryMethod) {
  using namespace std::string_literals;
  const auto every = [&](const std::string& id, const std::string& reason, const std::string& field) {
    SCOPED_TRACE(id.substr(0, 70));
    v1::GetGameRequest get;
    get.set_game_id(id);
    EXPECT_TRUE(Refused(caller().Call(get), reason, field));
    EXPECT_TRUE(Refused(caller().Move(id, "some-token", "d3", 1), reason, field));
    EXPECT_TRUE(Refused(caller().Call(WatchFromNow(id)), reason, field));
  };
  for (const std::string& id : {""s, "abc"s, "UPPER"s, "with space"s, "a_b_c"s, std::string(64, 'a'), kMegabyte,
                                "nul\0nul"s, "gräme"s, "../../etc/passwd"s}) {
    every(id, "MALFORMED_REQUEST", "game_id");
  }
  every("unknown-game", "GAME_NOT_FOUND", "");
  every(std::string(63, 'z'), "GAME_NOT_FOUND", "");
}

TEST_F(BadInputTest, HeartbeatIntervalsOutOfRange) {
  const TestGame game = NewGame(caller());
  for (const auto& [seconds, nanos] : std::vector<std::pair<int64_t, int32_t>>{{0, 0},
                                                                               {0, 999999999},
                                                                               {-1, 0},
                                                                               {300, 1},
                                                                               {301, 0},
                                                                               {INT64_MAX, 0},
                                                                               {INT64_MIN, 0},
                                                                               {2, -1},
                                                                               {2, 1000000000}}) {
    v1::WatchGameRequest request = WatchFromNow(game.id);
    request.mutable_heartbeat_interval()->set_seconds(seconds);
    request.mutable_heartbeat_interval()->set_nanos(nanos);
    EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "heartbeat_interval")) << seconds << " " << nanos;
  }
}

// What does not parse, or is too large, gRPC refuses itself, without details.
TEST_F(BadInputTest, BytesThatAreNoRequestAreRefusedByGrpc) {
  const std::string methods[] = {"CreateGame", "GetGame", "SubmitMove"};
  using namespace std::string_literals;
  for (const std::string& method : methods) {
    for (const std::string& bytes :
         {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s, "\x0a\x05"s, "\x0a\xff\xff\xff\xff\x0f"s, "\x0b"s}) {
      const grpc::Status status = caller().CallRaw("/reversi.v1.GameService/" + method, bytes);
      EXPECT_FALSE(status.ok());
      EXPECT_TRUE(Details(status).reason.empty());
    }
  }
  // game_id with invalid UTF-8.
  EXPECT_FALSE(caller()
                   .CallRaw("/reversi.v1.GameService/GetGame",
                            "\x0a\x04"
                            "ab\xff\xfe"s)
                   .ok());
  EXPECT_FALSE(
      caller()
          .CallRaw("/reversi.v1.GameService/GetGame", "\x0a" + "\x80\x80\x80\x10"s + std::string(32 << 20, 'a'))
          .ok());
  EXPECT_EQ(caller().CallRaw("/reversi.v1.GameService/NoSuchMethod", "").error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

// Random bytes and randomly spoilt requests: any refusal, no crash.
TEST_F(BadInputTest, RandomlySpoiltRequestsAreRefusedOrServed) {
  const TestGame game = NewGame(caller());
  v1::CreateGameRequest create;
  create.mutable_rules()->set_random_blocked(4);
  create.add_opening_moves("c4");
  create.mutable_turn_limit()->set_seconds(100);
  for (int i = 0; i < 4; ++i) create.add_seats()->set_display_name("name");
  v1::SubmitMoveRequest submit;
  submit.set_game_id(game.id);
  submit.set_seat_token(game.tokens[0]);
  submit.set_move("d3:n,ne");
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = i % 2 == 0 ? create.SerializeAsString() : submit.SerializeAsString();
    for (size_t spoilt = 1 + Below(4); spoilt > 0; --spoilt) bytes[Below(bytes.size())] = static_cast<char>(Below(256));
    if (Below(4) == 0) bytes.resize(Below(bytes.size()));
    caller().CallRaw(i % 2 == 0 ? "/reversi.v1.GameService/CreateGame" : "/reversi.v1.GameService/SubmitMove", bytes);
  }
}

}  // namespace
}  // namespace reversi::e2e
