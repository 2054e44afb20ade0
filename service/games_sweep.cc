// What the clock does to games, and how they go: deadlines, retention, and finished games that the store alone keeps.
#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "service/games.h"
#include "service/log.h"

namespace reversi {
namespace {

// A time-out that could not be put is tried again after this long.
constexpr absl::Duration kDeadlineRetry = absl::Seconds(1);
// Deadlines of dropped games are forgotten when there are this many more than there are games.
constexpr size_t kFewDeadlines = 1000;

}  // namespace

void Games::RunDeadlines() {
  const absl::Duration now = clock_.Steady();
  loading_.Expire(now);
  for (;;) {
    std::shared_ptr<Game> game;
    {
      absl::MutexLock lock(&due_mu_);
      if (due_.empty() || due_.front().when > now) return;
      game = due_.front().game.lock();
      std::pop_heap(due_.begin(), due_.end(), std::greater<>());
      due_.pop_back();
    }
    if (game == nullptr) continue;
    if (game->deadline() <= now) game->CheckDeadline();
    const absl::Duration next = game->deadline();
    if (next == absl::InfiniteDuration()) continue;
    absl::MutexLock lock(&due_mu_);
    due_.push_back({std::max(next, now + (next <= now ? kDeadlineRetry : absl::ZeroDuration())), game});
    std::push_heap(due_.begin(), due_.end(), std::greater<>());
  }
}

void Games::ForgetDeadlines() {
  absl::MutexLock lock(&due_mu_);
  if (due_.size() <= 2 * count() + kFewDeadlines) return;
  std::erase_if(due_, [](const Due& due) { return due.game.expired(); });
  std::make_heap(due_.begin(), due_.end(), std::greater<>());
}

absl::Time Games::Expires(const Table& table) const {
  absl::Duration keep = absl::ZeroDuration();
  switch (table.state) {
    case GameState::kWaiting:
      keep = retention_.waiting;
      break;
    case GameState::kActive:
      // A running turn limit ends the game by itself.
      if (table.deadline != absl::InfiniteFuture()) return absl::InfiniteFuture();
      keep = retention_.idle;
      break;
    case GameState::kFinished:
      keep = retention_.finished;
      break;
  }
  return keep == absl::ZeroDuration() ? absl::InfiniteFuture() : table.time + keep;
}

void Games::Sweep() {
  ForgetDeadlines();
  Shard& shard = shards_[next_sweep_.fetch_add(1, std::memory_order_relaxed) % shards_.size()];
  const absl::Time now = clock_.Wall();
  if (retention_.finished != absl::ZeroDuration()) DropFinished(now);
  if (store_.in_memory()) LetGoOfFinished(shard);
  ExpireUnfinished(shard, now);
}

void Games::DropFinished(absl::Time now) {
  const int64_t before_ms = absl::ToUnixMillis(now - retention_.finished);
  std::vector<GameId> old;
  {
    absl::MutexLock lock(&list_mu_);
    auto at = list_.upper_bound(swept_);
    if (at == list_.end()) {
      at = list_.begin();
      sweep_share_ = list_.size() / kSweepCalls + 1;
    }
    for (size_t left = sweep_share_; left > 0 && at != list_.end(); --left, ++at) {
      if (static_cast<GameState>(at->state) != GameState::kFinished) continue;
      if (at->created() + static_cast<int64_t>(at->minutes) * 60'000 <= before_ms) old.push_back(at->id);
    }
    if (at != list_.begin()) swept_ = {std::prev(at)->created(), std::prev(at)->id};
  }
  for (const GameId& id : old) {
    const std::shared_ptr<Game> game = Find(id);
    if (game != nullptr && game->state() == GameState::kFinished && game->time_ms() <= before_ms) Drop(game);
  }
}

void Games::LetGoOfFinished(Shard& shard) {
  std::vector<std::shared_ptr<Game>> let_go;
  {
    absl::MutexLock lock(&shard.mu);
    for (auto at = shard.games.begin(); at != shard.games.end();) {
      const auto here = at++;
      // Nobody else has it, and who wants it comes by this map.
      if ((*here)->state() != GameState::kFinished || here->use_count() != 1) continue;
      let_go.push_back(*here);
      shard.games.erase(here);
    }
  }
  for (const auto& game : let_go) store_.Compact(game->id());
}

void Games::ExpireUnfinished(Shard& shard, absl::Time now) {
  const absl::Duration shortest = std::min(retention_.waiting, retention_.idle, [](auto a, auto b) {
    return a != absl::ZeroDuration() && (b == absl::ZeroDuration() || a < b);
  });
  if (shortest == absl::ZeroDuration()) return;
  const int64_t before_ms = absl::ToUnixMillis(now - shortest);
  std::vector<std::shared_ptr<Game>> old;
  {
    absl::MutexLock lock(&shard.mu);
    for (const auto& game : shard.games) {
      if (game->version() != 0 && game->state() != GameState::kFinished && game->time_ms() <= before_ms) {
        old.push_back(game);
      }
    }
  }
  for (const auto& game : old) ExpireIfOver(game, now);
}

void Games::ExpireIfOver(const std::shared_ptr<Game>& game, absl::Time now) {
  const Table table = game->Read()->table;
  if (table.state == GameState::kFinished || Expires(table) > now) return;
  auto proposal = std::make_unique<Proposal>();
  proposal->wish = ExpireWish{table.version};
  proposal->answer = [this, game](Answer answer) {
    // Its watchers have the event; the log lives on with them.
    if (std::holds_alternative<Accepted>(answer)) Drop(game);
  };
  // A game that was made is never retired: the proposal does not come back.
  game->Submit(std::move(proposal));
}

void Games::Drop(const std::shared_ptr<Game>& game) {
  // First from the store, so that a new game of this id cannot meet the old record.
  store_.Delete(game->id(), game->version(), [this, game](PutResult result) {
    const bool gone = result.outcome == PutOutcome::kDone ||
                      (result.outcome == PutOutcome::kConflict && result.current.version == 0);
    if (!gone) return;  // the next sweep tries again
    // Counted by the one replica that removed it; the feed may have told of it before.
    if (result.outcome == PutOutcome::kDone) metrics_.GameEvicted();
    Forget(game);
  });
}

void Games::Forget(const std::shared_ptr<Game>& game) {
  const Start start = game->record().start();
  const bool chosen = IsChosen(*game, start);
  bool known = Remove(game);
  {
    absl::MutexLock lock(&list_mu_);
    const auto found = list_.find(Place{absl::ToUnixMillis(start.created), game->id()});
    if (found != list_.end()) {
      list_.erase(found);
      known = true;
    }
    if (chosen) chosen_.erase(start.request);
  }
  if (known) count_.fetch_sub(1, std::memory_order_relaxed);
}

void Games::Vanished(Game& game) {
  const auto snapshot = game.Read();
  if (!snapshot.has_value()) return;
  const Position& position = snapshot->table.position;
  if (snapshot->table.state != GameState::kFinished) metrics_.GameEnded(position.variant(), position.players());
  Forget(game.shared_from_this());
}

void Games::Unreadable(const Game& game, const std::string& why) {
  Log(LogLevel::kError, "a stored game cannot be used and is left alone", {{"game_id", game.id().text()}, {"why", why}});
}

}  // namespace reversi
