#include "service/store_memory.h"

#include <utility>

namespace reversi {

MemoryStore::Shard& MemoryStore::ShardOf(std::string_view game_id) {
  // By the high bits: the low ones of the same hash choose the slot inside a shard's table.
  return shards_[(GameId::Hash()(game_id) >> 32) * kShards >> 32];
}

void MemoryStore::Get(std::string_view game_id, GetDone done) {
  Stored stored;
  {
    Shard& shard = ShardOf(game_id);
    absl::MutexLock lock(&shard.mu);
    const auto found = shard.games.find(game_id);
    if (found != shard.games.end()) stored = found->second;
  }
  done(true, std::move(stored));
}

void MemoryStore::Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
  PutResult result{PutOutcome::kDone};
  {
    Shard& shard = ShardOf(game_id);
    absl::MutexLock lock(&shard.mu);
    const auto found = shard.games.find(game_id);
    const uint64_t version = found == shard.games.end() ? 0 : found->second.version;
    if (version != expected_version) {
      result.outcome = PutOutcome::kConflict;
      if (version != 0) result.current = found->second;
    } else {
      Stored stored{version + 1, std::move(record)};
      if (follower_) follower_(game_id, stored);
      if (version == 0) {
        shard.games.emplace(game_id, std::move(stored));
      } else {
        // The old record goes after the lock: freeing it is not this shard's business.
        std::swap(found->second, stored);
        result.current = std::move(stored);
      }
    }
  }
  if (result.outcome == PutOutcome::kDone) result.current = {};
  done(std::move(result));
}

void MemoryStore::Delete(std::string_view game_id, uint64_t expected_version, PutDone done) {
  PutResult result{PutOutcome::kDone};
  {
    Shard& shard = ShardOf(game_id);
    absl::MutexLock lock(&shard.mu);
    const auto found = shard.games.find(game_id);
    const uint64_t version = found == shard.games.end() ? 0 : found->second.version;
    if (version != expected_version) {
      result.outcome = PutOutcome::kConflict;
      if (version != 0) result.current = found->second;
    } else if (version != 0) {
      if (follower_) follower_(game_id, Stored{});
      shard.games.erase(found);
    }
  }
  done(std::move(result));
}

void MemoryStore::Follow(Follower follower, CaughtUp caught_up) {
  follower_ = std::move(follower);
  caught_up();
}

}  // namespace reversi
