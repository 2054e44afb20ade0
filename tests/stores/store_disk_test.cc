// What only the disk store promises: locks, damage, kill -9, a full disk.
#include "service/store_disk.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

using testing::HasSubstr;

std::unique_ptr<DiskStore> OpenDisk(const std::string& folder, LogLines& log) {
  auto opened = DiskStore::Open(folder, log.sink());
  if (const auto* wrong = std::get_if<std::string>(&opened)) {
    ADD_FAILURE() << *wrong;
    return nullptr;
  }
  return std::get<std::unique_ptr<DiskStore>>(std::move(opened));
}

std::string Refusal(const std::string& folder) {
  LogLines log;
  auto opened = DiskStore::Open(folder, log.sink());
  const auto* wrong = std::get_if<std::string>(&opened);
  return wrong == nullptr ? "" : *wrong;
}

// Flips a bit of every byte sequence `text` in RocksDB's files with this ending. Returns how many.
int Damage(const std::string& folder, const std::string& ending, const std::string& text) {
  int flipped = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/games")) {
    if (entry.path().extension() != ending) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string content{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (size_t at = 0; (at = content.find(text, at)) != std::string::npos; ++at, ++flipped) content[at] ^= 4;
    std::ofstream(entry.path(), std::ios::binary | std::ios::trunc) << content;
  }
  return flipped;
}

// Puts a game again and again, each put from the completion of the one before, until it is stopped.
struct EndlessPuts {
  Store& store;
  const GameId game;
  std::atomic<bool> stop = false;
  std::atomic<uint64_t> done = 0;

  void Go() {
    store.Put(game, done, Bytes(absl::StrCat("record ", done.load())), [this](PutResult result) {
      EXPECT_EQ(result.outcome, PutOutcome::kDone);
      ++done;
      if (!stop) Go();
    });
  }
};

TEST(DiskStore, ACallerThatWritesForOthersGetsAwayWhileTheyGoOn) {
  const TempFolder folder;
  LogLines log;
  auto store = OpenDisk(folder.path(), log);
  EndlessPuts one{*store, GameId("one")};
  EndlessPuts other{*store, GameId("other")};
  one.Go();  // comes back although there is always a next put
  const uint64_t then = one.done;
  other.Go();
  for (int i = 0; i < 10'000 && one.done <= then; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_GT(one.done, then);
  one.stop = other.stop = true;
  store.reset();
  store = OpenDisk(folder.path(), log);
  EXPECT_EQ(GetNow(*store, "one").version, one.done);
  EXPECT_EQ(GetNow(*store, "other").version, other.done);
}

TEST(DiskStore, WhatNobodyWaitsForIsNotWrittenInTheCallersThread) {
  const TempFolder folder;
  LogLines log;
  auto store = OpenDisk(folder.path(), log);
  constexpr uint64_t kGames = 200;
  std::atomic<uint64_t> done = 0, in_this_thread = 0;
  const auto count = [&, caller = std::this_thread::get_id()](const PutResult& result) {
    EXPECT_EQ(result.outcome, PutOutcome::kDone);
    if (std::this_thread::get_id() == caller) ++in_this_thread;
    ++done;
  };
  for (uint64_t i = 0; i < kGames; ++i) store->PutUnattended(GameId(absl::StrCat("game ", i)), 0, Bytes("one"), count);
  for (uint64_t i = 0; i < kGames; ++i) store->Delete(absl::StrCat("game ", i), 1, count);
  store.reset();  // which waits for all
  EXPECT_EQ(done, 2 * kGames);
  EXPECT_EQ(in_this_thread, 0u);
}

TEST(DiskStore, AFreshFolderIsNothingToWarnOf) {
  const TempFolder folder;
  LogLines log;
  ASSERT_NE(OpenDisk(folder.path() + "/of/games", log), nullptr);
  EXPECT_EQ(log.text(), "");
}

TEST(DiskStore, ASecondOneInTheSameFolderIsRefusedAndNamesTheFirst) {
  const TempFolder folder;
  LogLines log;
  auto first = OpenDisk(folder.path(), log);
  EXPECT_THAT(Refusal(folder.path()), HasSubstr(absl::StrCat("is in use by another process (pid ", getpid(), ")")));
  PutNow(*first, "game", 0, "one");
  first.reset();
  EXPECT_EQ(Refusal(folder.path()), "");
}

TEST(DiskStore, AFolderThatCannotBeMadeIsRefused) {
  const TempFolder folder;
  std::ofstream(folder.path() + "/file") << "not a folder";
  EXPECT_THAT(Refusal(folder.path() + "/file/data"), HasSubstr("cannot be made"));
}

// Records large enough that a block of the log, 32 KiB, holds few of them.
std::string LargeRecord(int i) { return absl::StrCat("record <", i, ">", std::string(1000, '.')); }

void Fill(const std::string& folder) {
  LogLines log;
  auto store = OpenDisk(folder, log);
  for (int i = 0; i < 300; ++i) PutNow(*store, absl::StrCat("game", i), 0, LargeRecord(i));
}

TEST(DiskStore, ADamagedRecordIsReportedSetAsideAndNeverServed) {
  const TempFolder folder;
  Fill(folder.path());
  LogLines log;
  OpenDisk(folder.path(), log).reset();
  {
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, folder.path() + "/games", &opened).ok());
    const std::unique_ptr<rocksdb::DB> files(opened);
    std::string value;
    ASSERT_TRUE(files->Get({}, "ggame77", &value).ok());
    value[value.size() / 2] ^= 4;
    ASSERT_TRUE(files->Put({}, "ggame77", value).ok());
  }
  LogLines after;
  auto store = OpenDisk(folder.path(), after);
  {
    Follow follow(*store);
    EXPECT_EQ(follow.games(), 299u);
    for (int i : {0, 76, 78, 299}) EXPECT_EQ(follow.RecordOf(absl::StrCat("game", i)), LargeRecord(i));
    EXPECT_THAT(after.text(), HasSubstr("the record of game game77 is damaged; set aside"));
    EXPECT_THAT(after.text(), HasSubstr("299 games read"));
    EXPECT_EQ(GetNow(*store, "game77").version, 0u);
    EXPECT_EQ(PutNow(*store, "game77", 0, "anew").outcome, PutOutcome::kDone);
    store.reset();
  }
  LogLines again;
  store = OpenDisk(folder.path(), again);
  Follow follow(*store);
  EXPECT_EQ(follow.games(), 300u);
  EXPECT_THAT(again.text(), HasSubstr("0 damaged records"));
  store.reset();
}

