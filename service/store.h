// A store: a compare-and-set map from game id to the game's record. The store's version of a game is the game's
// own: one put an event.
#ifndef REVERSI_SERVICE_STORE_H_
#define REVERSI_SERVICE_STORE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "service/bytes.h"
#include "service/game_id.h"

namespace reversi {

// A game as stored. Version 0 = there is none, and the record is empty.
struct Stored {
  uint64_t version = 0;
  Bytes record;
};

enum class PutOutcome : uint8_t {
  kDone,      // as durable as the store promises
  kConflict,  // the version was another one; `current` is what stands there
  kUnknown,   // it may have landed, may still land, or never: read before the next put
};

struct PutResult {
  PutOutcome outcome = PutOutcome::kUnknown;
  Stored current = {};  // kConflict only
  // kConflict only: an earlier attempt may have landed before what stands now was put over it.
  bool sent_before = false;
};

// All methods may be called from any thread, never under a game's lock. Completions run exactly once, inline, on a thread
// of the store or on that of another caller, must not block, and may call the store again.
class Store {
 public:
  using GetDone = absl::AnyInvocable<void(bool ok, Stored stored)>;
  using PutDone = absl::AnyInvocable<void(PutResult result)>;
  // A game as it now stands; an empty record = deleted. Changes of one game come in their order; an early one may be
  // left out when a later one follows, since each brings the whole history.
  using Follower = absl::AnyInvocable<void(std::string_view game_id, const Stored& stored)>;

  virtual ~Store() = default;

  // What stands in the store now (linearizable). ok = false: the store could not be asked.
  virtual void Get(std::string_view game_id, GetDone done) = 0;
  // Writes version expected_version + 1 if expected_version is the current one (0 = there is none).
  virtual void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) = 0;
  // The same where no caller waits for it: does not write in this thread, which has other games to look after.
  virtual void PutUnattended(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
    Put(game_id, expected_version, std::move(record), std::move(done));
  }
  // Removes the game if it is at this version; otherwise a conflict. No caller waits for it either.
  virtual void Delete(std::string_view game_id, uint64_t expected_version, PutDone done) = 0;
  // Everything that stood in the store when it was followed has been told.
  using CaughtUp = absl::AnyInvocable<void()>;
  // Tells everything that stands in the store, then every change, this process's own included; one call at a time for
  // a game. Once, before the first call of the others. `caught_up` runs before this returns where the store is this
  // process's own, else when the store has been reached.
  virtual void Follow(Follower follower, CaughtUp caught_up) = 0;
  // The game has ended and will seldom be asked for: what keeps it in memory may keep it in fewer bytes.
  virtual void Compact(std::string_view /*game_id*/) {}
  // Whether others write too, so that memory is only a cache of this store.
  virtual bool shared() const = 0;
  // Whether it is this process's memory: Get completes inline, and what it keeps needs no second place here.
  virtual bool in_memory() const { return false; }
  // Whether its last call came through, and its feed goes on.
  virtual bool reachable() const { return true; }
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_H_
