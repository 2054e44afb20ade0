// A server that comes back with a hundred thousand games on its disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/random.h"
#include "service/record.h"
#include "service/store_disk.h"
#include "service/table.h"
#include "tests/e2e/api_client.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/kept_server.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kGames = 100'000;
constexpr int kPlies = 30;  // played in every game
// From the start of the process to the line that tells its ports.
constexpr std::chrono::seconds kLimit{5};

struct Made {
  Record record;
  Table table;
};

Move AnyMove(const Position& position, SplitMix64& random) {
  const std::vector<Move> moves = position.LegalMoves();
  return moves[random.Below(moves.size())];
}

// Version 1 of a game, so many plies in.
Made Begun(SplitMix64& random, absl::Time created, int plies) {
  Start start;
  start.rules = std::get<Rules>(MakeRules({}));
  start.seats.resize(4);
  start.created = created;
  for (int i = 0; i < 2; ++i) start.nonce.append(absl::StrCat(absl::Hex(random.Next(), absl::kZeroPad16)), 0, 8);
  Position position(start.rules);
  while (position.ply() < plies) {
    start.opening.push_back(AnyMove(position, random));
    position = std::get<Played>(position.Play(start.opening.back())).next;
  }
  return {Record::Begin(start, random.Next()), std::get<Event>(Begin(start)).after};
}

void MoveOn(Made& made, SplitMix64& random) {
  Command command{.move = AnyMove(made.table.position, random), .time = made.table.time + absl::Seconds(1)};
  const Event event = std::get<Event>(Apply(made.table, command));
  made.record = made.record.With(event.command, made.table.time, random.Next());
  made.table = event.after;
}

// Puts the next event of every game.
void PutAll(Store& store, const std::vector<Made>& games) {
  absl::Mutex mu;
  int done = 0;
  for (int i = 0; i < kGames; ++i) {
    const Made& game = games[static_cast<size_t>(i)];
    store.Put(absl::StrCat("game-", i), game.table.version - 1, game.record.bytes(), [&](const PutResult& result) {
      EXPECT_EQ(result.outcome, PutOutcome::kDone);
      absl::MutexLock lock(&mu);
      ++done;
    });
  }
  const auto all = [&] { return done == kGames; };
  absl::MutexLock lock(&mu, absl::Condition(&all));
}

// The games have so many events each: the plies that are none are moves of their opening.
void Fill(const std::string& folder, uint64_t seed, int events) {
  SplitMix64 random(seed);
  LogLines log;
  auto opened = DiskStore::Open(folder, log.sink());
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<DiskStore>>(opened));
  Store& store = *std::get<std::unique_ptr<DiskStore>>(opened);
  const absl::Time now = absl::FromUnixMillis(absl::ToUnixMillis(absl::Now()));
  std::vector<Made> games;
  for (int i = 0; i < kGames; ++i) games.push_back(Begun(random, now - absl::Milliseconds(i), kPlies + 1 - events));
  PutAll(store, games);
  for (int event = 1; event < events; ++event) {
    for (Made& game : games) MoveOn(game, random);
    PutAll(store, games);
  }
}

TEST(DiskRestart, AHundredThousandGamesAreBackInTime) {
  const TempFolder folder;
  const uint64_t seed = TestSeed();
  const int events = TestRounds(1);  // of each game
  Fill(folder.path(), seed, events);
  KeptServer server({"--store=disk", "--data_dir=" + folder.path()});
  // The fastest of some starts: what else the machine does only adds to it.
  Clock::duration took = Clock::duration::max();
  for (int start = 0; start < 5 && took >= kLimit; ++start) {
    const auto began = Clock::now();
    server.KillAndStart();
    ASSERT_TRUE(server.Runs());
    took = std::min(took, Clock::now() - began);
  }
  std::cout << kGames << " games of " << events << " events back in "
            << std::chrono::duration_cast<std::chrono::milliseconds>(took).count() << " ms\n";
  EXPECT_LT(took, kLimit);
  e2e::Caller caller(server.address());
  for (int i : {0, 1, kGames / 2, kGames - 1}) {
    const v1::Game game = caller.Get(absl::StrCat("game-", i));
    EXPECT_EQ(game.version(), static_cast<uint64_t>(events));
    EXPECT_EQ(game.position().ply(), static_cast<uint32_t>(kPlies));
  }
  EXPECT_TRUE(Eventually([&] { return Counted(server.process(), "reversi_games_held") == kGames; }));
}

}  // namespace
}  // namespace reversi::stores
