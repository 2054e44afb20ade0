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

// Whether the answer says something about the game as it is now: a refusal does, and a repeated creation or join,
// which is answered with the game. (A repeated move or leaving is answered with its event, which stands for good.)
bool RestsOnState(const Answer& answer, const Wish& wish) {
  if (std::holds_alternative<Error>(answer)) return true;
  const auto* accepted = std::get_if<Accepted>(&answer);
  if (accepted == nullptr || !accepted->again) return false;
  return std::holds_alternative<CreateWish>(wish) || std::holds_alternative<JoinWish>(wish);
}

Error QueueFull() {
  return {.reason = Reason::kRateLimited,
          .message = "too many commands wait in this game",
          .retry_after = absl::Milliseconds(100)};
}

}  // namespace

Game::Game(GameId id, GameContext& context) : id_(std::move(id)), context_(context) {}

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

bool Game::Offer(const Stored& stored) {
  {
    absl::MutexLock lock(&mu_);
    if (retired_) return false;
    if (stored.version <= version() || (offered_ != nullptr && stored.version <= offered_->version)) return true;
    offered_ = std::make_unique<Stored>(stored);
    if (working_) return true;
    working_ = true;
  }
  WorkOff();
  return true;
}

void Game::Doubt() {
  absl::MutexLock lock(&mu_);
  if (!retired_) in_doubt_ = InDoubt::kYes;
}

bool Game::Retire() {
  absl::MutexLock lock(&mu_);
  return RetireUnderLock();
}

bool Game::RetireIdle() {
  absl::MutexLock lock(&mu_);
  return !working_ && RetireUnderLock();
}

bool Game::RetireUnderLock() {
  if (version() != 0 || first_ != nullptr || offered_ != nullptr || retired_) return false;
  retired_ = true;
  in_doubt_ = InDoubt::kNo;
  return true;
}

void Game::CheckDeadline() {
  {
    absl::MutexLock lock(&mu_);
    if (working_ || (in_doubt_ != InDoubt::kYes && !DeadlinePassed())) return;
    working_ = true;
  }
  WorkOff();
}

absl::Duration Game::deadline() const {
  absl::MutexLock lock(&mu_);
  return in_doubt_ != InDoubt::kNo ? -absl::InfiniteDuration() : deadline_;
}

void Game::WorkOff() {
  while (Step()) {
  }
}

bool Game::RestIfDone() {
  if (offered_ != nullptr || first_ != nullptr || in_doubt_ != InDoubt::kNo || DeadlinePassed()) return false;
  working_ = false;
  return true;
}