// 300 games in a sorted file, with a bit of one flipped.
void FillAndFlipABit(const std::string& folder) {
  Fill(folder);
  LogLines log;
  // Opening again turns the log into a sorted file.
  OpenDisk(folder, log).reset();
  ASSERT_GE(Damage(folder, ".sst", "record <77>"), 1);
}

TEST(DiskStore, AFlippedBitInASortedFileIsReportedAndCostsItsBlock) {
  const TempFolder folder;
  ASSERT_NO_FATAL_FAILURE(FillAndFlipABit(folder.path()));
  LogLines after;
  auto store = OpenDisk(folder.path(), after);
  Follow follow(*store);
  EXPECT_LT(follow.games(), 300u);
  EXPECT_GE(follow.games(), 300u - 6);
  EXPECT_THAT(after.text(), HasSubstr("1 unreadable blocks"));
  for (int i : {0, 50, 90, 299}) EXPECT_EQ(follow.RecordOf(absl::StrCat("game", i)), LargeRecord(i));
  EXPECT_EQ(PutNow(*store, "game50", 1, "goes on").outcome, PutOutcome::kDone);
  EXPECT_EQ(follow.RecordOf("game77"), "");
  store.reset();
}

namespace fs = std::filesystem;

// Folders in the data folder whose names begin so.
std::vector<fs::path> FoldersLike(const std::string& data_dir, const std::string& begin) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(data_dir)) {
    if (entry.path().filename().string().starts_with(begin)) found.push_back(entry.path());
  }
  return found;
}

