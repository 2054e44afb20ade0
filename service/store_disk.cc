#include "service/store_disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/write_batch.h"
#include "service/checked_bytes.h"

// A game stands under "g" + id:   version (8 bytes, little-endian)  checksum (4 bytes)  record
// The checksum is CRC-32C over id, version and record. What fails it is moved under "x" + id, as it stands.

namespace reversi {
namespace {

constexpr char kGames = 'g';
constexpr char kSetAside = 'x';
constexpr size_t kHeadBytes = 12;
constexpr Committer::Limits kLimits{.ops = 4096, .bytes = 8 << 20, .under_way = 1};
// How long a caller goes on writing for others before it leaves them to the store's thread (its own answer goes out when
// its call returns), and how long that one then waits for another caller to take over.
constexpr std::chrono::milliseconds kTurn(1);
constexpr absl::Duration kTakeOver = absl::Microseconds(200);
constexpr size_t kVersions = 1 << 16;

std::string KeyOf(std::string_view game_id, char kind = kGames) { return std::string(1, kind).append(game_id); }

// What stands before the record.
std::string HeadOf(std::string_view game_id, uint64_t version, std::string_view record) {
  std::string head;
  AppendNumber(head, version, 8);
  AppendNumber(head, Crc(Crc(Crc(0, game_id), head), record), 4);
  return head;
}

// False = damaged.
bool Decode(std::string_view game_id, std::string_view value, Stored* stored) {
  if (value.size() <= kHeadBytes) return false;
  const std::string_view record = value.substr(kHeadBytes);
  if (NumberAt(value, 8, 4) != Crc(Crc(Crc(0, game_id), value.substr(0, 8)), record)) return false;
  *stored = {NumberAt(value, 0, 8), Bytes(record)};
  return stored->version != 0;
}

std::string_view ViewOf(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice SliceOf(std::string_view text) { return {text.data(), text.size()}; }

// RocksDB's own warnings, among them what a damaged log file lost.
class RocksLog : public rocksdb::Logger {
 public:
  explicit RocksLog(StoreLog log) : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), log_(std::move(log)) {}
  using Logger::Logv;
  void Logv(const char* format, va_list arguments) override {
    char line[512];
    std::vsnprintf(line, sizeof(line), format, arguments);
    log_(LogLevel::kWarning, absl::StrCat("disk store: ", line));
  }

 private:
  const StoreLog log_;
};

rocksdb::Options OptionsFor(StoreLog log) {
  rocksdb::Options options;
  options.create_if_missing = true;
  // Blocks whose checksums hold are kept, others are reported. Checksums stay on: over a block that is not one, RocksDB
  // ends the process.
  options.paranoid_checks = false;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  options.compression = rocksdb::kNoCompression;
  options.info_log = std::make_shared<RocksLog>(std::move(log));
  return options;
}

// RocksDB's folder in the data folder, and the one in which it is written anew.
std::string GamesIn(const std::string& data_dir) { return data_dir + "/games"; }
std::string NewGamesIn(const std::string& data_dir) { return data_dir + "/games.new"; }

// Null = they cannot be opened; `why` says it.
std::shared_ptr<rocksdb::DB> OpenFiles(const std::string& folder, const StoreLog& log, std::string* why) {
  // RocksDB warns of a folder that is not there before it makes it. It tells, too, why a folder cannot be made.
  std::error_code untold;
  std::filesystem::create_directory(folder, untold);
  rocksdb::DB* files = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(OptionsFor(log), folder, &files);
  if (!status.ok()) *why = status.ToString();
  return std::shared_ptr<rocksdb::DB>(files);
}

// Writing anew that a crash has cut off: it counts from the moment on in which the old files were moved away.
void FinishRewriting(const std::string& data_dir) {
  std::error_code error;
  if (std::filesystem::exists(GamesIn(data_dir), error)) {
    std::filesystem::remove_all(NewGamesIn(data_dir), error);
  } else if (std::filesystem::exists(NewGamesIn(data_dir), error)) {
    std::filesystem::rename(NewGamesIn(data_dir), GamesIn(data_dir), error);
  }
}

}  // namespace

DiskStore::Folder::~Folder() {
  if (lock >= 0) ::close(lock);
}

std::variant<std::unique_ptr<DiskStore>, std::string> DiskStore::Open(const std::string& data_dir, StoreLog log) {
  std::error_code error;
  std::filesystem::create_directories(data_dir, error);
  if (error) return absl::StrCat("the data folder ", data_dir, " cannot be made: ", error.message());
  const std::string lock_file = data_dir + "/lock";
  Folder folder;
  folder.lock = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (folder.lock < 0) return absl::StrCat("the data folder ", data_dir, " cannot be used: ", std::strerror(errno));
  if (::flock(folder.lock, LOCK_EX | LOCK_NB) != 0) {
    char pid[24] = {};
    const ssize_t size = ::pread(folder.lock, pid, sizeof(pid) - 1, 0);
    return absl::StrCat("the data folder ", data_dir, " is in use by another process",
                        size > 0 ? absl::StrCat(" (pid ", pid, ")") : "");
  }
  const std::string pid = absl::StrCat(::getpid());
  if (::ftruncate(folder.lock, 0) != 0 ||
      ::pwrite(folder.lock, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return absl::StrCat("the data folder ", data_dir, " cannot be written: ", std::strerror(errno));
  }
  FinishRewriting(data_dir);
  std::string why;
  auto files = OpenFiles(GamesIn(data_dir), log, &why);
  if (files == nullptr) return absl::StrCat("the data folder ", data_dir, " cannot be opened: ", why);
  return std::unique_ptr<DiskStore>(new DiskStore(data_dir, std::move(folder), std::move(files), std::move(log)));
}

DiskStore::DiskStore(std::string data_dir, Folder folder, std::shared_ptr<rocksdb::DB> files, StoreLog log)
    : data_dir_(std::move(data_dir)),
      folder_(std::move(folder)),
      log_(std::move(log)),
      files_(std::move(files)),
      committer_(kLimits),
      writer_([this] { WriteLeft(); }) {}

DiskStore::~DiskStore() {
  committer_.AwaitIdle();
  committer_.Stop();
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  writer_.join();
}

void DiskStore::Get(std::string_view game_id, GetDone done) {
  Stored stored;
  const auto files = Files();
  const bool ok = files != nullptr && ReadGame(files.get(), game_id, &stored) != Read::kFailed;
  done(ok, std::move(stored));
}

void DiskStore::Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
  Write(committer_.Add({game_id, expected_version, std::move(record), std::move(done)}));
}

void DiskStore::PutUnattended(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
  Hand(committer_.Add({game_id, expected_version, std::move(record), std::move(done)}));
}

void DiskStore::Delete(std::string_view game_id, uint64_t expected_version, PutDone done) {
  Hand(committer_.Add({game_id, expected_version, Bytes(), std::move(done)}));
}

void DiskStore::Write(StoreBatch batch) {
  if (batch.empty()) return;
  const auto until = std::chrono::steady_clock::now() + kTurn;
  do {
    const size_t count = batch.size();
    WriteOne(std::move(batch));
    batch = committer_.Next(count);
  } while (!batch.empty() && std::chrono::steady_clock::now() < until);
  Hand(std::move(batch));
}

void DiskStore::Hand(StoreBatch batch) {
  if (batch.empty()) return;
  absl::MutexLock lock(&mu_);
  left_ = std::move(batch);
}

void DiskStore::WriteLeft() {
  const auto something = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return !left_.empty() || stopping_; };
  for (;;) {
    StoreBatch batch;
    {
      absl::MutexLock lock(&mu_, absl::Condition(&something));
      if (left_.empty()) return;
      batch = std::exchange(left_, {});
    }
    while (!batch.empty()) {
      const size_t count = batch.size();
      WriteOne(std::move(batch));
      committer_.Leave(count);
      absl::SleepFor(kTakeOver);
      batch = committer_.TakeLeft();
    }
  }
}

