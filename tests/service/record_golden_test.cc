// Records of format 1 as they were first written, in tests/data/records: every build reads them the same, for ever.
//
//   NAME.record   the bytes
//   NAME.reads    what they say: a line for each thing that the API does not show, then the game and its events in
//                 protobuf's JSON
//
// The bytes are never written again. Where the API shows more than it did, REVERSI_WRITE_READINGS=1 writes the readings
// anew, and their difference is what the review looks at.
#include <gtest/gtest.h>

#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "service/convert.h"
#include "service/small_file.h"

namespace reversi {
namespace {

const std::string kFolder = REVERSI_TEST_DATA "/records/";

// A game that is written command by command.
class Script {
 public:
  explicit Script(const RulesRequest& rules) {
    start_.rules = std::get<Rules>(MakeRules(rules));
    start_.seats.resize(static_cast<size_t>(start_.rules.players));
    start_.created = absl::FromUnixMillis(1'700'000'000'123);
    start_.nonce = "nonce of 16 byte";
  }
  Start& start() { return start_; }
  const Table& table() const { return event_->after; }
  const Record& record() const { return record_; }

  Script& Open() {
    record_ = Record::Begin(start_, 0xfedcba9876543210);
    event_ = std::get<Event>(Begin(start_));
    return *this;
  }
  Script& Do(Command command, int64_t ms) {
    command.time = table().time + absl::Milliseconds(ms);
    Event next = std::get<Event>(Apply(table(), command));
    record_ = record_.With(next.command, table().time, 0x1000 + next.after.version);
    event_ = std::move(next);
    return *this;
  }
  // Plays on: of the legal moves the one that `stride` picks.
  Script& Play(int plies, size_t stride) {
    for (int i = 0; i < plies && table().state == GameState::kActive; ++i) {
      const std::vector<Move> moves = table().position.LegalMoves();
      Do({.move = moves[table().version * stride % moves.size()]}, 700 + 1013 * (i % 5));
    }
    return *this;
  }

 private:
  Start start_;
  Record record_;
  std::optional<Event> event_;  // the newest
};

using Kind = Command::Kind;

std::string LongName() {
  std::string name;
  for (int i = 0; i < 30; ++i) name += "Å";
  return name;
}

Script Multiplayer() {
  Script script({.players = 3, .random_blocked = 4, .blocked_seed = 99});
  script.start().seats = {{false, "Ann"}, {false, LongName()}, {false, ""}};
  script.start().turn_limit = absl::Milliseconds(1500);
  script.start().timeout_action = TimeoutAction::kPlay;
  script.start().unlisted = true;
  script.start().request = "request 16 bytes";
  script.start().body = "bodys 16 bytes..";
  script.Open().Play(3, 3);
  script.Do({.move = script.table().position.LegalMoves()[0], .on_timeout = true}, 1500).Play(2, 5);
  return script.Do({.kind = Kind::kResign, .seat = 1}, 3).Play(100, 7);
}

Script Octagon() {
  Script script({.board = Board::kOctagon, .objective = Objective::kFewestDiscs, .blocked_squares = {"d2", "b4", "j7"}});
  script.start().seats = {{true, ""}, {false, "Bo"}, {true, ""}, {true, ""}};
  script.start().turn_limit = absl::Hours(20);
  script.Open();
  script.Do({.kind = Kind::kJoin, .seat = 2, .name = LongName(), .request = "joins' 16 bytes.", .wanted = 2}, 60'000);
  script.Do({.kind = Kind::kJoin, .seat = 0, .name = "Cy"}, 0);
  script.Do({.kind = Kind::kJoin, .seat = 3, .request = "another 16 bytes"}, 86'400'000).Play(6, 11);
  const int seat = static_cast<int>(script.table().position.turn());
  script.Do({.kind = Kind::kTimeOut, .seat = seat}, 72'000'000).Play(4, 3);
  return script.Do({.kind = Kind::kAbort}, 12);
}

Script Handicap() {
  Script script({.variant = Variant::kStandard, .board = Board::k6x6, .corner_handicap = 3});
  return script.Open().Play(100, 1);
}

Script FreeOpening() {
  Script script({.variant = Variant::kStandard, .board = Board::k10x10, .objective = Objective::kFewestDiscs,
                 .free_opening = true});
  for (const auto& [row, col] : {std::pair{4, 4}, {4, 5}, {5, 5}, {5, 4}}) {
    script.start().opening.push_back(
        {Move::Kind::kPlace, {static_cast<uint8_t>(row), static_cast<uint8_t>(col)}, 0});
  }
  return script.Open().Play(9, 5).Do({.kind = Kind::kExpire}, int64_t{31} * 24 * 3'600'000);
}

Script Rolit() {
  Script script({.variant = Variant::kRolit, .players = 2});
  script.start().turn_limit = absl::Seconds(10);
  script.Open().Play(5, 3);
  const int seat = static_cast<int>(script.table().position.turn());
  return script.Do({.kind = Kind::kTimeOut, .seat = seat}, 10'000);
}

Script Royal() {
  Script script({.variant = Variant::kRoyal});
  return script.Open().Play(200, 7);
}

Script RoyalSides() {
  Script script({.variant = Variant::kRoyal, .players = 6, .sides = true});
  script.start().seats[5].name = "Fay";
  return script.Open().Play(20, 13);
}

Script NeverJoined() {
  Script script({});
  script.start().seats = {{false, "Ann"}, {true, ""}, {true, ""}, {true, ""}};
  return script.Open().Do({.kind = Kind::kExpire}, 86'400'000);
}

std::vector<std::pair<std::string, Script>> Scripts() {
  return {{"multiplayer", Multiplayer()}, {"octagon", Octagon()},         {"handicap", Handicap()},
          {"free_opening", FreeOpening()}, {"rolit", Rolit()},            {"royal", Royal()},
          {"royal_sides", RoyalSides()},   {"never_joined", NeverJoined()}};
}

std::string Json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string text;
  EXPECT_TRUE(google::protobuf::util::MessageToJsonString(message, &text, options).ok());
  return text;
}

std::string Hex(const std::string& bytes) { return absl::BytesToHexString(bytes); }

// What the record says, line by line.
std::vector<std::string> Reading(const Record& record) {
  const Start start = record.start();
  std::vector<std::string> lines = {
      absl::StrCat("put_id ", record.put_id()),
      absl::StrCat("nonce ", Hex(start.nonce), " request ", Hex(start.request), " body ", Hex(start.body))};
  std::vector<std::string> events;
  Table table = {.position = Position(start.rules)};
  EXPECT_TRUE(Replay(record, [&](const Event& event) {
    table = event.after;
    if (!event.created && event.command.kind == Kind::kJoin) {
      lines.push_back(absl::StrCat("join ", event.after.version, " request ", Hex(event.command.request), " wanted ",
                                   event.command.wanted));
    }
    v1::GameEvent message;
    FillEvent(event, &message);
    EXPECT_TRUE(message.ParseFromString(message.SerializeAsString()));  // as it is received
    events.push_back("event " + Json(message));
    return true;
  }));
  v1::Game game;
  FillGame("golden", record, table, absl::InfiniteFuture(), true, &game);
  lines.push_back("game " + Json(game));
  lines.insert(lines.end(), events.begin(), events.end());
  return lines;
}

template <typename Message>
bool SameJson(std::string_view a, std::string_view b) {
  Message first, second;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(std::string(a), &first).ok());
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(std::string(b), &second).ok());
  return google::protobuf::util::MessageDifferencer::Equals(first, second);
}

// JSON by what it says: protobuf may come to write it differently.
bool SameLine(const std::string& a, const std::string& b) {
  for (const std::string word : {"game ", "event "}) {
    if (!absl::StartsWith(a, word) || !absl::StartsWith(b, word)) continue;
    const std::string_view left = std::string_view(a).substr(word.size());
    const std::string_view right = std::string_view(b).substr(word.size());
    return word == "game " ? SameJson<v1::Game>(left, right) : SameJson<v1::GameEvent>(left, right);
  }
  return a == b;
}

std::vector<std::string> LinesOf(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string BytesOf(const std::string& name) {
  std::string bytes;
  EXPECT_EQ(ReadSmallFile(kFolder + name + ".record", &bytes), "");
  return bytes;
}

std::set<std::string> KeptNames() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".record") names.insert(entry.path().stem());
  }
  return names;
}