TEST(DiskStore, WhatCanBeReadOfDamagedFilesIsWrittenAnewAndTheyAreKept) {
  const TempFolder folder;
  ASSERT_NO_FATAL_FAILURE(FillAndFlipABit(folder.path()));
  size_t left = 0;
  {
    LogLines after;
    auto store = OpenDisk(folder.path(), after);
    Follow follow(*store);
    left = follow.games();
    const auto kept = FoldersLike(folder.path(), "games.damaged-");
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_THAT(after.text(), HasSubstr("the damaged files are kept in " + kept[0].string()));
    EXPECT_EQ(PutNow(*store, "game50", 1, "goes on").outcome, PutOutcome::kDone);
  }
  rocksdb::DB* files = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open({}, folder.path() + "/games", &files).ok());
  const std::unique_ptr<rocksdb::DB> closes(files);
  EXPECT_TRUE(files->CompactRange({}, nullptr, nullptr).ok()) << "RocksDB cannot tidy up";
  EXPECT_TRUE(files->Close().ok());
  LogLines again;
  auto store = OpenDisk(folder.path(), again);
  Follow follow(*store);
  EXPECT_EQ(follow.games(), left);
  EXPECT_EQ(follow.RecordOf("game50"), "goes on");
  EXPECT_THAT(again.text(), HasSubstr("0 damaged records set aside, 0 unreadable blocks"));
  EXPECT_EQ(FoldersLike(folder.path(), "games.damaged-").size(), 1u);
  store.reset();
}

// A crash while files are written anew.
TEST(DiskStore, FilesWrittenAnewCountOnceTheOldOnesAreAway) {
  const TempFolder folder;
  Fill(folder.path());
  const std::string games = folder.path() + "/games", anew = folder.path() + "/games.new";
  const auto count = [&] {
    LogLines log;
    auto store = OpenDisk(folder.path(), log);
    const size_t found = Follow(*store).games();
    store.reset();
    return found;
  };
  fs::create_directory(anew);
  std::ofstream(anew + "/CURRENT") << "half";
  EXPECT_EQ(count(), 300u);
  EXPECT_FALSE(fs::exists(anew));
  fs::rename(games, anew);
  EXPECT_EQ(count(), 300u);
  EXPECT_FALSE(fs::exists(anew));
}

// What a disk or a file system leaves of pages that it lost; RocksDB itself ends the process over them.
TEST(DiskStore, ZeroedPagesOfASortedFileAreReportedAndCostTheirBlocks) {
  constexpr int kPage = 4096;
  for (const int page : {0, 1, 30, 60}) {
    SCOPED_TRACE(page);
    const TempFolder folder;
    Fill(folder.path());
    LogLines log;
    OpenDisk(folder.path(), log).reset();
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/games")) {
      if (entry.path().extension() != ".sst") continue;
      std::fstream file(entry.path(), std::ios::binary | std::ios::in | std::ios::out);
      file.seekp(page * kPage);
      file.write(std::string(kPage, '\0').data(), kPage);
    }
    LogLines after;
    auto store = OpenDisk(folder.path(), after);
    Follow follow(*store);
    EXPECT_LT(follow.games(), 300u);
    EXPECT_GE(follow.games(), 300u - 16);
    EXPECT_THAT(after.text(), HasSubstr("1 unreadable blocks"));
    for (int i = 0; i < 300; ++i) {
      EXPECT_THAT(follow.RecordOf(absl::StrCat("game", i)), testing::AnyOf("", LargeRecord(i)));
    }
    store.reset();
  }
}

// The log is what a crash leaves. RocksDB leaves out the block of it that is damaged, and says so.
TEST(DiskStore, DamageInTheLogIsReportedAndCostsNoMoreThanItsBlock) {
  const TempFolder folder;
  Fill(folder.path());
  ASSERT_GE(Damage(folder.path(), ".log", "record <77>"), 1);
  LogLines log;
  auto store = OpenDisk(folder.path(), log);
  Follow follow(*store);
  EXPECT_GE(follow.games(), 300u - 34);
  EXPECT_LT(follow.games(), 300u);
  for (int i : {0, 40, 120, 299}) EXPECT_EQ(follow.RecordOf(absl::StrCat("game", i)), LargeRecord(i));
  EXPECT_EQ(GetNow(*store, "game77").version, 0u);
  EXPECT_THAT(log.text(), HasSubstr("orruption"));
  store.reset();
}

