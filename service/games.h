// All games: by id, by age for lists, and by what the clock will do to them.
#ifndef REVERSI_SERVICE_GAMES_H_
#define REVERSI_SERVICE_GAMES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/game.h"
#include "service/loading.h"
#include "service/metrics.h"

namespace reversi {

// How long games are kept; zero = for ever.
struct Retention {
  absl::Duration finished;
  absl::Duration waiting;
  absl::Duration idle;
};

struct GameLimits {
  uint64_t games;
  uint64_t command_queue;
  // How long a list waits for the first contact with a shared store.
  absl::Duration store_wait = absl::Seconds(5);
};

class Games : public GameListener {
 public:
  // All references outlive it.
  Games(Store& store, const Tokens& tokens, const Clock& clock, Metrics& metrics, Retention retention,
        GameLimits limits);
  ~Games() override;

  // Takes over everything that stands in the store, and from then on what others put into it. Before this returns where
  // the store is this process's own, else as soon as it can be reached.
  void Load();
  Loading& loading() { return loading_; }

  // The game of this id, as far as it is known here, or null. Version 0 = it is just being made. A finished game may be
  // another object each time, made for whoever asks from what stands in a store in memory.
  std::shared_ptr<Game> Find(std::string_view id);
  // Whether there is one whose version is not 0.
  bool Has(std::string_view id);

  // Whether the store is asked by Locate and Read.
  bool shared() const { return store_.shared(); }
  // Calls done(OrError<std::shared_ptr<Game>>) with the game of this id, asking a shared store where it is not known
  // here. Inline unless the store is asked.
  template <typename Done>
  void Locate(const std::string& id, Done done) {
    std::shared_ptr<Game> game = Find(id);
    if (game == nullptr && store_.shared()) return LocateInStore(id, std::move(done));
    if (game == nullptr) return done(OrError<std::shared_ptr<Game>>(GameNotFound(id)));
    done(OrError<std::shared_ptr<Game>>(std::move(game)));
  }
  // A game as it now stands: what a shared store says, whatever is known here.
  struct Current {
    std::shared_ptr<Game> game;
    Snapshot snapshot;
  };
  // Calls done(OrError<Current>), inline unless the store is asked.
  template <typename Done>
  void Read(const std::string& id, Done done) {
    if (store_.shared()) return ReadFromStore(id, std::move(done));
    std::shared_ptr<Game> game = Find(id);
    auto snapshot = game == nullptr ? std::nullopt : game->Read();
    if (!snapshot.has_value()) return done(OrError<Current>(GameNotFound(id)));
    done(OrError<Current>(Current{std::move(game), *std::move(snapshot)}));
  }

  // Makes a game: `answer` gets the game too. Refused when there are too many. A request that has made a game already,
  // or is making one, meets that one, whatever `id` is.
  using CreateAnswer = absl::AnyInvocable<void(Answer answer, std::shared_ptr<Game> game)>;
  void Create(std::string id, CreateWish wish, absl::AnyInvocable<bool()> abandoned, CreateAnswer answer);

  // The id of the game that was made with the request of this digest; nullopt = none is here.
  std::optional<std::string> MadeBy(const std::string& request) ABSL_LOCKS_EXCLUDED(list_mu_);

  // When the game is dropped if nothing more happens to it; infinite = never.
  absl::Time Expires(const Table& table) const;

  // A page of listed games, newest first. `page_token` empty = from the newest.
  struct Page {
    std::vector<Current> games;  // as known here
    std::string next_page_token;  // empty = the last page
  };
  struct Filter {
    std::optional<GameState> state;
    std::optional<Variant> variant;
  };
  // Of the games that are here: all of them once loading() is done.
  OrError<Page> List(int page_size, std::string_view page_token, Filter filter);
  // Calls done(true) when they are, done(false) when that takes too long.
  void AwaitAll(Loading::Ready done) { loading_.Await(clock_.Steady() + limits_.store_wait, std::move(done)); }

  // Makes the time-outs that are due, and ends waits for the store. Called every 40 ms or so.
  void RunDeadlines();
  // Ends and drops what has outlived its retention, and lets go of finished games that a store in memory keeps; a share
  // of all games at a call, a full round takes kSweepCalls calls.
  static constexpr int kSweepCalls = 64;
  void Sweep();

  uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  void Committed(Game& game, const Event& event, std::optional<GameState> before, Origin origin) override;
  void Vanished(Game& game) override;
  void Followed(const GameId& id, const Stored& next) override { Told(std::string(id), next); }
  void Unreadable(const Game& game, const std::string& why) override;
  void PutEnded(PutOutcome outcome, absl::Duration duration) override;

