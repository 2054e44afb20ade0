#include "service/store_memory.h"

#include <utility>

#include "service/checked_bytes.h"

namespace reversi {
namespace {

// In front of a packed record.
std::string VersionBytes(uint64_t version) {
  std::string bytes;
  AppendVarint(bytes, version);
  return bytes;
}

uint64_t TakeVersion(std::string_view& from) { return *TakeVarint(from); }

}  // namespace

MemoryStore::Shard& MemoryStore::ShardOf(std::string_view game_id) {
  // By the high bits: the low ones of the same hash choose the slot inside a shard's table.
  return shards_[(GameId::Hash()(game_id) >> 32) * kShards >> 32];
}

Stored MemoryStore::Unpack(const Bytes& packed) const {
  std::string_view bytes = packed.view();
  const uint64_t version = TakeVersion(bytes);
  return {version, packing_->unpack(bytes)};
}

uint64_t MemoryStore::PackedVersion(Shard& shard, std::string_view game_id) const {
  const auto found = shard.packed.find(game_id);
  if (found == shard.packed.end()) return 0;
  std::string_view bytes = found->second.view();
  return TakeVersion(bytes);
}

Stored MemoryStore::Unpacked(Shard& shard, std::string_view game_id) const {
  const auto found = shard.packed.find(game_id);
  return found == shard.packed.end() ? Stored{} : Unpack(found->second);
}

void MemoryStore::Get(std::string_view game_id, GetDone done) {
  Stored stored;
  Bytes packed;
  {
    Shard& shard = ShardOf(game_id);
    absl::MutexLock lock(&shard.mu);
    const auto found = shard.games.find(game_id);
    if (found != shard.games.end()) {
      stored = found->second;
    } else if (const auto compacted = shard.packed.find(game_id); compacted != shard.packed.end()) {
      packed = compacted->second;
    }
  }
  if (!packed.empty()) stored = Unpack(packed);
  done(true, std::move(stored));
}

void MemoryStore::Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
  PutResult result{PutOutcome::kDone};
  {
    Shard& shard = ShardOf(game_id);
    absl::MutexLock lock(&shard.mu);
    const auto found = shard.games.find(game_id);
    const bool here = found != shard.games.end();
    const uint64_t version = here ? found->second.version : PackedVersion(shard, game_id);
    if (version != expected_version) {
      result.outcome = PutOutcome::kConflict;
      result.current = here ? found->second : Unpacked(shard, game_id);
    } else {
      Stored stored{version + 1, std::move(record)};
      if (follower_) follower_(game_id, stored);
      if (!here) {
        if (version != 0) shard.packed.erase(game_id);
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
    const bool here = found != shard.games.end();
    const uint64_t version = here ? found->second.version : PackedVersion(shard, game_id);
    if (version != expected_version) {
      result.outcome = PutOutcome::kConflict;
      result.current = here ? found->second : Unpacked(shard, game_id);
    } else if (version != 0) {
      if (follower_) follower_(game_id, Stored{});
      if (here) {
        shard.games.erase(found);
      } else {
        shard.packed.erase(game_id);
      }
    }
  }
  done(std::move(result));
}

void MemoryStore::Compact(std::string_view game_id) {
  if (!packing_.has_value()) return;
  Shard& shard = ShardOf(game_id);
  absl::MutexLock lock(&shard.mu);
  const auto found = shard.games.find(game_id);
  if (found == shard.games.end()) return;
  const std::string packed = packing_->pack(found->second.record.view());
  if (packed.empty()) return;
  shard.packed.emplace(found->first, Bytes(VersionBytes(found->second.version), packed));
  shard.games.erase(found);
}

void MemoryStore::Follow(Follower follower, CaughtUp caught_up) {
  follower_ = std::move(follower);
  caught_up();
}

}  // namespace reversi