TEST(RecordGoldenTest, EveryKeptRecordReadsAsItAlwaysDid) {
  const std::set<std::string> names = KeptNames();
  EXPECT_GE(names.size(), 8u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto read = Record::Read(Bytes(BytesOf(name)));
    ASSERT_TRUE(std::holds_alternative<Record>(read)) << std::get<std::string>(read);
    const std::vector<std::string> reads = Reading(std::get<Record>(read));
    if (std::getenv("REVERSI_WRITE_READINGS") != nullptr) {
      std::ofstream out(kFolder + name + ".reads");
      for (const std::string& line : reads) out << line << "\n";
    }
    const std::vector<std::string> kept = LinesOf(kFolder + name + ".reads");
    ASSERT_EQ(reads.size(), kept.size());
    for (size_t i = 0; i < kept.size(); ++i) {
      EXPECT_TRUE(SameLine(reads[i], kept[i])) << "kept:  " << kept[i] << "\nreads: " << reads[i];
    }
  }
}

// What is written differently has to have another format number, and records of its own here.
TEST(RecordGoldenTest, FormatOneIsWrittenByteForByteAsItWas) {
  for (const auto& [name, script] : Scripts()) {
    EXPECT_TRUE(BytesOf(name) == script.record().bytes().view()) << name;
  }
}

TEST(RecordGoldenTest, TheKeptRecordsHaveEverythingThatARecordCanSay) {
  std::set<Variant> variants;
  std::set<Board> boards;
  std::set<Kind> kinds;
  std::set<Move::Kind> moves;
  std::set<EndReason> reasons;
  bool passed = false, played = false;
  for (const auto& [name, script] : Scripts()) {
    variants.insert(script.record().start().rules.variant);
    boards.insert(script.record().start().rules.board);
    Replay(script.record(), [&](const Event& event) {
      if (event.after.state == GameState::kFinished) reasons.insert(event.after.reason);
      passed = passed || event.passed != 0;
      if (event.created) return true;
      kinds.insert(event.command.kind);
      played = played || event.command.on_timeout;
      if (event.command.kind == Kind::kMove) moves.insert(event.command.move.kind);
      return true;
    });
  }
  EXPECT_EQ(variants.size(), Variants().size());
  EXPECT_EQ(boards.size(), static_cast<size_t>(kBoards));
  EXPECT_EQ(kinds.size(), 6u);
  EXPECT_EQ(moves.size(), 3u) << "rows and the Jack too";
  EXPECT_EQ(reasons, (std::set<EndReason>{EndReason::kCompleted, EndReason::kTimeout, EndReason::kAborted,
                                          EndReason::kExpired}));
  EXPECT_TRUE(passed);
  EXPECT_TRUE(played);
}

}  // namespace
}  // namespace reversi