 private:
  struct IdOf {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return GameId::Hash()(id); }
    size_t operator()(const std::shared_ptr<Game>& game) const { return (*this)(game->id()); }
  };
  struct SameId {
    using is_transparent = void;
    bool operator()(const std::shared_ptr<Game>& a, const std::shared_ptr<Game>& b) const {
      return a->id().text() == b->id().text();
    }
    bool operator()(const std::shared_ptr<Game>& a, std::string_view id) const { return a->id().text() == id; }
  };
  struct Shard {
    absl::Mutex mu;
    absl::flat_hash_set<std::shared_ptr<Game>, IdOf, SameId> games ABSL_GUARDED_BY(mu);
  };
  // What lists and the retention know of a game, in 16 bytes: there is one for every game that was made.
  struct Entry {
    Entry(const GameId& of, const Start& start, GameState now);
    int64_t created() const { return static_cast<int64_t>(created_ms); }
    uint64_t created_ms : 48;
    uint64_t listed : 1;
    uint64_t variant : 2;
    mutable uint64_t state : 2;
    mutable uint64_t minutes : 11;  // from creation to end, rounded down, no more than kMostMinutes; kFinished only
    GameId id;
  };
  static constexpr int64_t kMostMinutes = (1 << 11) - 1;
  // Where an entry stands: newest first, then by id.
  struct Place {
    int64_t created() const { return created_ms; }
    int64_t created_ms;
    GameId id;
  };
  struct Newer {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return a.created() != b.created() ? a.created() > b.created() : a.id.text() < b.id.text();
    }
  };
  struct Due {
    absl::Duration when;
    std::weak_ptr<Game> game;
    bool operator>(const Due& other) const { return when > other.when; }
  };

  // Counts a committed event: what is known of games always, what was done only where it was done.
  void Count(Game& game, const Event& event, Origin origin);
  // Enters a game into the list when it was made, and what changes of it then.
  void Enter(Game& game, const Event& event) ABSL_LOCKS_EXCLUDED(list_mu_);
  Shard& ShardOf(std::string_view id);
  std::shared_ptr<Game> FindHeld(std::string_view id);
  // What a store in memory has of the game; of any other, nothing.
  Stored InMemory(std::string_view id);
  // Null = there are as many games as there may be.
  std::shared_ptr<Game> FindOrAdd(const std::string& id, uint64_t limit);
  void LocateInStore(const std::string& id, absl::AnyInvocable<void(OrError<std::shared_ptr<Game>>)> done);
  void ReadFromStore(const std::string& id, absl::AnyInvocable<void(OrError<Current>)> done);
  // What the store's feed, or a Get, brought.
  void Told(const std::string& id, const Stored& stored);
  // Out of the map and of the list, if it is there.
  void Forget(const std::shared_ptr<Game>& game) ABSL_LOCKS_EXCLUDED(list_mu_);
  // Out of the map alone. False = it was not there.
  bool Remove(const std::shared_ptr<Game>& game);
  // Gives up the place of a game that was never made.
  void GiveUp(const std::shared_ptr<Game>& game);
  // The parts of a sweep.
  void LetGoOfFinished(Shard& shard);
  void ExpireUnfinished(Shard& shard, absl::Time now);
  void DropFinished(absl::Time now) ABSL_LOCKS_EXCLUDED(list_mu_);
  void ExpireIfOver(const std::shared_ptr<Game>& game, absl::Time now);
  void Drop(const std::shared_ptr<Game>& game);

  // Where the request's game stands or is to be made.
  struct Making {
    std::string id;
    bool making;  // it is not there yet: EndMaking has to follow
  };
  // nullopt = the request is making a game under another id.
  std::optional<Making> BeginMaking(const std::string& request, std::string id) ABSL_LOCKS_EXCLUDED(list_mu_);
  void EndMaking(const std::string& request) ABSL_LOCKS_EXCLUDED(list_mu_);
  std::optional<std::string> MadeByDerivedId(const std::vector<std::string>& ids);
  void AwaitDeadline(Game& game) ABSL_LOCKS_EXCLUDED(due_mu_);
  // A dropped game's deadline would hold its memory until it comes up.
  void ForgetDeadlines() ABSL_LOCKS_EXCLUDED(due_mu_);

  // Whether the id does not follow from the request.
  bool IsChosen(const Game& game, const Start& start) const;

  Metrics& metrics_;
  Store& store_;
  const Tokens& tokens_;
  const Clock& clock_;
  const Retention retention_;
  const GameLimits limits_;
  GameContext context_;
  // The games that are held: all but the finished ones that were let go of.
  std::array<Shard, kSweepCalls> shards_;
  std::atomic<uint64_t> count_ = 0;  // of all
  Loading loading_;
  std::atomic<uint32_t> next_sweep_ = 0;

  absl::Mutex list_mu_;
  absl::btree_set<Entry, Newer> list_ ABSL_GUARDED_BY(list_mu_);
  // Where the search for finished games to drop has come to, and how many entries a sweep looks at.
  Place swept_ ABSL_GUARDED_BY(list_mu_) = {0, ""};
  size_t sweep_share_ ABSL_GUARDED_BY(list_mu_) = 0;
  // Games of callers' own choice of id that were made with a request_id: digest of the request to id. All others with
  // a request_id are found by the id that follows from it.
  absl::flat_hash_map<std::string, std::string> chosen_ ABSL_GUARDED_BY(list_mu_);
  // Requests whose creation is on its way.
  struct BeingMade {
    std::string id;
    int calls;
  };
  absl::flat_hash_map<std::string, BeingMade> being_made_ ABSL_GUARDED_BY(list_mu_);

  absl::Mutex due_mu_;
  std::vector<Due> due_ ABSL_GUARDED_BY(due_mu_);  // a heap, the earliest first
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_GAMES_H_
