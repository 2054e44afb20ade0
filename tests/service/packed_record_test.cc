// What a store in memory packs comes back whole.
#include "service/packed_record.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/random.h"
#include "service/record.h"
#include "service/record_bytes.h"
#include "service/small_file.h"

namespace reversi {
namespace {

using Kind = Command::Kind;

Start SomeStart() {
  Start start;
  start.rules = std::get<Rules>(MakeRules({}));
  start.seats.resize(4);
  start.created = absl::FromUnixMillis(1'800'000'000'123);
  start.nonce = "nonce of 16 byte";
  return start;
}

Record RecordOf(const Start& start, const std::vector<std::pair<Command, int64_t>>& commands) {
  Record record = Record::Begin(start, 0x1234567890abcdef);
  absl::Time time = start.created;
  for (const auto& [what, elapsed_ms] : commands) {
    Command command = what;
    command.time = time + absl::Milliseconds(elapsed_ms);
    record = record.With(command, time, 0xfedcba9876543210);
    time = command.time;
  }
  return record;
}

// All but the put_id, and how many bytes it took.
size_t ExpectWhole(std::string_view record) {
  const std::string packed = PackRecord(record);
  EXPECT_FALSE(packed.empty());
  const Bytes whole = UnpackRecord(packed);
  EXPECT_EQ(whole.view().substr(0, kPutIdAt), record.substr(0, kPutIdAt));
  EXPECT_EQ(whole.view().substr(kPutIdAt, 8), std::string(8, '\0'));
  EXPECT_TRUE(whole.view().substr(kAfterPutId) == record.substr(kAfterPutId));
  return packed.size();
}

Command Place(int row, int col) {
  return {.move = {Move::Kind::kPlace, {static_cast<uint8_t>(row), static_cast<uint8_t>(col)}, 0}};
}

TEST(PackedRecordTest, EveryKeptRecordComesBack) {
  int records = 0;
  for (const auto& entry : std::filesystem::directory_iterator(REVERSI_TEST_DATA "/records/")) {
    if (entry.path().extension() != ".record") continue;
    SCOPED_TRACE(entry.path());
    std::string record;
    ASSERT_EQ(ReadSmallFile(entry.path(), &record), "");
    EXPECT_LT(ExpectWhole(record), record.size());
    ++records;
  }
  EXPECT_GE(records, 8);
}

TEST(PackedRecordTest, EveryKindOfEventComesBack) {
  const Start start = SomeStart();
  const std::vector<Command> events = {
      Place(0, 0),
      {.move = {Move::Kind::kPlace, {7, 7}, 0}, .on_timeout = true},
      {.move = {Move::Kind::kPlaceRows, {8, 8}, 0xff}},
      {.move = {Move::Kind::kPlaceRows, {0, 8}, 0x01}, .on_timeout = true},
      {.move = {Move::Kind::kJack, {}, 0}},
      {.kind = Kind::kJoin, .seat = 3, .name = {}, .request = {}, .wanted = -1},
      {.kind = Kind::kJoin, .seat = 5, .name = std::string(300, 'n'), .request = std::string(40, '\xff'), .wanted = 5},
      {.kind = Kind::kResign, .seat = 2},
      {.kind = Kind::kTimeOut, .seat = 1},
      {.kind = Kind::kAbort},
      {.kind = Kind::kExpire},
  };
  ExpectWhole(RecordOf(start, {}).bytes().view());
  std::vector<std::pair<Command, int64_t>> all;
  for (const Command& event : events) {
    ExpectWhole(RecordOf(start, {{event, 77}}).bytes().view());
    all.emplace_back(event, 1000);
    ExpectWhole(RecordOf(start, all).bytes().view());
  }
}

TEST(PackedRecordTest, EverySquareComesBackAmongOthers) {
  std::vector<std::pair<Command, int64_t>> all;
  for (int row = 0; row < 10; ++row) {
    for (int col = 0; col < 10; ++col) {
      ExpectWhole(RecordOf(SomeStart(), {{Place(row, col), 5}}).bytes().view());
      all.emplace_back(Place(row, col), 5);
      ExpectWhole(RecordOf(SomeStart(), all).bytes().view());
    }
  }
}

TEST(PackedRecordTest, EveryPauseComesBackAmongOthers) {
  std::vector<int64_t> pauses = {std::numeric_limits<int64_t>::max() / 4, -1};  // a clock may be set back
  for (int bit = 0; bit < 61; ++bit) {
    for (int by = -1; by <= 1; ++by) pauses.push_back((int64_t{1} << bit) + by);
  }
  for (const int64_t usual : {0, 1, 3, 6, 5000, 16'383, 1'000'000}) {
    for (const int64_t pause : pauses) {
      std::vector<std::pair<Command, int64_t>> events(30, {Place(3, 2), usual});
      events[17].second = pause;
      ExpectWhole(RecordOf(SomeStart(), events).bytes().view());
      ExpectWhole(RecordOf(SomeStart(), {{Place(3, 2), pause}}).bytes().view());
    }
  }
}

TEST(PackedRecordTest, AWholeGameTakesNoMoreThanItsSquaresAndTimes) {
  SplitMix64 random(7);
  std::vector<std::pair<Command, int64_t>> moves;
  for (int i = 0; i < 60; ++i) {
    moves.emplace_back(Place(static_cast<int>(random.Below(8)), static_cast<int>(random.Below(8))),
                       static_cast<int64_t>(1000 + random.Below(29'001)));
  }
  // Six bits for a square, fifteen for a time, and what the game began with.
  EXPECT_LE(ExpectWhole(RecordOf(SomeStart(), moves).bytes().view()), 192u);
  // One that thinks for a day costs its own bytes alone.
  moves[30].second = 86'400'000;
  EXPECT_LE(ExpectWhole(RecordOf(SomeStart(), moves).bytes().view()), 196u);
  for (auto& [move, elapsed_ms] : moves) elapsed_ms = 0;
  EXPECT_LE(ExpectWhole(RecordOf(SomeStart(), moves).bytes().view()), 90u);
}

TEST(PackedRecordTest, WhatIsNoRecordIsNotPacked) {
  const Record record = RecordOf(SomeStart(), {{Place(3, 2), 5}, {{.kind = Kind::kResign, .seat = 2}, 7}});
  const std::string_view whole = record.bytes().view();
  EXPECT_EQ(PackRecord(""), "");
  EXPECT_EQ(PackRecord("no record"), "");
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(PackRecord(whole.substr(0, size)), "") << size;
  std::string damaged(whole);
  damaged[damaged.size() - 3] = '\x7f';  // no event
  EXPECT_EQ(PackRecord(damaged), "");
}

}  // namespace
}  // namespace reversi
