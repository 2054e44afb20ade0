// A game's log: what is committed, taken over from the store, read and watched. The line of wishes is in game.cc.
#include <algorithm>
#include <utility>
#include <vector>

#include "service/game.h"

namespace reversi {

std::shared_ptr<Game> Game::Finished(const GameId& id, GameContext& context, const Stored& stored) {
  auto read = Record::Read(stored.record);
  const auto* record = std::get_if<Record>(&read);
  const auto table = record == nullptr ? std::nullopt : LastTable(*record);
  if (!table.has_value() || table->state != GameState::kFinished) return nullptr;
  auto game = std::make_shared<Game>(id, context);
  absl::MutexLock lock(&game->mu_);
  game->record_ = *record;
  game->SetTable(*table, absl::InfiniteDuration());
  return game;
}

Record Game::record() const {
  absl::MutexLock lock(&mu_);
  return record_;
}

std::optional<Snapshot> Game::Read() const {
  absl::MutexLock lock(&mu_);
  if (version() == 0) return std::nullopt;
  return Snapshot{record_, CurrentTable()};
}

Game::Events Game::EventsFrom(uint64_t version) {
  Events events;
  Record record;
  uint64_t last = 0;
  {
    absl::MutexLock lock(&mu_);
    const uint64_t current = this->version();
    if (version > current) return events;
    last = std::min(current, version + kBurst - 1);
    events.end = last == current && state() == GameState::kFinished;
    if (version == current && watched_ != nullptr && !watched_->newest.empty()) {
      events.bytes.push_back(watched_->newest);
      return events;
    }
    record = record_;
  }
  events.bytes.reserve(last - version + 1);
  Replay(record, [&](const Event& event) {
    if (event.after.version >= version) events.bytes.push_back(context_.serialize(event));
    return event.after.version < last;
  });
  absl::MutexLock lock(&mu_);
  if (last == this->version() && watched_ != nullptr && !events.bytes.empty()) watched_->newest = events.bytes.back();
  return events;
}

bool Game::AddWatcher(std::shared_ptr<Watcher> watcher, uint64_t limit) {
  absl::MutexLock lock(&mu_);
  if (watched_ == nullptr) watched_ = std::make_unique<Watched>();
  if (watched_->watchers.size() >= limit) return false;
  watched_->watchers.insert(std::move(watcher));
  return true;
}

bool Game::RemoveWatcher(const std::shared_ptr<Watcher>& watcher) {
  absl::MutexLock lock(&mu_);
  if (watched_ == nullptr || watched_->watchers.erase(watcher) == 0) return false;
  if (watched_->watchers.empty()) watched_.reset();
  return true;
}

void Game::WakeWatchers() {
  std::vector<std::shared_ptr<Watcher>> awake;
  {
    absl::MutexLock lock(&mu_);
    if (watched_ == nullptr) return;
    awake.assign(watched_->watchers.begin(), watched_->watchers.end());
  }
  for (const auto& watcher : awake) watcher->Wake();
}

void Game::Commit(Attempt& attempt) {
  const Table& after = attempt.event.after;
  std::optional<GameState> before;
  bool watched = false;
  {
    absl::MutexLock lock(&mu_);
    watched = watched_ != nullptr;
  }
  Bytes newest = watched ? context_.serialize(attempt.event) : Bytes();
  {
    absl::MutexLock lock(&mu_);
    absl::Duration deadline = absl::InfiniteDuration();
    if (after.deadline != absl::InfiniteFuture()) {
      // A turn that goes on keeps the deadline it has by the steady clock.
      const bool goes_on = table_ && table_.turn_since() == after.turn_since;
      deadline = goes_on ? deadline_ : attempt.steady + after.turn_limit;
    }
    if (version() != 0) before = state();
    record_ = std::move(attempt.record);
    watched = watched_ != nullptr;
    if (watched) watched_->newest = std::move(newest);
    SetTable(after, deadline);
  }
  context_.listener.Committed(*this, attempt.event, before, Origin::kOwn);
  if (attempt.proposal != nullptr) attempt.proposal->answer(Accepted{std::move(attempt.event)});
  // Who comes later reads what is there already.
  if (watched) WakeWatchers();
}

Game::Adopted Game::Adopt(const Stored& stored) {
  const uint64_t known = version();
  if (stored.version == 0 && known == 0) return Adopted::kCurrent;
  auto read = Record::Read(stored.record);
  const auto* record = std::get_if<Record>(&read);
  if (stored.version != 0 && record == nullptr) {
    context_.listener.Unreadable(*this, std::get<std::string>(read));
    return Adopted::kUnreadable;
  }
  {
    absl::ReleasableMutexLock lock(&mu_);
    const bool other = stored.version < known || (known != 0 && record->nonce() != record_.nonce());
    lock.Release();
    if (other) {
      Vanish();
      if (stored.version != 0) context_.listener.Followed(id_, stored);
      return Adopted::kVanished;
    }
  }
  std::vector<Event> news;
  Table table = {.position = Position(record->start().rules)};
  const bool sound = Replay(*record, [&](const Event& event) {
    if (event.after.version > known) news.push_back(event);
    table = event.after;
    return true;
  });
  if (!sound || table.version != stored.version) {
    context_.listener.Unreadable(*this, "its log makes no sense");
    return Adopted::kUnreadable;
  }
  if (news.empty()) return Adopted::kCurrent;
  std::optional<GameState> before;
  if (known != 0) before = state();
  {
    absl::MutexLock lock(&mu_);
    absl::Duration deadline = absl::InfiniteDuration();
    if (table.deadline != absl::InfiniteFuture()) {
      const absl::Duration left = std::max(table.deadline - context_.clock.Wall(), context_.takeover_grace);
      deadline = context_.clock.Steady() + std::min(left, std::max(table.turn_limit, context_.takeover_grace));
      if (table_ && table_.turn_since() == table.turn_since) deadline = deadline_;
    }
    record_ = *record;
    if (watched_ != nullptr) watched_->newest = Bytes();
    SetTable(table, deadline);
  }
  for (const Event& event : news) {
    context_.listener.Committed(*this, event, before, Origin::kStore);
    before = event.after.state;
  }
  WakeWatchers();
  return Adopted::kCurrent;
}

void Game::Vanish() {
  // First out of sight, so that whoever gets a proposal back finds the next game of this id.
  context_.listener.Vanished(*this);
  {
    absl::MutexLock lock(&mu_);
    retired_ = true;
    gone_.store(true, std::memory_order_release);
    uncertain_ = false;
    in_doubt_ = InDoubt::kNo;
    offered_.reset();
    deadline_ = absl::InfiniteDuration();
  }
  RefuseLine(GameNotFound(id_));
  WakeWatchers();
}

void Game::SetTable(const Table& table, absl::Duration deadline) {
  table_ = table.state == GameState::kFinished ? PackedTable() : PackedTable(table);
  deadline_ = deadline;
  state_.store(table.state, std::memory_order_release);
  variant_.store(table.position.variant(), std::memory_order_release);
  time_ms_.store(table_ ? table_.time_ms() : absl::ToUnixMillis(table.time), std::memory_order_release);
  version_.store(table.version, std::memory_order_release);
}

Table Game::CurrentTable() const {
  return table_ ? table_.Unpack() : *LastTable(record_);
}

}  // namespace reversi
