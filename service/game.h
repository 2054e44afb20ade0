// One game: the single way of all commands through it, and its watchers.
//
//   Submit → wait in line → judge against the committed state → Put into the store → commit → answer, wake watchers
//
// One put is in flight at a time; nothing is shown before the store has it. No lock is held while the store, an
// answer or a watcher runs. All methods may be called from any thread.
#ifndef REVERSI_SERVICE_GAME_H_
#define REVERSI_SERVICE_GAME_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/bytes.h"
#include "service/clock.h"
#include "service/errors.h"
#include "service/game_id.h"
#include "service/judge.h"
#include "service/record.h"
#include "service/store.h"
#include "service/table.h"
#include "service/tokens.h"

namespace reversi {

class Game;

// Somebody who reads the log and wants to know when it grows.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // The log may be longer than it was. Called under no lock of the game.
  virtual void Wake() = 0;
};

// What a wish became. Abandoned: its caller had gone before its turn came, and nothing was done.
struct Accepted {
  Event event;
  bool again = false;  // accepted earlier; this is the same answer
};
struct Abandoned {};
using Answer = std::variant<Accepted, Error, Abandoned>;

// A wish on its way. `answer` is called exactly once, from any thread, and must not block.
struct Proposal {
  Wish wish;
  absl::AnyInvocable<void(Answer)> answer;
  // Whether the caller has gone; may be empty.
  absl::AnyInvocable<bool()> abandoned = {};
  // The game's own: the store has said that the state which the wish is judged by is the newest.
  bool confirmed = false;
  std::unique_ptr<Proposal> next = {};  // the line's
};

// Whose put an event came by: this process's own, or another's that was read from the store.
enum class Origin : uint8_t { kOwn, kStore };

// Told of every committed event, under no lock, before its answer; events of one game in order.
class GameListener {
 public:
  virtual ~GameListener() = default;
  // `before` = the state until then; nullopt at the creation.
  virtual void Committed(Game& game, const Event& event, std::optional<GameState> before, Origin origin) = 0;
  // The store has no such game any more.
  virtual void Vanished(Game& game) = 0;
  // And this is the next game of its id.
  virtual void Followed(const GameId& id, const Stored& next) = 0;
  // What stands in the store under the game's id cannot be used.
  virtual void Unreadable(const Game& game, const std::string& why) = 0;
  // Told of every put, before what follows from it. kDone also where a conflict turned out to be with this same put.
  virtual void PutEnded(PutOutcome outcome, absl::Duration duration) = 0;
};

// What all games share; outlives them.
struct GameContext {
  Store& store;
  const Tokens& tokens;
  const Clock& clock;
  GameListener& listener;
  // Serializes an event as watchers get it.
  Bytes (*serialize)(const Event& event);
  uint64_t command_queue = 256;
  // A game with a turn limit that is taken over from a store gets this long before its first time-out.
  absl::Duration takeover_grace = absl::Seconds(5);
  // Others put into the store too: the state here may be old, so that no refusal is answered before the store has
  // confirmed what it rests on.
  bool shared = false;
};

// A game at one moment.
struct Snapshot {
  Record record;
  Table table;
};

class Game : public std::enable_shared_from_this<Game> {
 public:
  // Under this id there is no game yet: version 0.
  Game(GameId id, GameContext& context);
  ~Game();
  // The finished game that stands in the store; null = it is not finished, or unreadable. Nobody is told of its events.
  static std::shared_ptr<Game> Finished(const GameId& id, GameContext& context, const Stored& stored);

  const GameId& id() const { return id_; }

