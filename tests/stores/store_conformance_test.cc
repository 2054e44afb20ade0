// What every store promises, asked of each of them: the real RocksDB and a real etcd process among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

using testing::ElementsAre;

class StoreConformance : public testing::TestWithParam<std::string> {
 protected:
  StoreConformance() : place_(MakePlace(GetParam())), store_(place_->Open(log_)) {}

  void Reopen() {
    store_.reset();
    store_ = place_->Open(log_);
  }

  LogLines log_;
  std::unique_ptr<Place> place_;
  std::unique_ptr<Store> store_;
};

void InThreads(int threads, const std::function<void(int)>& work) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work, i);
  for (std::thread& thread : all) thread.join();
}

TEST_P(StoreConformance, AGameThatWasNeverPutIsVersionZero) {
  const Stored stored = GetNow(*store_, "nobody");
  EXPECT_EQ(stored.version, 0u);
  EXPECT_TRUE(stored.record.empty());
}

TEST_P(StoreConformance, VersionsCountPutsAndAConflictBringsWhatStands) {
  EXPECT_EQ(PutNow(*store_, "game", 0, "one").outcome, PutOutcome::kDone);
  EXPECT_EQ(PutNow(*store_, "game", 1, "two").outcome, PutOutcome::kDone);
  for (uint64_t wrong : {0, 1, 3, 1000}) {
    const PutResult result = PutNow(*store_, "game", wrong, "other");
    EXPECT_EQ(result.outcome, PutOutcome::kConflict) << wrong;
    EXPECT_EQ(result.current.version, 2u);
    EXPECT_EQ(result.current.record.view(), "two");
  }
  const PutResult none = PutNow(*store_, "nobody", 1, "other");
  EXPECT_EQ(none.outcome, PutOutcome::kConflict);
  EXPECT_EQ(none.current.version, 0u);
  const Stored stored = GetNow(*store_, "game");
  EXPECT_EQ(stored.version, 2u);
  EXPECT_EQ(stored.record.view(), "two");
  EXPECT_EQ(GetNow(*store_, "gam").version, 0u);
  EXPECT_EQ(GetNow(*store_, "games").version, 0u);
}

TEST_P(StoreConformance, OneOfManyRacingCreationsWins) {
  for (int round = 0; round < 5; ++round) {
    const std::string game = absl::StrCat("game", round);
    std::atomic<int> won = 0;
    std::string winner;
    InThreads(64, [&](int i) {
      const PutResult result = PutNow(*store_, game, 0, absl::StrCat("by ", i));
      if (result.outcome == PutOutcome::kDone) {
        ++won;
        winner = absl::StrCat("by ", i);
      } else {
        EXPECT_EQ(result.outcome, PutOutcome::kConflict);
        EXPECT_EQ(result.current.version, 1u);
      }
    });
    EXPECT_EQ(won, 1);
    EXPECT_EQ(GetNow(*store_, game).record.view(), winner);
  }
}

// Sixty-four writers append to the same few games: every accepted put saw the one before it.
TEST_P(StoreConformance, NoPutIsLostOrOverwrittenUnderRacingWriters) {
  constexpr int kWriters = 64;
  constexpr int kGames = 4;
  constexpr int kPuts = 6;
  InThreads(kWriters, [&](int writer) {
    const std::string game = absl::StrCat("game", writer % kGames);
    Stored seen;
    for (int accepted = 0; accepted < kPuts;) {
      const std::string record = absl::StrCat(std::string(seen.record.view()), writer, ",");
      PutResult result = PutNow(*store_, game, seen.version, record);
      ASSERT_NE(result.outcome, PutOutcome::kUnknown);
      if (result.outcome == PutOutcome::kDone) {
        ++accepted;
        seen = {seen.version + 1, Bytes(record)};
      } else {
        seen = std::move(result.current);
      }
    }
  });
  for (int i = 0; i < kGames; ++i) {
    const Stored stored = GetNow(*store_, absl::StrCat("game", i));
    EXPECT_EQ(stored.version, static_cast<uint64_t>(kWriters / kGames * kPuts));
    EXPECT_EQ(static_cast<uint64_t>(std::count(stored.record.view().begin(), stored.record.view().end(), ',')),
              stored.version);
  }
}