TEST(DiskStore, AWriteThatFailsIsUnknownAndTheStoreGoesOnAfterwards) {
  const TempFolder folder;
  LogLines log;
  auto store = OpenDisk(folder.path(), log);
  Follow follow(*store);
  ASSERT_EQ(PutNow(*store, "game", 0, "one").outcome, PutOutcome::kDone);
  signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_EQ(PutNow(*store, "other", 0, std::string(5000, 'x')).outcome, PutOutcome::kUnknown);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(GetNow(*store, "game").record.view(), "one");
  EXPECT_EQ(follow.Versions("other"), std::vector<uint64_t>());
  EXPECT_THAT(log.text(), HasSubstr("was not written"));
  // It may have landed or not; then it goes on.
  const uint64_t version = GetNow(*store, "other").version;
  PutResult result;
  for (int i = 0; i < 100 && result.outcome != PutOutcome::kDone; ++i) result = PutNow(*store, "other", version, "two");
  EXPECT_EQ(result.outcome, PutOutcome::kDone);
  store.reset();
  store = OpenDisk(folder.path(), log);
  EXPECT_EQ(GetNow(*store, "other").record.view(), "two");
  EXPECT_EQ(GetNow(*store, "game").record.view(), "one");
}

constexpr char kWriterFolder[] = "REVERSI_TEST_WRITER_FOLDER";
constexpr int kToldFile = 3;

// Puts without end, 64 in flight; tells every acknowledged one in a file.
[[noreturn]] void PutForEver(const std::string& folder, int told) {
  auto opened = DiskStore::Open(folder, [](LogLevel, const std::string&) {});
  if (!std::holds_alternative<std::unique_ptr<DiskStore>>(opened)) _exit(3);
  Store& store = **std::get_if<std::unique_ptr<DiskStore>>(&opened);
  std::map<std::string, uint64_t> stands;
  store.Follow([&](std::string_view game, const Stored& stored) { stands[std::string(game)] = stored.version; }, [] {});
  std::vector<std::function<void()>> put(64);
  for (size_t i = 0; i < put.size(); ++i) {
    const std::string game = absl::StrCat("game", i);
    auto version = std::make_shared<uint64_t>(stands[game]);
    put[i] = [=, &store, &put] {
      const std::string record = absl::StrCat(game, " at ", *version + 1);
      store.Put(game, *version, Bytes(record), [=, &put](PutResult result) {
        if (result.outcome != PutOutcome::kDone) _exit(4);
        const uint32_t word[2] = {static_cast<uint32_t>(i), static_cast<uint32_t>(++*version)};
        if (write(told, word, sizeof word) != sizeof word) _exit(5);
        put[i]();
      });
    };
    put[i]();
  }
  for (;;) pause();
}

// Not a test: the process that the next one kills.
TEST(DiskStore, DISABLED_WritesForEver) {
  const char* folder = getenv(kWriterFolder);
  if (folder != nullptr) PutForEver(folder, kToldFile);
}

pid_t StartWriter(const std::string& folder, int told) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv(kWriterFolder, folder.c_str(), 1);
  dup2(told, kToldFile);
  fcntl(kToldFile, F_SETFD, 0);
  dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
  execl("/proc/self/exe", "writer", "--gtest_filter=*DISABLED_WritesForEver", "--gtest_also_run_disabled_tests",
        "--gtest_brief=1", nullptr);
  _exit(6);
}

// kill -9 in the middle of the load, again and again.
TEST(DiskStore, NothingAcknowledgedIsLostByKillMinusNine) {
  constexpr int kRounds = 30;
  const TempFolder folder;
  std::mt19937 random(1);
  std::map<uint32_t, uint32_t> acknowledged;
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = StartWriter(folder.path(), ends[1]);
    close(ends[1]);
    const auto enough = std::uniform_int_distribution<int>(1, 3000)(random);
    uint32_t word[2];
    int told = 0;
    for (; told < enough && read(ends[0], word, sizeof word) == sizeof word; ++told) acknowledged[word[0]] = word[1];
    EXPECT_EQ(told, enough) << "the writer ended by itself";
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    while (read(ends[0], word, sizeof word) == sizeof word) acknowledged[word[0]] = word[1];
    close(ends[0]);
    LogLines log;
    auto store = OpenDisk(folder.path(), log);
    ASSERT_NE(store, nullptr);
    for (auto& [game, version] : acknowledged) {
      const std::string id = absl::StrCat("game", game);
      const Stored stored = GetNow(*store, id);
      EXPECT_GE(stored.version, version) << id << " round " << round;
      EXPECT_LE(stored.version, version + 1) << id << ": at most the one in flight";
      EXPECT_EQ(stored.record.view(), absl::StrCat(id, " at ", stored.version));
      // What was in flight and landed is there for good: the next round's writer goes on from it.
      version = static_cast<uint32_t>(stored.version);
    }
  }
}

}  // namespace
}  // namespace reversi::stores
