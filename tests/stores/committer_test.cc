#include "service/committer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace reversi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A committer whose batches wait here until the test finishes them.
struct Bench {
  explicit Bench(const Committer::Limits& limits) : committer(limits) {}

  void Add(const std::string& game, size_t bytes = 1, absl::Duration give_up = absl::InfiniteDuration()) {
    Begin(committer.Add({game, 0, Bytes(std::string(bytes, 'x')),
                         [this, game](PutResult result) {
                           (result.outcome == PutOutcome::kUnknown ? unknown : done).push_back(game);
                         },
                         give_up}));
  }
  void Begin(StoreBatch batch) {
    if (!batch.empty()) written.push_back(std::move(batch));
  }
  // Completes the oldest batch.
  size_t Complete() {
    StoreBatch batch = std::move(written.front());
    written.erase(written.begin());
    committer.Answering();
    for (StoreOp& op : batch) op.done({PutOutcome::kDone});
    return batch.size();
  }
  // And goes on with the next one.
  void Finish(absl::Duration now = absl::ZeroDuration()) { Begin(committer.Next(Complete(), now)); }
  // Callers that come, or come again: from this number up to that one.
  void Come(int from, int to) {
    for (int i = from; i < to; ++i) Add(absl::StrCat("caller ", i));
  }
  // Eight callers, who come again as soon as they are answered, have been counted; the next batch is held for seven of
  // them, and one waits.
  void HoldForEight(absl::Duration now = absl::ZeroDuration()) {
    Come(0, 8);
    Finish(now);
    Come(0, 1);
    Finish(now);
    EXPECT_TRUE(committer.MayHold());
    Come(1, 8);
    Finish(now);
    Come(0, 1);
    EXPECT_EQ(Games(0).size(), 7u);
    Finish(now);
    EXPECT_THAT(written, IsEmpty());
  }
  std::vector<std::string> Games(size_t batch) const {
    std::vector<std::string> games;
    for (const StoreOp& op : written.at(batch)) games.emplace_back(op.game_id.text());
    return games;
  }

  std::vector<StoreBatch> written;
  std::vector<std::string> done;
  std::vector<std::string> unknown;
  Committer committer;
};

TEST(Committer, ALonePutWaitsForNobody) {
  Bench bench({.ops = 10});
  bench.Add("a");
  ASSERT_EQ(bench.written.size(), 1u);
  bench.Finish();
  EXPECT_THAT(bench.done, ElementsAre("a"));
  bench.committer.AwaitIdle();
}

TEST(Committer, WhatComesWhileABatchIsWrittenSharesTheNext) {
  Bench bench({.ops = 10});
  for (const char* game : {"a", "b", "c", "d"}) bench.Add(game);
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_THAT(bench.Games(0), ElementsAre("a"));
  bench.Finish();
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_THAT(bench.Games(0), ElementsAre("b", "c", "d"));
}

TEST(Committer, OneGameComesOnceInABatchAndKeepsItsOrder) {
  Bench bench({.ops = 10});
  for (const char* game : {"first", "a", "a", "b", "a", "c"}) bench.Add(game);
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("a", "b", "c"));
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("a"));
  bench.Add("d");
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("a", "d"));
}

TEST(Committer, BatchesKeepTheirLimits) {
  Bench bench({.ops = 3, .bytes = 100});
  bench.Add("first");
  for (const char* game : {"a", "b", "c", "d"}) bench.Add(game);
  bench.Add("large", 90);
  bench.Add("huge", 1000);
  bench.Add("z", 20);
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("a", "b", "c"));
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("d", "large"));
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("huge")) << "goes alone";
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("z"));
}

TEST(Committer, AsManyBatchesAreUnderWayAsAllowed) {
  Bench bench({.ops = 10, .under_way = 2, .beside = 10});
  for (const char* game : {"a", "b", "c", "d"}) bench.Add(game);
  ASSERT_EQ(bench.written.size(), 2u);
  bench.Finish();
  ASSERT_EQ(bench.written.size(), 2u);
  EXPECT_THAT(bench.Games(1), ElementsAre("c", "d"));
}

