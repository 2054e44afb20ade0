// The default store: a sharded map in memory. Completes inline, so that no answer changes threads. A restart loses
// everything.
#ifndef REVERSI_SERVICE_STORE_MEMORY_H_
#define REVERSI_SERVICE_STORE_MEMORY_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "service/store.h"

namespace reversi {

class MemoryStore : public Store {
 public:
  // How a record is kept in fewer bytes. `pack` returns none where it cannot.
  struct Packing {
    std::string (*pack)(std::string_view record);
    Bytes (*unpack)(std::string_view packed);
  };
  // Without packing, Compact does nothing.
  explicit MemoryStore(std::optional<Packing> packing = std::nullopt) : packing_(packing) {}

  void Get(std::string_view game_id, GetDone done) override;
  void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override;
  void Delete(std::string_view game_id, uint64_t expected_version, PutDone done) override;
  void Compact(std::string_view game_id) override;
  void Follow(Follower follower, CaughtUp caught_up) override;
  bool shared() const override { return false; }
  bool in_memory() const override { return true; }

 private:
  struct Shard {
    absl::Mutex mu;
    absl::flat_hash_map<GameId, Stored, GameId::Hash, GameId::Same> games ABSL_GUARDED_BY(mu);
    // Those that were compacted: the version and what `pack` made, in one block, for a slot of 16 bytes instead of 24.
    absl::flat_hash_map<GameId, Bytes, GameId::Hash, GameId::Same> packed ABSL_GUARDED_BY(mu);
  };
  Shard& ShardOf(std::string_view game_id);
  Stored Unpack(const Bytes& packed) const;
  // What the shard has of a game that is not among its `games`.
  uint64_t PackedVersion(Shard& shard, std::string_view game_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mu);
  Stored Unpacked(Shard& shard, std::string_view game_id) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(shard.mu);

  const std::optional<Packing> packing_;

  // A table doubles when it is seven eighths full: with this many, those of the million games that a server holds by
  // default are three quarters full, where 64 would leave them half empty, which is 20 bytes a game.
  static constexpr uint64_t kShards = 40;
  std::array<Shard, kShards> shards_;
  // Set before the first put; called under the shard's lock, which keeps a game's changes in order.
  Follower follower_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_MEMORY_H_
