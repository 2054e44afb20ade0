// The disk store: RocksDB, one process at a time. A put is done when it is synced, so that it outlives the crash of the
// process and of the machine. One thread writes; puts that come meanwhile share the next sync.
#ifndef REVERSI_SERVICE_STORE_DISK_H_
#define REVERSI_SERVICE_STORE_DISK_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
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

  void WriteBatches() ABSL_LOCKS_EXCLUDED(mu_);
  void WriteOne(StoreBatch batch);
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
  // Set before the first put; called by the writing thread, which keeps a game's changes in order.
  Follower follower_;

  mutable absl::Mutex mu_;
  std::shared_ptr<rocksdb::DB> files_ ABSL_GUARDED_BY(mu_);
  std::optional<StoreBatch> next_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  Committer committer_;
  std::thread writer_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_DISK_H_
