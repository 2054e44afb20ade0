// The way of commands through one game.
#include "tests/service/game_fixture.h"

namespace reversi {
namespace {

TEST_F(GameTest, NothingIsShownBeforeTheStoreHasIt) {
  Submit(Creation());
  store_.Hold();
  auto watcher = std::make_shared<CountingWatcher>();
  ASSERT_TRUE(game_->AddWatcher(watcher, 10));
  const Slot slot = Submit(NextMove());
  EXPECT_FALSE(slot->has_value());
  EXPECT_EQ(game_->version(), 1u);
  EXPECT_TRUE(game_->EventsFrom(2).bytes.empty());
  EXPECT_EQ(watcher->wakes, 0);
  store_.Release();
  EXPECT_TRUE(IsAccepted(slot));
  EXPECT_EQ(game_->version(), 2u);
  EXPECT_EQ(game_->EventsFrom(2).bytes.size(), 1u);
  EXPECT_EQ(watcher->wakes, 1);
}

TEST_F(GameTest, TheAnswerDoesNotWaitForAPutThatComesBackLate) {
  Submit(Creation());
  bool answered = false, in_time = false;
  store_.BeforePutReturns([&] { in_time = answered; });
  auto proposal = std::make_unique<Proposal>();
  proposal->wish = NextMove();
  proposal->answer = [&](const Answer&) { answered = true; };
  EXPECT_EQ(game_->Submit(std::move(proposal)), nullptr);
  EXPECT_TRUE(in_time);
}

TEST_F(GameTest, TheNextCommandDoesNotWaitForAPutThatComesBackLate) {
  Submit(Creation());
  Slot next;
  store_.BeforePutReturns([&] {
    store_.BeforePutReturns({});
    next = Submit(NextMove());
    EXPECT_TRUE(IsAccepted(next));
  });
  EXPECT_TRUE(IsAccepted(Submit(NextMove())));
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(game_->version(), 3u);
  EXPECT_TRUE(IsAccepted(Submit(NextMove())));
}

TEST_F(GameTest, ACreationThatWaitsIsNoGameYet) {
  store_.Hold();
  const Slot slot = Submit(Creation());
  EXPECT_FALSE(game_->Read().has_value());
  EXPECT_FALSE(slot->has_value());
  store_.LetGo();
  EXPECT_TRUE(IsAccepted(slot));
}

TEST_F(GameTest, CommandsBehindOneInFlightAreJudgedAfterIt) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Hold();
  const Slot first = Submit(move);
  const Slot same = Submit(move);
  MoveWish other = move;
  other.move = game_->Read()->table.position.LegalMoves().back();
  const Slot stale = Submit(other);
  EXPECT_EQ(store_.held(), 1u);
  store_.Release();
  EXPECT_EQ(VersionOf(first), 2u);
  ASSERT_TRUE(IsAccepted(same));
  EXPECT_EQ(VersionOf(same), 2u);
  EXPECT_TRUE(std::get<Accepted>(**same).again);
  EXPECT_EQ(ReasonOf(stale), Reason::kStaleVersion);
  EXPECT_EQ(committed_, (std::vector<uint64_t>{1, 2}));
}

TEST_F(GameTest, AFullLineRefuses) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Hold();
  std::vector<Slot> slots;
  for (int i = 0; i < 6; ++i) slots.push_back(Submit(move));  // one in flight, four wait
  EXPECT_EQ(ReasonOf(slots[5]), Reason::kRateLimited);
  store_.LetGo();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(IsAccepted(slots[static_cast<size_t>(i)])) << i;
}

TEST_F(GameTest, ACommandWhoseCallerHasGoneIsDropped) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Hold();
  MoveWish nonsense = move;
  nonsense.token = "wrong";
  bool gone = true;
  const Slot first = Submit(move);
  const Slot dropped = Submit(nonsense, &gone);
  store_.LetGo();
  EXPECT_TRUE(IsAccepted(first));
  ASSERT_TRUE(dropped->has_value());
  EXPECT_TRUE(std::holds_alternative<Abandoned>(**dropped));
}

TEST_F(GameTest, AnUnknownOutcomeThatLandedIsFoundBeforeTheNextCommand) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Next(Fate::kLandsUnknown);
  const Slot unknown = Submit(move);
  EXPECT_EQ(ReasonOf(unknown), Reason::kStoreUnavailable);
  EXPECT_EQ(game_->version(), 1u);
  const Slot retry = Submit(move);
  ASSERT_TRUE(IsAccepted(retry));
  EXPECT_TRUE(std::get<Accepted>(**retry).again);
  EXPECT_EQ(game_->version(), 2u);
  EXPECT_EQ(committed_, (std::vector<uint64_t>{1, 2}));
}

TEST_F(GameTest, AnUnknownOutcomeThatWasLostLeavesTheGameAsItWas) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Next(Fate::kLostUnknown);
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStoreUnavailable);
  const Slot retry = Submit(move);
  ASSERT_TRUE(IsAccepted(retry));
  EXPECT_FALSE(std::get<Accepted>(**retry).again);
  EXPECT_EQ(game_->version(), 2u);
}