TEST_P(StoreConformance, DeletionComparesTooAndTheIdBeginsAnew) {
  PutNow(*store_, "game", 0, "one");
  PutNow(*store_, "game", 1, "two");
  const PutResult early = DeleteNow(*store_, "game", 1);
  EXPECT_EQ(early.outcome, PutOutcome::kConflict);
  EXPECT_EQ(early.current.version, 2u);
  EXPECT_EQ(GetNow(*store_, "game").version, 2u);
  EXPECT_EQ(DeleteNow(*store_, "game", 2).outcome, PutOutcome::kDone);
  EXPECT_EQ(GetNow(*store_, "game").version, 0u);
  EXPECT_EQ(PutNow(*store_, "game", 2, "three").outcome, PutOutcome::kConflict);
  EXPECT_EQ(PutNow(*store_, "game", 0, "anew").outcome, PutOutcome::kDone);
  EXPECT_EQ(GetNow(*store_, "game").version, 1u);
}

TEST_P(StoreConformance, TheFeedTellsEveryGameInOrderUpToItsNewest) {
  Follow follow(*store_);
  follow.WaitCaughtUp();
  EXPECT_EQ(follow.games(), 0u);
  constexpr uint64_t kPuts = 25;
  InThreads(8, [&](int i) {
    const std::string game = absl::StrCat("game", i);
    for (uint64_t version = 0; version < kPuts; ++version) {
      ASSERT_EQ(PutNow(*store_, game, version, absl::StrCat("record ", version + 1)).outcome, PutOutcome::kDone);
    }
  });
  DeleteNow(*store_, "game0", kPuts);
  for (int i = 0; i < 8; ++i) {
    const std::string game = absl::StrCat("game", i);
    ASSERT_TRUE(follow.WaitFor(game, i == 0 ? 0 : kPuts)) << game;
    std::vector<uint64_t> versions = follow.Versions(game);
    EXPECT_EQ(follow.RecordOf(game), i == 0 ? "" : absl::StrCat("record ", kPuts));
    if (i == 0) versions.pop_back();
    EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end(), std::less_equal<>())) << game;
  }
  store_.reset();
}

TEST_P(StoreConformance, RecordsOfAnyBytesAndAMebibyteComeBackAsTheyWere) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  std::string large;
  while (large.size() < (1 << 20)) large += all;
  EXPECT_EQ(PutNow(*store_, "bytes", 0, all).outcome, PutOutcome::kDone);
  EXPECT_EQ(PutNow(*store_, "large", 0, large).outcome, PutOutcome::kDone);
  EXPECT_EQ(GetNow(*store_, "bytes").record.view(), all);
  EXPECT_TRUE(GetNow(*store_, "large").record.view() == large);
  // Many at once do not fit in one batch.
  std::atomic<int> left = 24;
  std::atomic<int> done = 0;
  absl::Notification all_came;
  for (int i = 0; i < 24; ++i) {
    store_->Put(absl::StrCat("large", i), 0, Bytes(std::string_view(large).substr(0, 300'000)), [&](PutResult result) {
      done += result.outcome == PutOutcome::kDone;
      if (--left == 0) all_came.Notify();
    });
  }
  MustCome(all_came, "one of 24 puts");
  EXPECT_EQ(done, 24);
}

TEST_P(StoreConformance, ACompletionMayCallTheStoreAgain) {
  constexpr uint64_t kChain = 300;
  absl::Notification end;
  std::function<void(uint64_t)> put = [&](uint64_t version) {
    store_->Put("chain", version, Bytes("x"), [&, version](PutResult result) {
      ASSERT_EQ(result.outcome, PutOutcome::kDone);
      if (version + 1 < kChain) return put(version + 1);
      store_->Get("chain", [&](bool ok, const Stored& stored) {
        EXPECT_TRUE(ok);
        EXPECT_EQ(stored.version, kChain);
        end.Notify();
      });
    });
  };
  put(0);
  MustCome(end, "the end of the chain");
}

TEST_P(StoreConformance, WhatWasAcknowledgedIsThereAfterReopening) {
  if (!place_->durable()) GTEST_SKIP() << "a restart loses everything, as it says";
  PutNow(*store_, "kept", 0, "one");
  PutNow(*store_, "kept", 1, "two");
  PutNow(*store_, "deleted", 0, "one");
  DeleteNow(*store_, "deleted", 1);
  Reopen();
  {
    Follow follow(*store_);
    follow.WaitCaughtUp();
    EXPECT_THAT(follow.Versions("kept"), ElementsAre(2u));
    EXPECT_THAT(follow.Versions("deleted"), ElementsAre());
    EXPECT_EQ(follow.RecordOf("kept"), "two");
    EXPECT_EQ(GetNow(*store_, "kept").record.view(), "two");
    EXPECT_EQ(PutNow(*store_, "kept", 2, "three").outcome, PutOutcome::kDone);
    EXPECT_TRUE(follow.WaitFor("kept", 3));
    store_.reset();
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, testing::ValuesIn(AllKinds()),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace reversi::stores
