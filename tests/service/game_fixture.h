// A game over a store that answers late, unknown or with somebody else's record, and a clock that the test moves.
#ifndef REVERSI_TESTS_SERVICE_GAME_FIXTURE_H_
#define REVERSI_TESTS_SERVICE_GAME_FIXTURE_H_

#include "service/game.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "service/convert.h"
#include "tests/service/fake_clock.h"
#include "tests/service/scripted_store.h"

namespace reversi {

using Fate = ScriptedStore::Fate;

class CountingWatcher : public Watcher {
 public:
  void Wake() override { wakes.fetch_add(1); }
  std::atomic<int> wakes = 0;
};

class GameTest : public testing::Test, public GameListener {
 protected:
  GameTest() : tokens_({std::string(32, 'k')}) {
    context_ = std::make_unique<GameContext>(
        GameContext{.store = store_, .tokens = tokens_, .clock = clock_, .listener = *this,
                    .serialize = SerializeForWatchers, .command_queue = 4});
    game_ = NewGame();
  }

  void Vanished(Game&) override { ++vanished_; }
  void Followed(const GameId& id, const Stored& next) override { followed_.emplace_back(id.text(), next.version); }
  void Unreadable(const Game&, const std::string&) override {
    ++unreadable_;
    if (at_unreadable_) at_unreadable_();
  }
  void Committed(Game&, const Event& event, std::optional<GameState>, Origin) override {
    committed_.push_back(event.after.version);
  }
  void PutEnded(PutOutcome outcome, absl::Duration) override { puts_.push_back(outcome); }

  std::shared_ptr<Game> NewGame() { return std::make_shared<Game>("game", *context_); }

  static CreateWish Creation(int open = 0) {
    CreateWish wish;
    wish.start.rules = std::get<Rules>(MakeRules({}));
    wish.start.seats.resize(4);
    for (int i = 0; i < open; ++i) wish.start.seats[static_cast<size_t>(3 - i)].open = true;
    return wish;
  }

  // Where an answer arrives.
  using Slot = std::shared_ptr<std::optional<Answer>>;
  Slot Submit(Game& game, Wish wish, bool* gone = nullptr) {
    auto slot = std::make_shared<std::optional<Answer>>();
    auto proposal = std::make_unique<Proposal>();
    proposal->wish = std::move(wish);
    proposal->answer = [slot](Answer answer) {
      EXPECT_FALSE(slot->has_value()) << "answered twice";
      slot->emplace(std::move(answer));
    };
    if (gone != nullptr) proposal->abandoned = [gone] { return *gone; };
    EXPECT_EQ(game.Submit(std::move(proposal)), nullptr);
    return slot;
  }
  Slot Submit(Wish wish, bool* gone = nullptr) { return Submit(*game_, std::move(wish), gone); }

  // The first legal move of whoever is on turn, at the version that the game has.
  MoveWish NextMove(const Game& game) const {
    const Snapshot snapshot = *game.Read();
    const Position& position = snapshot.table.position;
    return {tokens_.SeatToken("game", snapshot.record.nonce(), static_cast<int>(position.turn())),
            position.LegalMoves().front(), snapshot.table.version};
  }
  MoveWish NextMove() const { return NextMove(*game_); }

  static bool IsAccepted(const Slot& slot) { return slot->has_value() && std::holds_alternative<Accepted>(**slot); }
  static uint64_t VersionOf(const Slot& slot) { return std::get<Accepted>(**slot).event.after.version; }
  static std::optional<Reason> ReasonOf(const Slot& slot) {
    if (!slot->has_value() || !std::holds_alternative<Error>(**slot)) return std::nullopt;
    return std::get<Error>(**slot).reason;
  }

  FakeClock clock_;
  ScriptedStore store_;
  Tokens tokens_;
  std::unique_ptr<GameContext> context_;
  std::shared_ptr<Game> game_;
  std::vector<uint64_t> committed_;
  std::vector<std::pair<std::string, uint64_t>> followed_;
  int vanished_ = 0;
  std::vector<PutOutcome> puts_;
  int unreadable_ = 0;
  std::function<void()> at_unreadable_;
};

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_GAME_FIXTURE_H_
