// Who takes nothing for too long loses a game that is no longer kept; who takes something now and then does not.
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/service/first_moves.h"
#include "tests/service/in_process_service.h"

namespace reversi {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr absl::Duration kLimit = absl::Hours(3);
// What the service keeps games for.
constexpr absl::Duration kStep = absl::Hours(1);

class WatchStallTest : public testing::Test {
 protected:
  // Read from the first event, a message when the test reads it: until then the server's write of it does not end.
  struct Watch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::WatchGameResponse>> reader;
    uint64_t version = 0;
    bool Next() {
      v1::WatchGameResponse next;
      if (!reader->Read(&next)) return false;
      EXPECT_EQ(next.event().version(), ++version);
      return true;
    }
  };

  std::unique_ptr<Watch> Open(const std::string& game_id) {
    auto watch = std::make_unique<Watch>();
    v1::WatchGameRequest request;
    request.set_game_id(game_id);
    request.set_after_version(0);
    watch->reader = stub_->WatchGame(&watch->context, request);
    return watch;
  }

  // A game of so many moves.
  std::string PlayedGame(int plies) {
    v1::CreateGameResponse created;
    grpc::ClientContext creation;
    EXPECT_TRUE(stub_->CreateGame(&creation, {}, &created).ok());
    PlayFirstMoves(*stub_, created, plies);
    return created.game().game_id();
  }

  // As the server does a few times a second.
  void Tick() {
    house_.watches.Tick(house_.clock.Steady(), kLimit, [this](const Game& game) { return house_.games.Has(game.id()); });
  }

  InProcessService house_;
  std::unique_ptr<v1::GameService::Stub> stub_ = v1::GameService::NewStub(house_.channel);
};

TEST_F(WatchStallTest, OneWhoTakesNothingIsEndedAndOneWhoIsSlowIsNot) {
  const std::string finished = PlayedGame(1000);
  const auto slow = Open(finished);
  const auto stopped = Open(finished);
  ASSERT_TRUE(slow->Next());
  ASSERT_TRUE(stopped->Next());
  house_.clock.Advance(kStep);
  for (int i = 0; i < Games::kSweepCalls; ++i) house_.games.Sweep();
  ASSERT_FALSE(house_.games.Has(finished));
  // Made only now: it is kept as long as nobody sweeps.
  const auto of_kept = Open(PlayedGame(10));
  ASSERT_TRUE(of_kept->Next());

  // Four such steps are more than the limit. The write that follows a read may begin a step later, not two.
  while (slow->Next()) {
    house_.clock.Advance(kStep);
    Tick();
  }
  EXPECT_EQ(slow->version, 61u);
  EXPECT_TRUE(slow->reader->Finish().ok());

  const absl::Time patience = absl::Now() + kPatience;
  while (house_.watches.count() > 1 && absl::Now() < patience) {
    house_.clock.Advance(kStep);
    Tick();
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_EQ(house_.watches.count(), 1u) << "the one whose game is kept";
  while (stopped->Next()) {
  }
  EXPECT_LT(stopped->version, 5u);
  EXPECT_EQ(stopped->reader->Finish().error_code(), grpc::CANCELLED);
  while (of_kept->version < 11) ASSERT_TRUE(of_kept->Next());
}

TEST_F(WatchStallTest, OneWhoTakesNothingHasUntilTheLimit) {
  const std::string finished = PlayedGame(1000);
  const auto resuming = Open(finished);
  ASSERT_TRUE(resuming->Next());
  house_.clock.Advance(kStep);
  for (int i = 0; i < Games::kSweepCalls; ++i) house_.games.Sweep();
  ASSERT_FALSE(house_.games.Has(finished));
  house_.clock.Advance(kLimit - kStep);
  Tick();
  while (resuming->Next()) {
  }
  EXPECT_EQ(resuming->version, 61u);
  EXPECT_TRUE(resuming->reader->Finish().ok());
}

}  // namespace
}  // namespace reversi