TEST_F(GameTest, WhileTheStoreCannotBeReadAnUncertainGameAcceptsNothing) {
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Next(Fate::kLandsUnknown);
  store_.SetReadable(false);
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStoreUnavailable);
  store_.SetReadable(true);
  EXPECT_TRUE(IsAccepted(Submit(move)));
  EXPECT_EQ(game_->version(), 2u);
}

TEST_F(GameTest, AnUnknownCreationIsFoundByItsRetry) {
  CreateWish wish = Creation();
  wish.start.request = "request";
  wish.start.body = "body";
  CreateWish retry = wish;
  store_.Next(Fate::kLandsUnknown);
  EXPECT_EQ(ReasonOf(Submit(std::move(wish))), Reason::kStoreUnavailable);
  const Slot again = Submit(std::move(retry));
  ASSERT_TRUE(IsAccepted(again));
  EXPECT_TRUE(std::get<Accepted>(**again).again);
}

TEST_F(GameTest, ALineOfManyIsWorkedOffWithoutRecursion) {
  context_->command_queue = 100'000;
  Submit(Creation());
  const MoveWish move = NextMove();
  store_.Hold();
  std::vector<Slot> slots;
  for (int i = 0; i < 50'000; ++i) slots.push_back(Submit(move));
  store_.LetGo();
  for (const Slot& slot : slots) ASSERT_TRUE(IsAccepted(slot));
}

TEST_F(GameTest, AGameWithAWaitingLineIsFreedWithoutRecursion) {
  context_->command_queue = 100'000;
  CreateWish creation = Creation();
  Submit(std::move(creation));
  const MoveWish move = NextMove();
  store_.Hold();
  for (int i = 0; i < 50'000; ++i) Submit(move);
  store_.LetGo();
}

TEST_F(GameTest, AMoveThatComesLateMeetsTheTimeOut) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  const MoveWish move = NextMove();
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStaleVersion);
  const Snapshot snapshot = *game_->Read();
  EXPECT_EQ(snapshot.table.version, 2u);
  EXPECT_EQ(snapshot.table.position.out(), 1);
}

TEST_F(GameTest, StepsOfTheWallClockMoveNoDeadline) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  clock_.StepWall(absl::Hours(1));
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 1u);
  clock_.StepWall(-absl::Hours(2));
  clock_.Advance(absl::Seconds(9));
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 1u);
  clock_.Advance(absl::Seconds(1));
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 2u);
  // Times in the log never go back, though the wall clock did.
  EXPECT_EQ(game_->Read()->table.time, absl::FromUnixSeconds(1'000'000'000));
}

TEST_F(GameTest, IdleSeatsLeaveOneByOneUntilOneHasWon) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  for (int i = 0; i < 10 && game_->state() != GameState::kFinished; ++i) {
    clock_.Advance(absl::Seconds(10));
    game_->CheckDeadline();
  }
  const Table table = game_->Read()->table;
  EXPECT_EQ(table.version, 4u);
  EXPECT_EQ(table.reason, EndReason::kTimeout);
  EXPECT_EQ(table.position.outcome().winner, Color::kGreen);
}

TEST_F(GameTest, OnTimeOutAMoveIsMadeWhereThatWasAskedFor) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  creation.start.timeout_action = TimeoutAction::kPlay;
  Submit(std::move(creation));
  for (int i = 0; i < 200 && game_->state() != GameState::kFinished; ++i) {
    clock_.Advance(absl::Seconds(10));
    game_->CheckDeadline();
  }
  EXPECT_EQ(game_->Read()->table.reason, EndReason::kCompleted);
  EXPECT_EQ(game_->version(), 61u);
}

TEST_F(GameTest, ASeatThatLeavesOutOfTurnLeavesTheClockAlone) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  const absl::Duration before = game_->deadline();
  clock_.Advance(absl::Seconds(4));
  const std::string nonce(game_->Read()->record.nonce());
  ASSERT_TRUE(IsAccepted(Submit(ResignWish{tokens_.SeatToken("game", nonce, 2)})));
  EXPECT_EQ(game_->deadline(), before);
  ASSERT_TRUE(IsAccepted(Submit(ResignWish{tokens_.SeatToken("game", nonce, 0)})));
  EXPECT_EQ(game_->deadline(), before + absl::Seconds(4));
}

TEST_F(GameTest, AnUnreachableStoreDelaysATimeOutAndLosesNothing) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  clock_.Advance(absl::Seconds(10));
  store_.Next(Fate::kLostUnknown);
  store_.SetReadable(false);
  game_->CheckDeadline();
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 1u);
  store_.SetReadable(true);
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 2u);
}

