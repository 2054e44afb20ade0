// SubmitMove wrong in every way: the right reason, the field named, the game untouched, the server alive.
#include <gmock/gmock.h>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

const std::string kMegabyte(1 << 20, 'a');

class BadMoveTest : public ServingTest {
 protected:
  void SetUp() override {
    ServingTest::SetUp();
    v1::CreateGameRequest request;
    request.mutable_rules()->set_board(v1::BOARD_OCTAGON);
    request.mutable_rules()->add_blocked_squares("c3");
    game_ = NewGame(caller(), request);
    before_ = caller().Get(game_.id);
  }
  void TearDown() override {
    EXPECT_TRUE(Same(caller().Get(game_.id), before_)) << "a refusal changed the game";
    ServingTest::TearDown();
  }
  Answer<v1::SubmitMoveResponse> Submit(const std::string& move, uint64_t version = 1) {
    return caller().Move(game_.id, game_.tokens[0], move, version);
  }
  TestGame game_;
  v1::Game before_;
};

TEST_F(BadMoveTest, TextThatIsNoMoveOfAnyVariant) {
  using namespace std::string_literals;
  for (const std::string& move : {"D3"s,
                                  "d3 "s,
                                  " d3"s,
                                  "d"s,
                                  "3"s,
                                  "d0"s,
                                  "d03"s,
                                  "d11"s,
                                  "k1"s,
                                  "z9"s,
                                  "d3:"s,
                                  "d3:x"s,
                                  "d3:n,n"s,
                                  "d3:n,,s"s,
                                  "d3:N"s,
                                  "d3: n"s,
                                  "d3;n"s,
                                  "jack:n"s,
                                  "Jack"s,
                                  "pass"s,
                                  "PA"s,
                                  "--"s,
                                  "d3d4"s,
                                  "d3\0"s,
                                  "d3\n"s,
                                  "é3"s,
                                  "-1"s,
                                  "d-1"s,
                                  "d3:n ,s"s,
                                  "999999999999999999999"s,
                                  "d9999999999999999999"s}) {
    EXPECT_TRUE(Refused(Submit(move), "BAD_SQUARE", "move")) << move;
  }
}

TEST_F(BadMoveTest, MissingAndTooLong) {
  EXPECT_TRUE(Refused(Submit(""), "MALFORMED_REQUEST", "move"));
  EXPECT_TRUE(Refused(Submit(std::string(65, 'd')), "MALFORMED_REQUEST", "move"));
  EXPECT_TRUE(Refused(Submit(kMegabyte), "MALFORMED_REQUEST", "move"));
  EXPECT_TRUE(Refused(Submit(std::string(64, 'd')), "BAD_SQUARE", "move"));
  EXPECT_TRUE(Refused(caller().Move(game_.id, "", "e4", 1), "MALFORMED_REQUEST", "seat_token"));
  EXPECT_TRUE(Refused(caller().Move("", game_.tokens[0], "e4", 1), "MALFORMED_REQUEST", "game_id"));
}

TEST_F(BadMoveTest, LegalTextThatIsNotALegalMove) {
  EXPECT_TRUE(Illegal(Submit("e5").status, "e5", "occupied"));
  EXPECT_TRUE(Illegal(Submit("c3").status, "c3", "blocked"));
  EXPECT_TRUE(Illegal(Submit("a1").status, "a1", "off_board"));
  EXPECT_TRUE(Illegal(Submit("j10").status, "j10", "off_board"));
  EXPECT_TRUE(Illegal(Submit("j5").status, "j5", "flips_nothing"));
  EXPECT_TRUE(Illegal(Submit("jack").status, "jack", "no_jack"));
  const std::string rows = before_.position().legal_moves(0) + ":n";
  EXPECT_TRUE(Illegal(Submit(rows).status, rows, "not_outflanked"));
}

TEST_F(BadMoveTest, TokensOfNobody) {
  const TestGame other = NewGame(caller());
  using namespace std::string_literals;
  std::string longer = game_.tokens[0] + "a", shorter = game_.tokens[0], changed = game_.tokens[0], upper = changed;
  shorter.pop_back();
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'a' ? 'b' : 'a';
  for (const std::string& token :
       {"x"s, longer, shorter, changed, other.tokens[0], game_.owner, other.owner, "a\0b"s, "é"s, " "s}) {
    EXPECT_TRUE(Refused(caller().Move(game_.id, token, "e4", 1), "BAD_TOKEN")) << token;
  }
  const auto huge = caller().Move(game_.id, kMegabyte, "e4", 1);
  EXPECT_TRUE(huge.error.reason == "BAD_TOKEN" || huge.error.reason == "MALFORMED_REQUEST") << Describe(huge.status);
}

TEST_F(BadMoveTest, VersionsThatAreNotTheCurrentOne) {
  for (const uint64_t version : {uint64_t{2}, uint64_t{3}, uint64_t{1} << 32, uint64_t{1} << 63, ~uint64_t{0}}) {
    const auto answer = Submit(before_.position().legal_moves(0), version);
    EXPECT_TRUE(Refused(answer, "STALE_VERSION")) << version;
    EXPECT_EQ(answer.current_version(), 1u);
  }
}

TEST_F(BadMoveTest, SeatsThatAreNotOnTurn) {
  for (size_t seat = 1; seat < 4; ++seat) {
    EXPECT_TRUE(
        Refused(caller().Move(game_.id, game_.tokens[seat], before_.position().legal_moves(0), 1), "NOT_YOUR_TURN"));
  }
}

}  // namespace
}  // namespace reversi::e2e
