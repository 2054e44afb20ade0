// A hundred thousand games in every store.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

constexpr int kGames = 100'000;

class ManyGames : public testing::TestWithParam<std::string> {};

std::string RecordFor(int i) { return absl::StrCat("record ", i, std::string(300, static_cast<char>(i))); }

// Puts all with at most 512 in flight.
void PutAll(Store& store) {
  absl::Mutex mu;
  int flying = 0;
  int done = 0;
  for (int i = 0; i < kGames; ++i) {
    {
      const auto room = [&] { return flying < 512; };
      absl::MutexLock lock(&mu, absl::Condition(&room));
      ++flying;
    }
    store.Put(absl::StrCat("game", i), 0, Bytes(RecordFor(i)), [&](PutResult result) {
      absl::MutexLock lock(&mu);
      --flying;
      done += result.outcome == PutOutcome::kDone;
    });
  }
  const auto landed = [&] { return flying == 0; };
  absl::MutexLock lock(&mu, absl::Condition(&landed));
  EXPECT_EQ(done, kGames);
}

TEST_P(ManyGames, AreAllThereAfterReopening) {
  LogLines log;
  const auto place = MakePlace(GetParam());
  auto store = place->Open(log);
  PutAll(*store);
  if (place->durable()) {
    store.reset();
    store = place->Open(log);
    Follow follow(*store);
    follow.WaitCaughtUp();
    EXPECT_EQ(follow.games(), static_cast<size_t>(kGames));
    for (int i = 0; i < kGames; ++i) ASSERT_EQ(follow.RecordOf(absl::StrCat("game", i)), RecordFor(i));
    store.reset();
    return;
  }
  for (int i = 0; i < kGames; ++i) {
    ASSERT_EQ(GetNow(*store, absl::StrCat("game", i)).record.view(), RecordFor(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, ManyGames, testing::ValuesIn(AllKinds()), [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace reversi::stores
