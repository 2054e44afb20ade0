#include "service/game.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace reversi {
namespace {

// Random at the start of the process, then counted: no two puts of all replicas share one.
uint64_t NextPutId() {
  static std::atomic<uint64_t> next = RandomBits();
  return next.fetch_add(1, std::memory_order_relaxed);
}

absl::Time WholeMilliseconds(absl::Time time) { return absl::FromUnixMillis(absl::ToUnixMillis(time)); }

Error QueueFull() {
  return {.reason = Reason::kRateLimited,
          .message = "too many commands wait in this game",
          .retry_after = absl::Milliseconds(100)};
}

}  // namespace

Game::Game(std::string id, GameContext& context) : id_(std::move(id)), context_(context) {}

Game::~Game() {
  // One by one: a long line must not be freed by recursion.
  while (first_ != nullptr) first_ = std::move(first_->next);
}

std::unique_ptr<Proposal> Game::Submit(std::unique_ptr<Proposal> proposal) {
  bool full = false;
  {
    absl::MutexLock lock(&mu_);
    if (retired_) return proposal;
    full = waiting_ >= context_.command_queue;
    if (!full) {
      Proposal* added = proposal.get();
      (last_ == nullptr ? first_ : last_->next) = std::move(proposal);
      last_ = added;
      ++waiting_;
      if (working_) return nullptr;
      working_ = true;
    }
  }
  if (full) {
    proposal->answer(QueueFull());
  } else {
    WorkOff();
  }
  return nullptr;
}

bool Game::Retire() {
  absl::MutexLock lock(&mu_);
  if (version() != 0 || first_ != nullptr || retired_) return false;
  retired_ = true;
  return true;
}

void Game::CheckDeadline() {
  {
    absl::MutexLock lock(&mu_);
    if (working_ || !DeadlinePassed()) return;
    working_ = true;
  }
  WorkOff();
}

