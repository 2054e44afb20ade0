// Memory returns to the base line: games come and go, and what they took is given back.
#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <string>
#include <utility>

#include "service/games.h"
#include "service/packed_record.h"
#include "service/store_memory.h"
#include "tests/service/fake_clock.h"

namespace reversi {
namespace {

constexpr int kRound = 2000;
constexpr int kRounds = REVERSI_GAMES_TO_COME / kRound;
// Under a sanitizer nothing can be told: its allocator keeps no such account.
size_t BytesInUse() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

class MemoryTest : public testing::Test {
 protected:
  MemoryTest() : tokens_({std::string(kMinKeyBytes, 'k')}), games_(store_, tokens_, clock_, metrics_, kKeep, {kRound, 16}) {}

  void CreateOne(int number) {
    CreateWish wish;
    wish.start.rules = std::get<Rules>(MakeRules({}));
    wish.start.seats.resize(4);
    wish.start.unlisted = number % 2 == 0;
    wish.start.turn_limit = number % 3 == 0 ? absl::Hours(24 * 30) : absl::ZeroDuration();
    if (number % 5 == 0) wish.start.request = std::to_string(number);
    std::string id = RandomGameId();
    games_.Create(id, std::move(wish), nullptr, [&](const Answer& answer, const std::shared_ptr<Game>& game) {
      ASSERT_TRUE(std::holds_alternative<Accepted>(answer));
      if (number % 3 != 0) return;  // expires
      auto abort = std::make_unique<Proposal>();
      abort->wish = AbortWish{tokens_.OwnerToken(game->id(), game->Read()->record.nonce())};
      abort->answer = [](const Answer& aborted) { ASSERT_TRUE(std::holds_alternative<Accepted>(aborted)); };
      game->Submit(std::move(abort));
    });
  }
  void Round() {
    for (int i = 0; i < kRound; ++i) CreateOne(number_++);
    ASSERT_EQ(games_.count(), static_cast<uint64_t>(kRound));
    clock_.Advance(absl::Hours(1));
    for (int i = 0; i <= Games::kSweepCalls; ++i) games_.Sweep();
    ASSERT_EQ(games_.count(), 0u);
  }

  static constexpr Retention kKeep = {absl::Hours(1), absl::Hours(1), absl::Hours(1)};
  FakeClock clock_;
  MemoryStore store_{MemoryStore::Packing{PackRecord, UnpackRecord}};
  Tokens tokens_;
  Metrics metrics_;
  Games games_;
  int number_ = 0;
};

TEST_F(MemoryTest, ReturnsToTheBaseLineAfterManyGames) {
  for (int i = 0; i < 3; ++i) Round();  // tables grow to their size
  const size_t base = BytesInUse();
  for (int i = 0; i < kRounds; ++i) Round();
  EXPECT_LE(BytesInUse(), base + 256 * 1024);
}

}  // namespace
}  // namespace reversi
