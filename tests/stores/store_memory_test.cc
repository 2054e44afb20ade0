// A compacted game is the same to whoever asks, and may be put to and deleted as any other.
#include "service/store_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

// Turned round; what begins with "no" cannot be.
MemoryStore::Packing Turned() {
  return {[](std::string_view record) {
            return record.starts_with("no") ? std::string() : std::string(record.rbegin(), record.rend());
          },
          [](std::string_view packed) { return Bytes(std::string(packed.rbegin(), packed.rend())); }};
}

class MemoryStoreTest : public testing::Test {
 protected:
  void PutUpTo(uint64_t version, const std::string& record) {
    for (uint64_t before = 0; before < version; ++before) {
      ASSERT_EQ(PutNow(store_, "game", before, record).outcome, PutOutcome::kDone);
    }
  }
  void ExpectStands(uint64_t version, std::string_view record) {
    const Stored stored = GetNow(store_, "game");
    EXPECT_EQ(stored.version, version);
    EXPECT_EQ(stored.record.view(), record);
  }

  MemoryStore store_{Turned()};
};

TEST_F(MemoryStoreTest, ACompactedGameReadsAsBefore) {
  uint64_t version = 0;
  for (const uint64_t next : {1, 2, 127, 128, 300}) {
    for (; version < next; ++version) {
      ASSERT_EQ(PutNow(store_, "game", version, "a record").outcome, PutOutcome::kDone);
    }
    store_.Compact("game");
    ExpectStands(version, "a record");
    store_.Compact("game");
    ExpectStands(version, "a record");
  }
}

TEST_F(MemoryStoreTest, ACompactedGameIsPutToAsAnyOther) {
  PutUpTo(3, "old");
  store_.Compact("game");
  for (const uint64_t wrong : {0, 2, 4}) {
    const PutResult result = PutNow(store_, "game", wrong, "other");
    EXPECT_EQ(result.outcome, PutOutcome::kConflict);
    EXPECT_EQ(result.current.version, 3u);
    EXPECT_EQ(result.current.record.view(), "old");
  }
  EXPECT_EQ(PutNow(store_, "game", 3, "new").outcome, PutOutcome::kDone);
  ExpectStands(4, "new");
  // Nothing of it stayed behind.
  EXPECT_EQ(DeleteNow(store_, "game", 4).outcome, PutOutcome::kDone);
  ExpectStands(0, "");
}

TEST_F(MemoryStoreTest, ACompactedGameIsDeletedAsAnyOther) {
  PutUpTo(3, "old");
  store_.Compact("game");
  const PutResult result = DeleteNow(store_, "game", 2);
  EXPECT_EQ(result.outcome, PutOutcome::kConflict);
  EXPECT_EQ(result.current.version, 3u);
  EXPECT_EQ(result.current.record.view(), "old");
  EXPECT_EQ(DeleteNow(store_, "game", 3).outcome, PutOutcome::kDone);
  ExpectStands(0, "");
  PutUpTo(1, "another");
  ExpectStands(1, "another");
}

TEST_F(MemoryStoreTest, WhatCannotBePackedStaysAsItIs) {
  PutUpTo(2, "no");
  store_.Compact("game");
  ExpectStands(2, "no");
  store_.Compact("nobody");
  EXPECT_EQ(GetNow(store_, "nobody").version, 0u);
}

}  // namespace
}  // namespace reversi::stores