TEST(Committer, BesideALargeBatchNoOtherBegins) {
  Bench bench({.ops = 10, .under_way = 2, .beside = 3});
  for (const char* game : {"a", "b", "c", "d", "e"}) bench.Add(game);
  ASSERT_EQ(bench.written.size(), 2u);
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("b"));
  EXPECT_THAT(bench.Games(1), ElementsAre("c", "d", "e"));
  bench.Finish();
  bench.Add("f");
  ASSERT_EQ(bench.written.size(), 1u) << "gathers while three are under way";
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("f"));
}

constexpr Committer::Limits kHolding{.ops = 100, .hold = absl::Seconds(3)};

TEST(Committer, HoldsABatchUntilThoseWhoWereAnsweredHaveComeAgain) {
  Bench bench(kHolding);
  bench.HoldForEight();
  bench.Come(1, 6);
  EXPECT_THAT(bench.committer.TakeHeld(absl::Seconds(2)), IsEmpty());
  EXPECT_THAT(bench.written, IsEmpty());
  bench.Come(6, 7);
  ASSERT_EQ(bench.written.size(), 1u) << "the last of eight is not worth the wait";
  EXPECT_EQ(bench.Games(0).size(), 7u);
}

TEST(Committer, WhatIsHeldGoesAfterItsTimeAndCallersAreCountedAnew) {
  Bench bench(kHolding);
  bench.HoldForEight(absl::Seconds(10));
  bench.Come(1, 3);
  EXPECT_THAT(bench.committer.TakeHeld(absl::Seconds(12)), IsEmpty());
  bench.Begin(bench.committer.TakeHeld(absl::Seconds(13)));
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_EQ(bench.Games(0).size(), 3u);
  bench.Finish();
  bench.Come(0, 1);
  ASSERT_EQ(bench.written.size(), 1u) << "nothing is held while callers are counted";
  bench.Come(1, 3);
  bench.Finish();
  EXPECT_THAT(bench.written, IsEmpty()) << "there are three";
  bench.Come(0, 1);
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_EQ(bench.Games(0).size(), 3u);
}

TEST(Committer, WhatCameWhileABatchWasHeldDoesNotMakeTheNextOneWaitForMore) {
  Bench bench(kHolding);
  bench.HoldForEight();
  bench.Come(1, 7);
  bench.Come(20, 22);
  bench.Finish();
  bench.Come(22, 26);
  EXPECT_THAT(bench.written, IsEmpty());
  bench.Come(26, 27);
  EXPECT_EQ(bench.written.size(), 1u);
}

TEST(Committer, CallersWhoComeWhetherTheyAreAnsweredOrNotAreNotHeld) {
  Bench bench(kHolding);
  bench.HoldForEight();
  bench.Come(1, 7);
  for (int batch = 0; batch < 40; ++batch) {
    bench.Come(20, 23);
    bench.Finish();
    EXPECT_EQ(bench.written.size(), 1u) << "seven were answered, three wait, and there are eight";
  }
}

TEST(Committer, MoreCallersThanABatchHasRoomForAreNotTakenForOthers) {
  Committer::Limits limits = kHolding;
  limits.ops = 10;
  Bench bench(limits);
  bench.Come(0, 15);
  EXPECT_FALSE(bench.committer.MayHold());
  int full = 0;
  constexpr int kRounds = 60;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::string> answered = bench.Games(0);
    bench.Finish();
    if (round == 1) {
      EXPECT_TRUE(bench.committer.MayHold());
    }
    for (const std::string& game : answered) bench.Add(game);
    ASSERT_EQ(bench.written.size(), 1u);
    full += bench.Games(0).size() == 10;
  }
  EXPECT_GT(full, kRounds * 8 / 10);
}

TEST(Committer, HoldsNothingWhileMoreWaitThanABatchHasRoomFor) {
  Committer::Limits limits = kHolding;
  limits.bytes = 3;
  Bench bench(limits);
  bench.Come(0, 12);
  for (int round = 0; round < 20; ++round) {
    const std::vector<std::string> answered = bench.Games(0);
    bench.Finish();
    if (round == 1) {
      EXPECT_TRUE(bench.committer.MayHold());
    }
    EXPECT_EQ(bench.written.size(), 1u) << "three of twelve have been answered";
    for (const std::string& game : answered) bench.Add(game);
  }
}

