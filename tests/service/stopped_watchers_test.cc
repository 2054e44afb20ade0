// Watchers that stop reading cost what they cost when they stopped: nothing is kept for them while games go on.
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/service/first_moves.h"
#include "tests/service/in_process_service.h"

namespace reversi {
namespace {

constexpr size_t kWatchers = 500;
constexpr int kEventsElsewhere = 10'000;
constexpr absl::Duration kPatience = absl::Seconds(120);

// Under a sanitizer nothing can be told: its allocator keeps no such account.
int64_t BytesInUse() { return static_cast<int64_t>(mallinfo2().uordblks + mallinfo2().hblkhd); }

// A service, one watched game in it and others.
class Table {
 public:
  Table() : house_({10'000, 4}, kWatchers), stub_(v1::GameService::NewStub(house_.channel)), watched_(NewGame()) {}
  ~Table() {
    for (const auto& watch : watches_) watch->context.TryCancel();
  }

  // Opens watches that never read.
  void Watch(size_t count) {
    v1::WatchGameRequest request;
    request.set_game_id(watched_.game().game_id());
    for (size_t i = 0; i < count; ++i) {
      auto& watch = watches_.emplace_back(std::make_unique<OpenWatch>());
      watch->reader = stub_->WatchGame(&watch->context, request);
    }
    const absl::Time patience = absl::Now() + kPatience;
    while (house_.watches.count() < count && absl::Now() < patience) absl::SleepFor(absl::Milliseconds(1));
  }
  size_t watching() const { return house_.watches.count(); }

  // Both return how many moves were made.
  int PlayWatched(int moves) { return PlayFirstMoves(*stub_, watched_, moves); }
  int PlayOthers(int moves) {
    int made = 0;
    while (made < moves) {
      v1::CreateGameResponse other = NewGame();
      made += PlayFirstMoves(*stub_, other, moves - made);
    }
    return made;
  }

 private:
  struct OpenWatch {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReader<v1::WatchGameResponse>> reader;
  };

  v1::CreateGameResponse NewGame() {
    grpc::ClientContext context;
    v1::CreateGameResponse game;
    EXPECT_TRUE(stub_->CreateGame(&context, {}, &game).ok());
    return game;
  }

  InProcessService house_;
  std::unique_ptr<v1::GameService::Stub> stub_;
  v1::CreateGameResponse watched_;
  std::vector<std::unique_ptr<OpenWatch>> watches_;
};

// What is taken while the rest of the watched game and many events of others pass by so many stopped watchers.
int64_t Growth(size_t watchers) {
  Table table;
  table.Watch(watchers);
  table.PlayWatched(4);  // each is stuck in a message by now
  table.PlayOthers(kEventsElsewhere / 10);
  const int64_t before = BytesInUse();
  EXPECT_GT(table.PlayWatched(100), 40);
  table.PlayOthers(kEventsElsewhere);
  const int64_t grown = BytesInUse() - before;
  EXPECT_EQ(table.watching(), watchers);
  return grown;
}

TEST(StoppedWatchersTest, MakeNothingGrowWhileGamesGoOn) {
  const int64_t without = Growth(0);
  const int64_t with = Growth(kWatchers);
  RecordProperty("growth_without", std::to_string(without));
  RecordProperty("growth_with", std::to_string(with));
  EXPECT_LE(with, without + 64 * 1024);
}

}  // namespace
}  // namespace reversi