  // Puts the wish in line and works the line off as far as the store allows. A full line refuses: RATE_LIMITED.
  // Gives the proposal back, unanswered, if the game was retired.
  std::unique_ptr<Proposal> Submit(std::unique_ptr<Proposal> proposal) ABSL_LOCKS_EXCLUDED(mu_);
  // What the store's feed tells of this game: taken over if it is news. False = the game was retired.
  bool Offer(const Stored& stored) ABSL_LOCKS_EXCLUDED(mu_);
  // The news, which may be late, that the store has no such game any more: the store is asked at the next
  // CheckDeadline.
  void Doubt() ABSL_LOCKS_EXCLUDED(mu_);
  // Gives the place up if there is no game under this id and no wish waits for one. False = it is needed.
  bool Retire() ABSL_LOCKS_EXCLUDED(mu_);
  // The same, for whoever does not work on the line: false also while somebody does, who may be just taking the game
  // over.
  bool RetireIdle() ABSL_LOCKS_EXCLUDED(mu_);

  // Makes the time-out that is due, if one is; asks the store about a game in doubt.
  void CheckDeadline() ABSL_LOCKS_EXCLUDED(mu_);
  // When there is something to check by the steady clock; infinite = no limit runs.
  absl::Duration deadline() const ABSL_LOCKS_EXCLUDED(mu_);

  // nullopt = there is no game under this id.
  std::optional<Snapshot> Read() const ABSL_LOCKS_EXCLUDED(mu_);
  // The record alone; empty = there is no game under this id.
  Record record() const ABSL_LOCKS_EXCLUDED(mu_);
  // 0 = there is no game under this id.
  uint64_t version() const { return version_.load(std::memory_order_acquire); }
  GameState state() const { return state_.load(std::memory_order_acquire); }
  // Whether it is no longer in the store: nothing will happen to it any more.
  bool gone() const { return gone_.load(std::memory_order_acquire); }
  // Of a game whose version is not 0.
  Variant variant() const { return variant_.load(std::memory_order_acquire); }
  // Time of the last event, ms since 1970.
  int64_t time_ms() const { return time_ms_.load(std::memory_order_acquire); }

  // Serialized events in order.
  struct Events {
    absl::InlinedVector<Bytes, 1> bytes;  // of one event mostly: whoever is up to date asks for the next
    bool end = false;  // nothing will follow them
  };
  // The events from `version` on, at most kBurst of them; none if there is none yet.
  static constexpr uint64_t kBurst = 16;
  Events EventsFrom(uint64_t version) ABSL_LOCKS_EXCLUDED(mu_);

  // From now on the watcher is woken after every commit, until it is removed. False = `limit` watch already.
  bool AddWatcher(std::shared_ptr<Watcher> watcher, uint64_t limit) ABSL_LOCKS_EXCLUDED(mu_);
  // A wake that is under way may still come. False = it was not there.
  bool RemoveWatcher(const std::shared_ptr<Watcher>& watcher) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Those who watch, and the newest event as they get it; empty until one asks.
  struct Watched {
    absl::flat_hash_set<std::shared_ptr<Watcher>> watchers;
    Bytes newest;
  };

  // A call of the store that is under way. Its two ends, the call's return and its completion, both have it;
  // whichever comes second goes on with the line: a store that completes at once does not make it a recursion.
  struct StoreCall {
    explicit StoreCall(std::shared_ptr<Game> of) : game(std::move(of)) {}
    bool IsSecond() { return ended.exchange(true, std::memory_order_acq_rel); }
    const std::shared_ptr<Game> game;
    PutResult result = {};
    std::atomic<bool> ended = false;  // one of its ends has come
  };
  // A command that the store is asked to take.
  struct Attempt : StoreCall {
    Attempt(std::shared_ptr<Game> of, Event&& is, Record&& with, absl::Duration now)
        : StoreCall(std::move(of)), event(std::move(is)), record(std::move(with)), steady(now) {}
    std::unique_ptr<Proposal> proposal;  // null = the game's own: a time-out
    Event event;
    Record record;
    const absl::Duration steady;  // when it was prepared
    // Its completion found nothing more to do, so that nobody goes on with the line. Set before that end comes.
    bool rested = false;
  };