std::shared_ptr<rocksdb::DB> DiskStore::Files() const {
  absl::MutexLock lock(&mu_);
  return files_;
}

void DiskStore::Reopen() {
  {
    absl::MutexLock lock(&mu_);
    files_.reset();
  }
  std::string why;
  auto files = OpenFiles(GamesIn(data_dir_), log_, &why);
  if (files == nullptr) log_(LogLevel::kError, absl::StrCat("disk store: cannot be opened again: ", why));
  absl::MutexLock lock(&mu_);
  files_ = std::move(files);
}

void DiskStore::WriteOne(StoreBatch batch) {
  if (Files() == nullptr) Reopen();
  auto files = Files();
  if (files == nullptr) return GiveUp(std::move(batch));
  std::vector<PutResult> results(batch.size());
  rocksdb::WriteBatch writes;
  if (versions_.size() > kVersions) versions_.clear();
  for (size_t i = 0; i < batch.size(); ++i) {
    const StoreOp& op = batch[i];
    if (!Compare(files.get(), op, &results[i])) continue;
    const char kind = kGames;
    const rocksdb::Slice key[] = {{&kind, 1}, SliceOf(op.game_id)};
    if (op.remove()) {
      writes.Delete(rocksdb::SliceParts(key, 2));
      versions_.erase(op.game_id);
    } else {
      const std::string head = HeadOf(op.game_id, op.expected_version + 1, op.record.view());
      const rocksdb::Slice value[] = {head, SliceOf(op.record.view())};
      writes.Put(rocksdb::SliceParts(key, 2), rocksdb::SliceParts(value, 2));
      versions_[op.game_id] = op.expected_version + 1;
    }
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  rocksdb::Status status;
  if (writes.Count() > 0) status = files->Write(synced, &writes);
  if (!status.ok()) {
    log_(LogLevel::kError, absl::StrCat("disk store: a batch was not written: ", status.ToString()));
    // Half a batch may stand at the end of the log, and what is appended to it is lost at the next start (tested).
    files.reset();
    versions_.clear();
    Reopen();
  }
  for (size_t i = 0; i < batch.size(); ++i) {
    StoreOp& op = batch[i];
    PutResult& result = results[i];
    if (result.outcome == PutOutcome::kDone) {
      if (!status.ok()) {
        result.outcome = PutOutcome::kUnknown;
      } else if (follower_) {
        follower_(op.game_id, op.remove() ? Stored{} : Stored{op.expected_version + 1, op.record});
      }
    }
    op.done(std::move(result));
  }
}

bool DiskStore::Compare(rocksdb::DB* files, const StoreOp& op, PutResult* result) {
  const auto known = versions_.find(op.game_id);
  if (known == versions_.end() || known->second != op.expected_version) {
    if (ReadGame(files, op.game_id, &result->current) == Read::kFailed) return false;
    if (result->current.version != op.expected_version) {
      result->outcome = PutOutcome::kConflict;
      return false;
    }
  }
  *result = {PutOutcome::kDone};
  return true;
}

DiskStore::Read DiskStore::ReadGame(rocksdb::DB* files, std::string_view game_id, Stored* stored) const {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = files->Get(rocksdb::ReadOptions(), files->DefaultColumnFamily(), KeyOf(game_id), &value);
  if (status.IsNotFound()) return Read::kNone;
  if (!status.ok() || !Decode(game_id, ViewOf(value), stored)) {
    log_(LogLevel::kError, absl::StrCat("disk store: game ", std::string(game_id), " cannot be read: ",
                                        status.ok() ? "its checksum is wrong" : status.ToString()));
    return Read::kFailed;
  }
  return Read::kFound;
}

namespace {

// Goes on behind blocks that cannot be read: seeks a key that can, trying near ones first, then goes back from there as
// far as it can be read (less one key: to show one, RocksDB reads the one before it, too).
bool Skip(rocksdb::Iterator& games, const std::string& last_key) {
  std::string near = last_key + ',';  // the ids' characters, '-' to 'z', are above it
  while (!near.empty()) {
    if (near.back() > 'z') {
      near.pop_back();
      continue;
    }
    near.back() = static_cast<char>(near.back() + 1);
    games.Seek(near);
    if (games.status().ok()) break;
  }
  if (!games.Valid()) games.SeekToLast();
  std::string first;
  for (; games.Valid() && ViewOf(games.key()) > last_key; games.Prev()) first = games.key().ToString();
  if (first.empty()) return false;
  games.Seek(first);
  return games.Valid();
}

// Calls visit(game id, value) for everything that can be read, by id. Returns how many blocks could not.
uint64_t ReadAll(rocksdb::DB& files, const StoreLog& log,
                 absl::FunctionRef<void(std::string_view, std::string_view)> visit) {
  rocksdb::ReadOptions once;
  once.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> games(files.NewIterator(once));
  uint64_t unreadable = 0;
  std::string last_key(1, kGames);
  for (games->Seek(last_key);; games->Next()) {
    if (!games->Valid()) {
      if (games->status().ok()) return unreadable;
      ++unreadable;
      log(LogLevel::kError, absl::StrCat("disk store: a block behind game ", last_key.substr(1), " cannot be read: ",
                                         games->status().ToString()));
      if (!Skip(*games, last_key)) return unreadable;
    }
    const std::string_view key = ViewOf(games->key());
    if (key.empty() || key[0] != kGames) return unreadable;
    last_key = std::string(key);
    visit(key.substr(1), ViewOf(games->value()));
  }
}

}  // namespace

void DiskStore::Follow(Follower follower, CaughtUp caught_up) {
  const absl::Time began = absl::Now();
  absl::Time next_line = began + absl::Seconds(1);
  uint64_t told = 0;
  std::vector<std::pair<std::string, std::string>> damaged;
  const uint64_t unreadable = ReadAll(*Files(), log_, [&](std::string_view game_id, std::string_view value) {
    Stored stored;
    if (Decode(game_id, value, &stored)) {
      follower(game_id, stored);
      ++told;
    } else {
      damaged.emplace_back(game_id, value);
      log_(LogLevel::kError,
           absl::StrCat("disk store: the record of game ", damaged.back().first, " is damaged; set aside"));
    }
    if (absl::Now() < next_line) return;
    log_(LogLevel::kInfo, absl::StrCat("disk store: ", told, " games read so far"));
    next_line += absl::Seconds(1);
  });
  log_(LogLevel::kInfo, absl::StrCat("disk store: ", told, " games read in ",
                                     absl::FormatDuration(absl::Trunc(absl::Now() - began, absl::Milliseconds(1))),
                                     ", ", damaged.size(), " damaged records set aside, ", unreadable,
                                     " unreadable blocks"));
  const std::string failed = unreadable > 0 ? Rewrite() : SetAside(damaged);
  if (!failed.empty()) log_(LogLevel::kError, absl::StrCat("disk store: setting aside failed: ", failed));
  follower_ = std::move(follower);
  caught_up();
}

std::string DiskStore::SetAside(const std::vector<std::pair<std::string, std::string>>& damaged) {
  rocksdb::WriteBatch writes;
  for (const auto& [game_id, value] : damaged) {
    writes.Put(KeyOf(game_id, kSetAside), value);
    writes.Delete(KeyOf(game_id));
  }
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const rocksdb::Status status = Files()->Write(synced, &writes);
  return status.ok() ? "" : status.ToString();
}

std::string DiskStore::Rewrite() {
  const std::string games = GamesIn(data_dir_), anew = NewGamesIn(data_dir_);
  const std::string aside = games + absl::FormatTime(".damaged-%Y%m%dT%H%M%E3S", absl::Now(), absl::UTCTimeZone());
  std::error_code error;
  std::filesystem::remove_all(anew, error);
  std::string why;
  auto files = OpenFiles(anew, log_, &why);
  if (files == nullptr) return why;
  rocksdb::WriteOptions synced;
  synced.sync = true;
  rocksdb::Status status;
  rocksdb::WriteBatch writes;
  const StoreLog told_already = [](LogLevel, const std::string&) {};
  ReadAll(*Files(), told_already, [&](std::string_view game_id, std::string_view value) {
    Stored stored;
    const char kind = Decode(game_id, value, &stored) ? kGames : kSetAside;
    writes.Put(KeyOf(game_id, kind), rocksdb::Slice(value.data(), value.size()));
    if (writes.GetDataSize() < kLimits.bytes || !status.ok()) return;
    status = files->Write(synced, &writes);
    writes.Clear();
  });
  if (status.ok()) status = files->Write(synced, &writes);
  files.reset();
  if (!status.ok()) return status.ToString();
  {
    absl::MutexLock lock(&mu_);
    files_.reset();
  }
  std::filesystem::rename(games, aside, error);
  if (!error) std::filesystem::rename(anew, games, error);
  Reopen();
  if (error) return error.message();
  log_(LogLevel::kWarning,
       absl::StrCat("disk store: what could be read was written anew; the damaged files are kept in ", aside));
  return "";
}

}  // namespace reversi