absl::Duration Game::deadline() const {
  absl::MutexLock lock(&mu_);
  return deadline_;
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
    if (version == current && !newest_.empty()) {
      events.bytes.push_back(newest_);
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
  if (last == this->version() && watchers_ != nullptr && !events.bytes.empty()) newest_ = events.bytes.back();
  return events;
}

bool Game::AddWatcher(std::shared_ptr<Watcher> watcher, uint64_t limit) {
  absl::MutexLock lock(&mu_);
  if (watchers_ == nullptr) watchers_ = std::make_unique<Watchers>();
  if (watchers_->size() >= limit) return false;
  watchers_->insert(std::move(watcher));
  return true;
}

bool Game::RemoveWatcher(const std::shared_ptr<Watcher>& watcher) {
  absl::MutexLock lock(&mu_);
  if (watchers_ == nullptr || watchers_->erase(watcher) == 0) return false;
  if (watchers_->empty()) {
    watchers_.reset();
    newest_ = Bytes();
  }
  return true;
}

void Game::WakeWatchers() {
  std::vector<std::shared_ptr<Watcher>> awake;
  {
    absl::MutexLock lock(&mu_);
    if (watchers_ == nullptr) return;
    awake.assign(watchers_->begin(), watchers_->end());
  }
  for (const auto& watcher : awake) watcher->Wake();
}

void Game::WorkOff() {
  while (Step()) {
  }
}

bool Game::Step() {
  std::unique_ptr<Proposal> proposal;
  std::variant<std::unique_ptr<Attempt>, Answer> prepared = Answer(Abandoned{});
  bool reread = false;
  {
    absl::MutexLock lock(&mu_);
    const bool due = DeadlinePassed();
    if (first_ == nullptr && !due) {
      working_ = false;
      return false;
    }
    reread = uncertain_;
    if (!reread && !due) proposal = Pop();
  }
  if (reread) return Reread();
  if (proposal != nullptr && proposal->abandoned && proposal->abandoned()) {
    proposal->answer(Abandoned{});
    return true;
  }
  {
    absl::MutexLock lock(&mu_);
    prepared = Prepare(proposal.get());
  }
  if (auto* attempt = std::get_if<std::unique_ptr<Attempt>>(&prepared)) {
    (*attempt)->proposal = std::move(proposal);
    return Put(std::move(*attempt));
  }
  if (proposal != nullptr) proposal->answer(std::get<Answer>(std::move(prepared)));
  return true;
}

std::unique_ptr<Proposal> Game::Pop() {
  std::unique_ptr<Proposal> proposal = std::move(first_);
  first_ = std::move(proposal->next);
  if (first_ == nullptr) last_ = nullptr;
  --waiting_;
  return proposal;
}

void Game::PushFront(std::unique_ptr<Proposal> proposal) {
  if (last_ == nullptr) last_ = proposal.get();
  proposal->next = std::move(first_);
  first_ = std::move(proposal);
  ++waiting_;
}

bool Game::DeadlinePassed() const {
  return deadline_ != absl::InfiniteDuration() && context_.clock.Steady() >= deadline_;
}

std::variant<std::unique_ptr<Game::Attempt>, Answer> Game::Prepare(Proposal* proposal) {
  if (proposal != nullptr && version() == 0) {
    if (auto* creation = std::get_if<CreateWish>(&proposal->wish)) return PrepareCreation(*creation);
    return Answer(GameNotFound(id_));
  }
  const Table table = CurrentTable();
  Command command;
  if (proposal == nullptr) {
    command = OnTimeout(table);
  } else {
    Ruling ruling = Judge(proposal->wish, {id_, record_, &table}, context_.tokens);
    if (const auto* again = std::get_if<Again>(&ruling)) return AgainAt(again->version);
    if (auto* error = std::get_if<Error>(&ruling)) return Answer(std::move(*error));
    command = std::get<Command>(std::move(ruling));
  }
  command.time = std::max(WholeMilliseconds(context_.clock.Wall()), table.time);
  auto applied = Apply(table, std::move(command));
  // Judge has asked the engine about the move already.
  if (const auto* why = std::get_if<WhyIllegal>(&applied)) return Answer(IllegalMove("move", Move{}, *why));
  return AttemptOf(std::get<Event>(std::move(applied)), table.time);
}

std::variant<std::unique_ptr<Game::Attempt>, Answer> Game::PrepareCreation(CreateWish& wish) {
  wish.start.created = WholeMilliseconds(context_.clock.Wall());
  wish.start.nonce = RandomBytes(16);
  auto begun = Begin(wish.start);
  if (const auto* bad = std::get_if<BadOpening>(&begun)) return Answer(IllegalOpening(wish.start, *bad));
  return std::unique_ptr<Attempt>(new Attempt{nullptr, std::get<Event>(std::move(begun)),
                                              Record::Begin(wish.start, NextPutId()), context_.clock.Steady()});
}

std::unique_ptr<Game::Attempt> Game::AttemptOf(Event event, absl::Time previous) {
  Record record = record_.With(event.command, previous, NextPutId());
  return std::unique_ptr<Attempt>(
      new Attempt{nullptr, std::move(event), std::move(record), context_.clock.Steady()});
}

Answer Game::AgainAt(uint64_t version) {
  Answer answer = Abandoned{};
  Replay(record_, [&](const Event& event) {
    if (event.after.version == version) answer = Accepted{event, true};
    return event.after.version < version;
  });
  return answer;
}

bool Game::Put(std::unique_ptr<Attempt> attempt) {
  attempt_ = std::move(attempt);
  progress_.store(kCalling, std::memory_order_relaxed);
  context_.store.Put(id_, attempt_->event.after.version - 1, attempt_->record.bytes(),
                     [self = shared_from_this()](PutResult result) { self->PutDone(std::move(result)); });
  if (!Second(kReturned)) return false;
  Settle(std::move(put_result_));
  return true;
}

void Game::PutDone(PutResult result) {
  put_result_ = std::move(result);
  if (!Second(kCompleted)) return;
  Settle(std::move(put_result_));
  WorkOff();
}

void Game::Settle(PutResult result) {
  const std::unique_ptr<Attempt> attempt = std::move(attempt_);
  const auto ended = [&](PutOutcome outcome) {
    context_.listener.PutEnded(outcome, context_.clock.Steady() - attempt->steady);
  };
  switch (result.outcome) {
    case PutOutcome::kDone:
      ended(PutOutcome::kDone);
      return Commit(*attempt);
    case PutOutcome::kUnknown: {
      ended(PutOutcome::kUnknown);
      {
        absl::MutexLock lock(&mu_);
        uncertain_ = true;
      }
      if (attempt->proposal != nullptr) attempt->proposal->answer(StoreUnavailable());
      return;
    }
    case PutOutcome::kConflict:
      break;
  }
  auto current = Record::Read(result.current.record);
  const auto* record = std::get_if<Record>(&current);
  const bool own = record != nullptr && record->put_id() == attempt->record.put_id();
  ended(own ? PutOutcome::kDone : PutOutcome::kConflict);
  if (own) return Commit(*attempt);
  if (!Adopt(result.current)) {
    // Nothing to go on with; and a time-out must not be tried again at once for ever.
    {
      absl::MutexLock lock(&mu_);
      uncertain_ = true;
    }
    if (attempt->proposal != nullptr) attempt->proposal->answer(StoreUnavailable());
    return;
  }
  // Judged anew against what stands there now.
  if (attempt->proposal == nullptr) return;
  absl::MutexLock lock(&mu_);
  PushFront(std::move(attempt->proposal));
}

bool Game::Reread() {
  progress_.store(kCalling, std::memory_order_relaxed);
  context_.store.Get(id_, [self = shared_from_this()](bool ok, Stored stored) {
    // The outcome travels as that of a put: kConflict = this is what stands there.
    self->put_result_ = {ok ? PutOutcome::kConflict : PutOutcome::kUnknown, std::move(stored)};
    if (!self->Second(kCompleted)) return;
    if (self->SettleReread(std::move(self->put_result_))) self->WorkOff();
  });
  return Second(kReturned) && SettleReread(std::move(put_result_));
}

bool Game::SettleReread(PutResult result) {
  const bool known = result.outcome == PutOutcome::kConflict && Adopt(result.current);
  std::unique_ptr<Proposal> refused;
  {
    absl::MutexLock lock(&mu_);
    uncertain_ = !known;
    if (known) return true;
    if (first_ == nullptr) {
      // Only a time-out waits: CheckDeadline comes again.
      working_ = false;
      return false;
    }
    refused = Pop();
  }
  refused->answer(StoreUnavailable());
  return true;
}

void Game::Commit(Attempt& attempt) {
  const Table& after = attempt.event.after;
  std::optional<GameState> before;
  bool watched = false;
  {
    absl::MutexLock lock(&mu_);
    watched = watchers_ != nullptr;
  }
  Bytes newest = watched ? context_.serialize(attempt.event) : Bytes();
  {
    absl::MutexLock lock(&mu_);
    absl::Duration deadline = absl::InfiniteDuration();
    if (after.deadline != absl::InfiniteFuture()) {
      // A turn that goes on keeps the deadline it has by the steady clock.
      const bool goes_on = table_ != nullptr && table_->turn_since == after.turn_since;
      deadline = goes_on ? deadline_ : attempt.steady + after.turn_limit;
    }
    if (version() != 0) before = state();
    record_ = std::move(attempt.record);
    newest_ = std::move(newest);
    SetTable(after, deadline);
  }
  context_.listener.Committed(*this, attempt.event, before, Origin::kOwn);
  if (attempt.proposal != nullptr) attempt.proposal->answer(Accepted{std::move(attempt.event)});
  WakeWatchers();
}

bool Game::Adopt(const Stored& stored) {
  if (stored.version == 0) {
    absl::MutexLock lock(&mu_);
    // Whoever holds a version of it knows more than a store that has none: only a creation can be undone.
    return version() == 0;
  }
  auto read = Record::Read(stored.record);
  const auto* record = std::get_if<Record>(&read);
  if (record == nullptr) return false;
  std::vector<Event> news;
  Table table = {.position = Position(record->start().rules)};
  const uint64_t known = version();
  const bool sound = Replay(*record, [&](const Event& event) {
    if (event.after.version > known) news.push_back(event);
    table = event.after;
    return true;
  });
  if (!sound || table.version != stored.version || table.version < known) return false;
  std::optional<GameState> before;
  if (known != 0) before = state();
  {
    absl::MutexLock lock(&mu_);
    absl::Duration deadline = absl::InfiniteDuration();
    if (table.deadline != absl::InfiniteFuture()) {
      const absl::Duration left = std::max(table.deadline - context_.clock.Wall(), context_.takeover_grace);
      deadline = context_.clock.Steady() + std::min(left, std::max(table.turn_limit, context_.takeover_grace));
      if (table_ != nullptr && table_->turn_since == table.turn_since) deadline = deadline_;
    }
    record_ = *record;
    newest_ = Bytes();
    SetTable(table, deadline);
  }
  for (const Event& event : news) {
    context_.listener.Committed(*this, event, before, Origin::kStore);
    before = event.after.state;
  }
  if (!news.empty()) WakeWatchers();
  return true;
}

void Game::SetTable(const Table& table, absl::Duration deadline) {
  if (table.state == GameState::kFinished) {
    table_.reset();
  } else if (table_ != nullptr) {
    *table_ = table;
  } else {
    table_ = std::make_unique<Table>(table);
  }
  deadline_ = deadline;
  state_.store(table.state, std::memory_order_release);
  variant_.store(table.position.variant(), std::memory_order_release);
  time_ms_.store(absl::ToUnixMillis(table.time), std::memory_order_release);
  version_.store(table.version, std::memory_order_release);
}

Table Game::CurrentTable() const {
  if (table_ != nullptr) return *table_;
  Table table = {.position = Position(Rules())};
  Replay(record_, [&](const Event& event) {
    table = event.after;
    return true;
  });
  return table;
}

}  // namespace reversi