  void WorkOff() ABSL_LOCKS_EXCLUDED(mu_);
  // One step of the line. False = nothing to do, or the store has to complete first.
  bool Step() ABSL_LOCKS_EXCLUDED(mu_);
  // Gives the line up if there is nothing to do.
  bool RestIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool RetireUnderLock() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::unique_ptr<Proposal> Pop() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PushFront(std::unique_ptr<Proposal> proposal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has the state confirmed before the wish is judged again.
  void Confirm(std::unique_ptr<Proposal> proposal) ABSL_LOCKS_EXCLUDED(mu_);
  // Answers everything that waits with this.
  void RefuseLine(const Error& error) ABSL_LOCKS_EXCLUDED(mu_);
  // The command that the wish is granted as, made into an attempt; or the answer that it gets at once.
  std::variant<std::shared_ptr<Attempt>, Answer> Prepare(Proposal* proposal) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::variant<std::shared_ptr<Attempt>, Answer> PrepareCreation(CreateWish& wish)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::shared_ptr<Attempt> AttemptOf(Event&& event, Record&& record);
  Answer AgainAt(uint64_t version) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool DeadlinePassed() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  // Both: false = the store completes later and goes on with the line.
  bool Put(const std::shared_ptr<Attempt>& attempt) ABSL_LOCKS_EXCLUDED(mu_);
  bool Reread() ABSL_LOCKS_EXCLUDED(mu_);
  void Settle(Attempt& attempt) ABSL_LOCKS_EXCLUDED(mu_);
  // Whether the line goes on.
  bool SettleReread(const PutResult& result) ABSL_LOCKS_EXCLUDED(mu_);

  void Commit(Attempt& attempt) ABSL_LOCKS_EXCLUDED(mu_);
  // Takes over what others put into the store.
  enum class Adopted : uint8_t { kCurrent, kUnreadable, kVanished };
  Adopted Adopt(const Stored& stored) ABSL_LOCKS_EXCLUDED(mu_);
  // The game that was here is no longer in the store.
  void Vanish() ABSL_LOCKS_EXCLUDED(mu_);
  void SetTable(const Table& table, absl::Duration deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Table CurrentTable() const ABSL_SHARED_LOCKS_REQUIRED(mu_);
  void WakeWatchers() ABSL_LOCKS_EXCLUDED(mu_);

  const GameId id_;
  GameContext& context_;

  mutable absl::Mutex mu_;
  Record record_ ABSL_GUARDED_BY(mu_);
  // None before the creation and after the end: a finished game's table is replayed when somebody asks.
  PackedTable table_ ABSL_GUARDED_BY(mu_);
  // Null = nobody watches.
  std::unique_ptr<Watched> watched_ ABSL_GUARDED_BY(mu_) ABSL_PT_GUARDED_BY(mu_);
  // The newest that the feed has told and nobody has looked at yet.
  std::unique_ptr<Stored> offered_ ABSL_GUARDED_BY(mu_);
  // The line: proposals that wait.
  std::unique_ptr<Proposal> first_ ABSL_GUARDED_BY(mu_);
  Proposal* last_ ABSL_GUARDED_BY(mu_) = nullptr;
  absl::Duration deadline_ ABSL_GUARDED_BY(mu_) = absl::InfiniteDuration();
  uint32_t waiting_ ABSL_GUARDED_BY(mu_) = 0;  // in the line
  // Whether somebody works the line off; the attempt in flight is that one's alone.
  bool working_ : 1 ABSL_GUARDED_BY(mu_) = false;
  // The outcome of a put is unknown: the record has to be read before anything else is accepted.
  bool uncertain_ : 1 ABSL_GUARDED_BY(mu_) = false;
  bool retired_ : 1 ABSL_GUARDED_BY(mu_) = false;
  // Whether the store is to be asked if it has the game, even if nothing waits for that. A doubt that comes while it is
  // asked is another one.
  enum class InDoubt : uint8_t { kNo, kYes, kBeingAsked };
  InDoubt in_doubt_ : 2 ABSL_GUARDED_BY(mu_) = InDoubt::kNo;

  std::atomic<GameState> state_ = GameState::kWaiting;
  std::atomic<Variant> variant_ = Variant::kMultiplayer;
  std::atomic<bool> gone_ = false;
  std::atomic<uint64_t> version_ = 0;
  std::atomic<int64_t> time_ms_ = 0;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_GAME_H_