TEST_F(GameTest, ADamagedRecordInTheStoreIsNeverServedAndEndsNothing) {
  CreateWish creation = Creation();
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  const MoveWish move = NextMove();
  store_.Put("game", 1, Bytes("nonsense"), [](PutResult) {});
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStoreUnavailable);
  EXPECT_EQ(ReasonOf(Submit(move)), Reason::kStoreUnavailable);
  clock_.Advance(absl::Seconds(10));
  game_->CheckDeadline();
  EXPECT_EQ(game_->version(), 1u);
}

TEST_F(GameTest, TheLastJoinStartsTheGameAndItsClock) {
  CreateWish creation = Creation(2);
  creation.start.turn_limit = absl::Seconds(10);
  Submit(std::move(creation));
  EXPECT_EQ(game_->state(), GameState::kWaiting);
  EXPECT_EQ(game_->deadline(), absl::InfiniteDuration());
  EXPECT_EQ(ReasonOf(Submit(NextMove())), Reason::kGameNotStarted);
  EXPECT_EQ(ReasonOf(Submit(JoinWish{.wanted = 0})), Reason::kSeatTaken);
  ASSERT_TRUE(IsAccepted(Submit(JoinWish{.wanted = 3, .name = "D", .request = "join"})));
  clock_.Advance(absl::Seconds(1));
  ASSERT_TRUE(IsAccepted(Submit(JoinWish{})));
  EXPECT_EQ(game_->state(), GameState::kActive);
  EXPECT_EQ(game_->deadline(), clock_.Steady() + absl::Seconds(10));
  EXPECT_TRUE(IsAccepted(Submit(JoinWish{.wanted = 3, .name = "D", .request = "join"})));
  EXPECT_EQ(ReasonOf(Submit(JoinWish{.wanted = 3, .name = "E", .request = "join"})), Reason::kMalformedRequest);
  EXPECT_EQ(ReasonOf(Submit(JoinWish{.wanted = 4})), Reason::kMalformedRequest);
  EXPECT_EQ(ReasonOf(Submit(JoinWish{})), Reason::kSeatTaken);
}

TEST_F(GameTest, ResignAndAbortRepeatedAreTheSameEvents) {
  Submit(Creation());
  const std::string nonce(game_->Read()->record.nonce());
  const ResignWish resign{tokens_.SeatToken("game", nonce, 1)};
  const AbortWish abort{tokens_.OwnerToken("game", nonce)};
  EXPECT_EQ(VersionOf(Submit(resign)), 2u);
  EXPECT_EQ(VersionOf(Submit(resign)), 2u);
  EXPECT_EQ(VersionOf(Submit(abort)), 3u);
  EXPECT_EQ(VersionOf(Submit(abort)), 3u);
  EXPECT_EQ(VersionOf(Submit(resign)), 2u);
  EXPECT_EQ(ReasonOf(Submit(ResignWish{tokens_.SeatToken("game", nonce, 2)})), Reason::kGameOver);
  EXPECT_EQ(ReasonOf(Submit(AbortWish{resign.token})), Reason::kBadToken);
  EXPECT_EQ(ReasonOf(Submit(ResignWish{abort.token})), Reason::kBadToken);
}

TEST_F(GameTest, APlaceIsGivenUpOnlyWhenNobodyNeedsIt) {
  store_.Hold();
  CreateWish illegal = Creation();
  illegal.start.opening = {{Move::Kind::kPlace, {0, 0}, 0}};
  EXPECT_EQ(ReasonOf(Submit(std::move(illegal))), Reason::kIllegalMove);
  EXPECT_TRUE(game_->Retire());
  EXPECT_FALSE(game_->Retire());
  auto proposal = std::make_unique<Proposal>();
  proposal->wish = Creation();
  EXPECT_NE(game_->Submit(std::move(proposal)), nullptr);
}

TEST_F(GameTest, ManyThreadsMakeOneLogWithoutGaps) {
  CreateWish creation = Creation();
  Submit(std::move(creation));
  std::atomic<int> accepted = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (game_->state() != GameState::kFinished) {
        auto proposal = std::make_unique<Proposal>();
        const Snapshot snapshot = *game_->Read();
        if (snapshot.table.state == GameState::kFinished) return;
        const Position& position = snapshot.table.position;
        proposal->wish =
            MoveWish{tokens_.SeatToken("game", snapshot.record.nonce(), static_cast<int>(position.turn())),
                     position.LegalMoves().front(), snapshot.table.version};
        // As callers do: the next one when this one is answered.
        absl::Notification answered;
        proposal->answer = [&](Answer answer) {
          if (const auto* got = std::get_if<Accepted>(&answer)) accepted += got->again ? 0 : 1;
          answered.Notify();
        };
        game_->Submit(std::move(proposal));
        answered.WaitForNotification();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(static_cast<uint64_t>(accepted), game_->version() - 1);
  for (size_t i = 0; i < committed_.size(); ++i) EXPECT_EQ(committed_[i], i + 1);
}

}  // namespace
}  // namespace reversi