bool Game::Step() {
  std::unique_ptr<Proposal> proposal;
  std::variant<std::shared_ptr<Attempt>, Answer> prepared = Answer(Abandoned{});
  std::unique_ptr<Stored> offered;
  bool reread = false;
  {
    absl::MutexLock lock(&mu_);
    if (RestIfDone()) return false;
    offered = std::move(offered_);
    const bool due = DeadlinePassed();
    reread = uncertain_ || in_doubt_ != InDoubt::kNo;
    if (offered == nullptr && in_doubt_ == InDoubt::kYes) in_doubt_ = InDoubt::kBeingAsked;
    if (offered == nullptr && !reread && !due) proposal = Pop();
  }
  if (offered != nullptr) {
    // The feed may be late: what it does not have is no sign that the game has gone.
    if (offered->version > version()) Adopt(*offered);
    return true;
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
  if (auto* attempt = std::get_if<std::shared_ptr<Attempt>>(&prepared)) {
    (*attempt)->proposal = std::move(proposal);
    return Put(*attempt);
  }
  if (proposal == nullptr) return true;
  Answer& answer = std::get<Answer>(prepared);
  if (context_.shared && !proposal->confirmed && RestsOnState(answer, proposal->wish)) {
    Confirm(std::move(proposal));
  } else {
    proposal->answer(std::move(answer));
  }
  return true;
}

void Game::Confirm(std::unique_ptr<Proposal> proposal) {
  proposal->confirmed = true;
  absl::MutexLock lock(&mu_);
  uncertain_ = true;
  PushFront(std::move(proposal));
}

void Game::RefuseLine(const Error& error) {
  std::unique_ptr<Proposal> line;
  {
    absl::MutexLock lock(&mu_);
    line = std::move(first_);
    last_ = nullptr;
    waiting_ = 0;
  }
  while (line != nullptr) {
    line->answer(error);
    line = std::move(line->next);
  }
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

std::variant<std::shared_ptr<Game::Attempt>, Answer> Game::Prepare(Proposal* proposal) {
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
  Event& event = std::get<Event>(applied);
  Record record = record_.With(event.command, table.time, NextPutId());
  return AttemptOf(std::move(event), std::move(record));
}

std::variant<std::shared_ptr<Game::Attempt>, Answer> Game::PrepareCreation(CreateWish& wish) {
  wish.start.created = WholeMilliseconds(context_.clock.Wall());
  wish.start.nonce = RandomBytes(16);
  auto begun = Begin(wish.start);
  if (const auto* bad = std::get_if<BadOpening>(&begun)) return Answer(IllegalOpening(wish.start, *bad));
  return AttemptOf(std::get<Event>(std::move(begun)), Record::Begin(wish.start, NextPutId()));
}

std::shared_ptr<Game::Attempt> Game::AttemptOf(Event&& event, Record&& record) {
  return std::make_shared<Attempt>(shared_from_this(), std::move(event), std::move(record), context_.clock.Steady());
}

Answer Game::AgainAt(uint64_t version) {
  Answer answer = Abandoned{};
  Replay(record_, [&](const Event& event) {
    if (event.after.version == version) answer = Accepted{event, true};
    return event.after.version < version;
  });
  return answer;
}

bool Game::Put(const std::shared_ptr<Attempt>& attempt) {
  const Proposal* proposal = attempt->proposal.get();
  const bool attended = proposal != nullptr && !std::holds_alternative<ExpireWish>(proposal->wish);
  auto done = [attempt](PutResult result) {
    attempt->result = std::move(result);
    // At once, and the next command may begin: the call comes back late if it writes for others too.
    Game& game = *attempt->game;
    game.Settle(*attempt);
    {
      absl::MutexLock lock(&game.mu_);
      attempt->rested = game.RestIfDone();
    }
    if (attempt->IsSecond() && !attempt->rested) game.WorkOff();
  };
  const uint64_t expected_version = attempt->event.after.version - 1;
  if (attended) {
    context_.store.Put(id_, expected_version, attempt->record.bytes(), std::move(done));
  } else {
    context_.store.PutUnattended(id_, expected_version, attempt->record.bytes(), std::move(done));
  }
  return attempt->IsSecond() && !attempt->rested;
}

void Game::Settle(Attempt& attempt) {
  const PutResult& result = attempt.result;
  const auto ended = [&](PutOutcome outcome) {
    context_.listener.PutEnded(outcome, context_.clock.Steady() - attempt.steady);
  };
  switch (result.outcome) {
    case PutOutcome::kDone:
      ended(PutOutcome::kDone);
      return Commit(attempt);
    case PutOutcome::kUnknown: {
      ended(PutOutcome::kUnknown);
      {
        absl::MutexLock lock(&mu_);
        uncertain_ = true;
      }
      if (attempt.proposal != nullptr) attempt.proposal->answer(StoreUnavailable());
      // They have waited as long as this one.
      return RefuseLine(StoreUnavailable());
    }
    case PutOutcome::kConflict:
      break;
  }
  auto current = Record::Read(result.current.record);
  const auto* record = std::get_if<Record>(&current);
  const bool newest = record != nullptr && record->put_id() == attempt.record.put_id();
  // Ours may stand below what others have put since. (Without an earlier attempt the same bytes are somebody else's.)
  const bool below = record != nullptr && result.sent_before && record->Continues(attempt.record);
  ended(newest || below ? PutOutcome::kDone : PutOutcome::kConflict);
  if (newest || below) {
    Commit(attempt);
    if (!newest) Adopt(result.current);
    return;
  }
  const Adopted adopted = Adopt(result.current);
  if (adopted == Adopted::kUnreadable) {
    // Nothing to go on with; and a time-out must not be tried again at once for ever.
    absl::MutexLock lock(&mu_);
    uncertain_ = true;
  }
  if (attempt.proposal == nullptr) return;
  if (adopted != Adopted::kCurrent) {
    return attempt.proposal->answer(adopted == Adopted::kVanished ? GameNotFound(id_) : StoreUnavailable());
  }
  // Judged anew against what stands there now.
  attempt.proposal->confirmed = true;
  absl::MutexLock lock(&mu_);
  PushFront(std::move(attempt.proposal));
}

bool Game::Reread() {
  const auto call = std::make_shared<StoreCall>(shared_from_this());
  context_.store.Get(id_, [call](bool ok, Stored stored) {
    // The outcome travels as that of a put: kConflict = this is what stands there.
    call->result = {ok ? PutOutcome::kConflict : PutOutcome::kUnknown, std::move(stored)};
    if (call->IsSecond() && call->game->SettleReread(call->result)) call->game->WorkOff();
  });
  return call->IsSecond() && SettleReread(call->result);
}

bool Game::SettleReread(const PutResult& result) {
  const bool known = result.outcome == PutOutcome::kConflict && Adopt(result.current) != Adopted::kUnreadable;
  {
    absl::MutexLock lock(&mu_);
    uncertain_ = !known;
    const bool answered = result.outcome != PutOutcome::kUnknown;
    if (in_doubt_ == InDoubt::kBeingAsked) in_doubt_ = answered ? InDoubt::kNo : InDoubt::kYes;
  }
  if (known) return true;
  RefuseLine(StoreUnavailable());
  absl::MutexLock lock(&mu_);
  if (first_ != nullptr || offered_ != nullptr) return true;
  // At most a time-out waits: CheckDeadline comes again.
  working_ = false;
  return false;
}

}  // namespace reversi
