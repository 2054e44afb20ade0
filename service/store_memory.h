// The default store: a sharded map in memory. Completes inline, so that no answer changes threads. A restart loses
// everything.
#ifndef REVERSI_SERVICE_STORE_MEMORY_H_
#define REVERSI_SERVICE_STORE_MEMORY_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "service/store.h"

namespace reversi {

class MemoryStore : public Store {
 public:
  void Get(std::string_view game_id, GetDone done) override;
  void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override;
  void Delete(std::string_view game_id, uint64_t expected_version, PutDone done) override;
  void Follow(Follower follower, CaughtUp caught_up) override;
  bool shared() const override { return false; }
  bool in_memory() const override { return true; }

 private:
  struct Shard {
    absl::Mutex mu;
    absl::flat_hash_map<GameId, Stored, GameId::Hash, GameId::Same> games ABSL_GUARDED_BY(mu);
  };
  Shard& ShardOf(std::string_view game_id);

  // A table doubles when it is seven eighths full: with this many, those of the million games that a server holds by
  // default are three quarters full, where 64 would leave them half empty, which is 20 bytes a game.
  static constexpr uint64_t kShards = 40;
  std::array<Shard, kShards> shards_;
  // Set before the first put; called under the shard's lock, which keeps a game's changes in order.
  Follower follower_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_MEMORY_H_
