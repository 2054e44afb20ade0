// A game that others put into the store too.
#include <algorithm>

#include <gmock/gmock.h>

#include "tests/service/game_fixture.h"

namespace reversi {
namespace {

using ReplicatedGameTest = GameTest;

TEST_F(ReplicatedGameTest, AConflictBringsTheOthersEventsAndTheCommandIsJudgedAnew) {
  Submit(Creation());
  // Another replica of the same game moves first.
  const auto other = NewGame();
  CreateWish creation = Creation();
  ASSERT_EQ(ReasonOf(Submit(*other, std::move(creation))), Reason::kGameIdTaken);
  ASSERT_EQ(other->version(), 1u);
  auto watcher = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(game_->AddWatcher(watcher, 10));
  const MoveWish move = NextMove(*other);
  MoveWish loser = move;
  loser.move = other->Read()->table.position.LegalMoves().back();
  ASSERT_TRUE(IsAccepted(Submit(*other, move)));

  EXPECT_EQ(ReasonOf(Submit(loser)), Reason::kStaleVersion);
  EXPECT_EQ(game_->version(), 2u);
  EXPECT_EQ(watcher->wakes, 1);
  EXPECT_EQ(game_->Read()->table.position, other->Read()->table.position);
}

TEST_F(ReplicatedGameTest, ARetryOnAnotherReplicaIsTheSameAnswer) {
  Submit(Creation());
  const auto other = NewGame();
  Submit(*other, Creation());
  const MoveWish move = NextMove();
  ASSERT_TRUE(IsAccepted(Submit(move)));
  const Slot retry = Submit(*other, move);
  ASSERT_TRUE(IsAccepted(retry));
  EXPECT_TRUE(std::get<Accepted>(**retry).again);
  // Even made in the same millisecond, so that only the put's id tells the two records apart.
  EXPECT_EQ(std::count(puts_.begin(), puts_.end(), PutOutcome::kDone), 2);
  EXPECT_EQ(std::count(puts_.begin(), puts_.end(), PutOutcome::kConflict), 2);
}

TEST_F(ReplicatedGameTest, OverASharedStoreNothingIsRefusedOnOldState) {
  context_->shared = true;
  Submit(Creation());
  const auto other = NewGame();
  Submit(*other, Creation());
  ASSERT_TRUE(IsAccepted(Submit(*other, NextMove(*other))));
  // Here the game is still at 1, where the next seat's move at 2 would be refused.
  ASSERT_EQ(game_->version(), 1u);
  EXPECT_TRUE(IsAccepted(Submit(NextMove(*other))));
  EXPECT_EQ(game_->version(), 3u);
  MoveWish stale = NextMove(*other);
  stale.move = other->Read()->table.position.LegalMoves().back();
  EXPECT_EQ(ReasonOf(Submit(stale)), Reason::kStaleVersion);
  store_.SetReadable(false);
  EXPECT_EQ(ReasonOf(Submit(stale)), Reason::kStoreUnavailable);
}

TEST_F(ReplicatedGameTest, OverASharedStoreARepeatedCreationBringsTheGameAsItIsNow) {
  context_->shared = true;
  CreateWish wish = Creation();
  wish.start.request = "request";
  wish.start.body = "body";
  CreateWish retry = wish;
  Submit(wish);
  const auto other = NewGame();
  Submit(*other, wish);
  ASSERT_TRUE(IsAccepted(Submit(*other, NextMove(*other))));
  ASSERT_EQ(game_->version(), 1u);
  EXPECT_TRUE(IsAccepted(Submit(std::move(retry))));
  EXPECT_EQ(game_->version(), 2u);
}

TEST_F(ReplicatedGameTest, WhatTheFeedTellsIsTakenOverOnce) {
  Submit(Creation());
  const auto other = NewGame();
  Submit(*other, Creation());
  auto watcher = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(game_->AddWatcher(watcher, 10));
  Submit(*other, NextMove(*other));
  const Stored second{2, other->Read()->record.bytes()};
  Submit(*other, NextMove(*other));
  const Stored third{3, other->Read()->record.bytes()};
  committed_.clear();
  EXPECT_TRUE(game_->Offer(third));
  EXPECT_TRUE(game_->Offer(second));
  EXPECT_TRUE(game_->Offer(third));
  EXPECT_EQ(game_->version(), 3u);
  EXPECT_EQ(committed_, (std::vector<uint64_t>{2, 3}));
  EXPECT_EQ(watcher->wakes, 1);
}

TEST_F(ReplicatedGameTest, WhatCannotBeReadIsReportedAndNotServed) {
  Submit(Creation());
  EXPECT_TRUE(game_->Offer({2, Bytes("no record")}));
  EXPECT_EQ(unreadable_, 1);
  EXPECT_EQ(game_->version(), 1u);
  EXPECT_TRUE(IsAccepted(Submit(NextMove())));
}

// Two who learn of a game at once: one is taking it over while the other finds that it has no version yet.
TEST_F(ReplicatedGameTest, NobodyRetiresAGameThatAnotherIsTakingOver) {
  const auto game = NewGame();
  bool retired = true;
  at_unreadable_ = [&] { retired = game->RetireIdle(); };
  EXPECT_TRUE(game->Offer({1, Bytes("no record")}));
  EXPECT_FALSE(retired);
  EXPECT_TRUE(game->RetireIdle());
}

TEST_F(ReplicatedGameTest, AGameThatIsNoLongerInTheStoreVanishes) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Delete("game", 1, [](const PutResult&) {});
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kGameNotFound);
  EXPECT_EQ(vanished_, 1);
  EXPECT_FALSE(game_->Offer({2, Bytes("anything")})) << "its place is given up";
}

TEST_F(ReplicatedGameTest, AfterAGameThatHasVanishedTheNextOfItsIdIsFollowed) {
  Submit(Creation());
  store_.Delete("game", 1, [](const PutResult&) {});
  ASSERT_TRUE(IsAccepted(Submit(*NewGame(), Creation())));
  EXPECT_EQ(game_->Read()->table.version, 1u);
  game_->Doubt();
  game_->CheckDeadline();
  EXPECT_TRUE(game_->gone());
  EXPECT_THAT(followed_, testing::ElementsAre(testing::Pair("game", 1u)));
}

TEST_F(ReplicatedGameTest, NewsOfItsDeletionIsWorthWhatTheStoreSaysThen) {
  Submit(Creation());
  auto watcher = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(game_->AddWatcher(watcher, 10));
  game_->Doubt();
  game_->CheckDeadline();
  EXPECT_FALSE(game_->gone()) << "the news was late";
  EXPECT_EQ(game_->deadline(), absl::InfiniteDuration());
  store_.Delete("game", 1, [](const PutResult&) {});
  store_.SetReadable(false);
  game_->Doubt();
  game_->CheckDeadline();
  EXPECT_FALSE(game_->gone()) << "the store has not answered";
  EXPECT_LE(game_->deadline(), clock_.Steady()) << "and is asked again";
  EXPECT_EQ(watcher->wakes, 0);
  store_.SetReadable(true);
  game_->CheckDeadline();
  EXPECT_TRUE(game_->gone());
  EXPECT_EQ(vanished_, 1);
  EXPECT_EQ(watcher->wakes, 1);
  EXPECT_EQ(game_->deadline(), absl::InfiniteDuration());
}

}  // namespace
}  // namespace reversi
