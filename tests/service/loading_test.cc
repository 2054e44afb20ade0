#include "service/loading.h"

#include <gtest/gtest.h>

#include <vector>

namespace reversi {
namespace {

class LoadingTest : public testing::Test {
 protected:
  Loading::Ready Answer() {
    return [this](bool here) { answers_.push_back(here); };
  }

  Loading loading_{false};
  std::vector<bool> answers_;
};

TEST_F(LoadingTest, WaitsUntilEverythingIsHere) {
  loading_.Await(absl::Seconds(5), Answer());
  EXPECT_FALSE(loading_.done());
  EXPECT_TRUE(answers_.empty());
  loading_.Finish();
  EXPECT_EQ(answers_, std::vector<bool>{true});
  loading_.Await(absl::Seconds(5), Answer());
  loading_.Expire(absl::Seconds(100));
  loading_.Stop();
  EXPECT_EQ(answers_, (std::vector<bool>{true, true}));
}

TEST_F(LoadingTest, EveryWaitEndsInItsTime) {
  loading_.Await(absl::Seconds(5), Answer());
  loading_.Await(absl::Seconds(7), Answer());
  loading_.Await(absl::Seconds(6), Answer());
  loading_.Expire(absl::Seconds(4));
  EXPECT_TRUE(answers_.empty());
  loading_.Expire(absl::Seconds(6));
  EXPECT_EQ(answers_, (std::vector<bool>{false, false}));
  loading_.Finish();
  EXPECT_EQ(answers_, (std::vector<bool>{false, false, true}));
}

TEST_F(LoadingTest, TheStopEndsAllWaits) {
  loading_.Await(absl::InfiniteDuration(), Answer());
  loading_.Stop();
  loading_.Await(absl::InfiniteDuration(), Answer());
  EXPECT_EQ(answers_, (std::vector<bool>{false, false}));
}

TEST_F(LoadingTest, OnlySoManyMayWait) {
  for (size_t i = 0; i <= Loading::kMostWaiting; ++i) loading_.Await(absl::Seconds(5), Answer());
  EXPECT_EQ(answers_, std::vector<bool>{false});
}

}  // namespace
}  // namespace reversi
