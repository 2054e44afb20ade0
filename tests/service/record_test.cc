#include "service/record.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "reversi/store/v1/record.pb.h"
#include "service/table.h"

namespace reversi {
namespace {

Start ExampleStart() {
  RulesRequest request;
  request.variant = Variant::kMultiplayer;
  request.players = 3;
  request.blocked_squares = {"a1", "h8"};
  Start start;
  start.rules = std::get<Rules>(MakeRules(request));
  start.seats = {{false, "Ann"}, {true, ""}, {false, "Cy"}};
  start.turn_limit = absl::Milliseconds(1500);
  start.timeout_action = TimeoutAction::kPlay;
  start.unlisted = true;
  start.created = absl::FromUnixMillis(1'700'000'000'123);
  start.nonce = std::string(16, 'n');
  start.request = std::string(16, 'r');
  start.body = std::string(16, 'b');
  return start;
}

std::vector<Command> ExampleCommands(absl::Time created) {
  const auto at = [&](int ms) { return created + absl::Milliseconds(ms); };
  const Square square{3, 2};
  return {
      {.kind = Command::Kind::kJoin, .seat = 1, .name = "Bö", .request = std::string(16, 'j'), .wanted = -1, .time = at(5)},
      {.kind = Command::Kind::kMove, .move = {Move::Kind::kPlace, square, 0}, .time = at(5)},
      {.kind = Command::Kind::kMove, .move = {Move::Kind::kPlaceRows, square, 0x81}, .on_timeout = true, .time = at(900'000)},
      {.kind = Command::Kind::kMove, .move = {Move::Kind::kJack, {}, 0}, .time = at(900'001)},
      {.kind = Command::Kind::kResign, .seat = 2, .time = at(900'002)},
      {.kind = Command::Kind::kTimeOut, .seat = 0, .time = at(900'003)},
      {.kind = Command::Kind::kAbort, .time = at(900'004)},
      {.kind = Command::Kind::kExpire, .time = at(900'005)},
  };
}

TEST(RecordTest, GivesBackHowTheGameBegan) {
  const Start start = ExampleStart();
  const Record record = Record::Begin(start, 42);
  const Start back = record.start();
  EXPECT_EQ(record.put_id(), 42u);
  EXPECT_EQ(record.nonce(), start.nonce);
  EXPECT_EQ(back.rules, start.rules);
  ASSERT_EQ(back.seats.size(), 3u);
  EXPECT_EQ(back.seats[0].name, "Ann");
  EXPECT_TRUE(back.seats[1].open);
  EXPECT_EQ(back.turn_limit, start.turn_limit);
  EXPECT_EQ(back.timeout_action, start.timeout_action);
  EXPECT_EQ(back.unlisted, start.unlisted);
  EXPECT_EQ(back.created, start.created);
  EXPECT_EQ(back.nonce, start.nonce);
  EXPECT_EQ(back.request, start.request);
  EXPECT_EQ(back.body, start.body);
}

TEST(RecordTest, GivesBackEveryCommand) {
  const Start start = ExampleStart();
  Record record = Record::Begin(start, 1);
  absl::Time previous = start.created;
  const std::vector<Command> commands = ExampleCommands(start.created);
  for (const Command& command : commands) {
    record = record.With(command, previous, 7);
    previous = command.time;
  }
  EXPECT_EQ(record.put_id(), 7u);
  EXPECT_EQ(record.start().rules, start.rules);
  const auto read = Record::Read(Bytes(record.bytes().view()));
  ASSERT_TRUE(std::holds_alternative<Record>(read));
  size_t index = 0;
  EXPECT_TRUE(std::get<Record>(read).ForEach(start.created, [&](const Command& got) {
    const Command& want = commands[index++];
    EXPECT_EQ(got.kind, want.kind) << index;
    EXPECT_EQ(got.seat, want.seat) << index;
    EXPECT_EQ(got.move, want.move) << index;
    EXPECT_EQ(got.on_timeout, want.on_timeout) << index;
    EXPECT_EQ(got.name, want.name) << index;
    EXPECT_EQ(got.request, want.request) << index;
    EXPECT_EQ(got.wanted, want.wanted) << index;
    EXPECT_EQ(got.time, want.time) << index;
    return true;
  }));
  EXPECT_EQ(index, commands.size());
}

TEST(RecordTest, IsAMessageThatOtherProgramsCanRead) {
  const Start start = ExampleStart();
  const Record record =
      Record::Begin(start, 9).With({.kind = Command::Kind::kAbort, .time = start.created}, start.created, 10);
  store::v1::Record message;
  ASSERT_TRUE(message.ParseFromString(std::string(record.bytes().view())));
  EXPECT_EQ(message.format(), 1u);
  EXPECT_EQ(message.put_id(), 10u);
  EXPECT_EQ(message.start().players(), 3u);
  EXPECT_EQ(message.log(), std::string("\x6a\x00", 2));
}

TEST(RecordTest, ANewerFormatIsRefusedByName) {
  store::v1::Record message;
  message.set_format(2);
  const auto read = Record::Read(Bytes(message.SerializeAsString()));
  ASSERT_TRUE(std::holds_alternative<std::string>(read));
  EXPECT_NE(std::get<std::string>(read).find("format 2"), std::string::npos);
}

TEST(RecordTest, DamageIsFoundOrHarmless) {
  const Start start = ExampleStart();
  Record record = Record::Begin(start, 1);
  absl::Time previous = start.created;
  for (const Command& command : ExampleCommands(start.created)) {
    record = record.With(command, previous, 1);
    previous = command.time;
  }
  const std::string whole(record.bytes().view());
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const auto read = Record::Read(Bytes(damaged));
      if (const auto* taken = std::get_if<Record>(&read)) Replay(*taken, [](const Event&) { return true; });
    }
    const auto cut = Record::Read(Bytes(whole.substr(0, i)));
    EXPECT_TRUE(std::holds_alternative<std::string>(cut)) << i;
  }
}

TEST(TableTest, AWholeGameTakesFewBytesAndReplaysToTheSameEnd) {
  Start start;
  start.rules = std::get<Rules>(MakeRules({}));
  start.seats.resize(4);
  start.created = absl::FromUnixMillis(1'700'000'000'000);
  start.nonce = std::string(16, 'n');
  Event event = std::get<Event>(Begin(start));
  Record record = Record::Begin(start, 1);
  while (event.after.state == GameState::kActive) {
    const std::vector<Move> moves = event.after.position.LegalMoves();
    Command command{.move = moves[event.after.version % moves.size()],
                    .time = event.after.time + absl::Milliseconds(4321)};
    record = record.With(command, event.after.time, event.after.version);
    event = std::get<Event>(Apply(event.after, command));
  }
  EXPECT_LE(record.bytes().view().size(), 400u);
  uint64_t versions = 0;
  EXPECT_TRUE(Replay(record, [&](const Event& replayed) {
    EXPECT_EQ(replayed.after.version, ++versions);
    if (replayed.after.version == event.after.version) {
      EXPECT_EQ(replayed.after.position, event.after.position);
      EXPECT_EQ(replayed.after.time, event.after.time);
      EXPECT_EQ(replayed.after.state, GameState::kFinished);
    }
    return true;
  }));
  EXPECT_EQ(versions, event.after.version);
}

}  // namespace
}  // namespace reversi