TEST(Committer, CountsCallersAgainNowAndThen) {
  Bench bench(kHolding);
  bench.HoldForEight();
  bench.Come(1, 8);
  int held = 0;
  constexpr int kRounds = 140;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::string> answered = bench.Games(0);
    bench.Finish();
    held += bench.written.empty();
    for (const std::string& game : answered) bench.Add(game);
  }
  EXPECT_GT(held, kRounds / 2);
  EXPECT_LT(held, kRounds);
}

TEST(Committer, HoldsNothingForAFew) {
  Committer::Limits limits = kHolding;
  limits.beside = 8;
  Bench bench(limits);
  bench.Come(0, 6);
  bench.Finish();
  bench.Finish();
  EXPECT_TRUE(bench.committer.MayHold());
  for (int i = 0; i < 4; ++i) {
    bench.Come(i, i + 1);
    EXPECT_EQ(bench.written.size(), 1u);
    bench.Finish();
  }
}

TEST(Committer, HoldsNothingUnlessOperationsHaveSharedABatch) {
  Bench bench(kHolding);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(bench.committer.MayHold());
    bench.Come(0, 1);
    EXPECT_EQ(bench.written.size(), 1u) << "all went alone";
    bench.Finish();
  }
  bench.Come(0, 8);
  for (int i = 0; i < 4; ++i) {
    bench.Finish();
    bench.Come(0, 8);
    EXPECT_EQ(bench.written.size(), 1u) << "nobody has asked: nobody would look after what is held";
  }
}

TEST(Committer, WhatIsLeftGoesWithTheNextThatComes) {
  Bench bench({.ops = 10});
  for (const char* game : {"a", "b"}) bench.Add(game);
  bench.committer.Leave(bench.Complete());
  EXPECT_THAT(bench.written, IsEmpty());
  bench.Add("c");
  ASSERT_EQ(bench.written.size(), 1u);
  EXPECT_THAT(bench.Games(0), ElementsAre("b", "c"));
  EXPECT_THAT(bench.committer.TakeLeft(), IsEmpty());
}

TEST(Committer, WhatIsLeftCanBeTakenByWhoeverLooks) {
  Bench bench({.ops = 10});
  for (const char* game : {"a", "b"}) bench.Add(game);
  EXPECT_THAT(bench.committer.TakeLeft(), IsEmpty()) << "another one is being written";
  bench.committer.Leave(bench.Complete());
  bench.Begin(bench.committer.TakeLeft());
  EXPECT_THAT(bench.Games(0), ElementsAre("b"));
  bench.Finish();
  EXPECT_THAT(bench.committer.TakeLeft(), IsEmpty());
  bench.committer.AwaitIdle();
}

TEST(Committer, WhatWaitsTooLongIsUnknown) {
  Bench bench({.ops = 10});
  bench.Add("first", 1, absl::Seconds(5));
  bench.Add("early", 1, absl::Seconds(5));
  bench.Add("late", 1, absl::Seconds(7));
  bench.committer.Expire(absl::Seconds(6));
  EXPECT_THAT(bench.unknown, ElementsAre("early")) << "and what is being written is left alone";
  bench.Finish();
  EXPECT_THAT(bench.Games(0), ElementsAre("late"));
}

TEST(Committer, RefusesWhatItHasNoRoomFor) {
  Bench bench({.ops = 10, .waiting = 2});
  for (const char* game : {"first", "a", "b", "c"}) bench.Add(game);
  EXPECT_THAT(bench.unknown, ElementsAre("c"));
}

TEST(Committer, StoppedItCompletesEverythingThatWaitsOrComes) {
  Bench bench({.ops = 10});
  for (const char* game : {"first", "a"}) bench.Add(game);
  bench.committer.Stop();
  bench.Add("b");
  EXPECT_THAT(bench.unknown, ElementsAre("a", "b"));
  bench.Finish();
  EXPECT_THAT(bench.done, ElementsAre("first"));
  EXPECT_THAT(bench.written, IsEmpty());
}

}  // namespace
}  // namespace reversi
