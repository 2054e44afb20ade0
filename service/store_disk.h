// The disk store: RocksDB, one process at a time. A put is done when it is synced, so that it outlives the crash of the
// process and of the machine. Whoever puts while nobody writes does so in its own thread, for those that come meanwhile,
// too: a thread of the store's own would have to be woken for every batch, and gRPC's for every answer (with 64 moves in
// flight a third of the rate).
#ifndef REVERSI_SERVICE_STORE_DISK_H_
#define REVERSI_SERVICE_STORE_DISK_H_

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "service/committer.h"
#include "service/store.h"
#include "service/store_log.h"

namespace rocksdb {
class DB;
class Iterator;
class WriteBatch;
}  // namespace rocksdb

namespace reversi {

class DiskStore : public Store {
 public:
  // Opens the folder, which is made if missing. Returns why it cannot be used: it is another process's, unreadable, or
  // not RocksDB's.
  static std::variant<std::unique_ptr<DiskStore>, std::string> Open(const std::string& data_dir, StoreLog log);
  // What was put before is written first.
  ~DiskStore() override;

  // Reads the file in the caller's thread; a game that cannot be read is not ok.
  void Get(std::string_view game_id, GetDone done) override;
  void Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override;
  void PutUnattended(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) override;
  void Delete(std::string_view game_id, uint64_t expected_version, PutDone done) override;
  // Records whose checksum is wrong are told to the log, not to the follower, and kept apart under another key. If blocks
  // cannot be read, what can be is written anew, and the old files are kept as data_dir/games.damaged-<time>.
  void Follow(Follower follower, CaughtUp caught_up) override;
  bool shared() const override { return false; }
  bool reachable() const override { return Files() != nullptr; }

 private:
  // A folder lock of this process; -1 = none.
  struct Folder {
    int lock = -1;
    Folder() = default;
    Folder(Folder&& other) noexcept : lock(std::exchange(other.lock, -1)) {}
    ~Folder();
  };
  enum class Read : uint8_t { kFound, kNone, kFailed };

  DiskStore(std::string data_dir, Folder folder, std::shared_ptr<rocksdb::DB> files, StoreLog log);

  // Writes it and what comes meanwhile, but not for ever.
  void Write(StoreBatch batch) ABSL_LOCKS_EXCLUDED(mu_);
  // Leaves it to the store's thread.
  void Hand(StoreBatch batch) ABSL_LOCKS_EXCLUDED(mu_);
  void WriteLeft() ABSL_LOCKS_EXCLUDED(mu_);
  // One at a time.
  void WriteOne(StoreBatch batch);
  // Whether the expected version stands there; the result says what comes of it: done, the conflict, or unknown where the
  // game cannot be read.
  bool Compare(rocksdb::DB* files, const StoreOp& op, PutResult* result);
  // Null = a write has failed and the files could not be opened again so far.
  std::shared_ptr<rocksdb::DB> Files() const ABSL_LOCKS_EXCLUDED(mu_);
  void Reopen() ABSL_LOCKS_EXCLUDED(mu_);
  Read ReadGame(rocksdb::DB* files, std::string_view game_id, Stored* stored) const;
  // Both return why it failed; empty = done.
  std::string SetAside(const std::vector<std::pair<std::string, std::string>>& damaged);
  // Moves what can be read into new files and keeps the old ones beside them: RocksDB cannot tidy up around a block that
  // it cannot read, and refuses writes when it tries.
  std::string Rewrite() ABSL_LOCKS_EXCLUDED(mu_);

  const std::string data_dir_;
  const Folder folder_;  // goes after the files
  const StoreLog log_;
  // Set before the first put; called by whoever writes, which keeps a game's changes in order.
  Follower follower_;
  // Of games put of late: nobody else writes here, so that what was put needs not be read. Touched by whoever writes.
  absl::flat_hash_map<GameId, uint64_t, GameId::Hash, GameId::Same> versions_;

  mutable absl::Mutex mu_;
  std::shared_ptr<rocksdb::DB> files_ ABSL_GUARDED_BY(mu_);
  StoreBatch left_ ABSL_GUARDED_BY(mu_);  // to be written by the store's thread
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Committer committer_;
  std::thread writer_;  // of what callers leave
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_DISK_H_
