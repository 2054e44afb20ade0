#include "service/transfer.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "service/checked_bytes.h"
#include "service/record.h"
#include "service/table.h"

namespace reversi {
namespace {

constexpr std::string_view kHeader = "reversi records 1\n";
constexpr size_t kBodyHead = 9;  // version and length of the id
// More than any record that a server makes; a damaged size is not believed.
constexpr uint64_t kMostBytes = 64 << 20;
// Games on their way into the store at a time: what shares the store's syncs.
constexpr int kWriters = 128;

struct Entry {
  std::string id;
  uint64_t version = 0;
  Bytes record;
};

std::string Checked(std::string_view body) {
  std::string text;
  AppendNumber(text, Crc(0, body), 4);
  return text.append(body);
}

std::string BodyOf(std::string_view id, const Stored& stored) {
  std::string body;
  AppendNumber(body, stored.version, 8);
  AppendNumber(body, id.size(), 1);
  return body.append(id).append(stored.record.view());
}

// Reads a file game by game.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_.is_open()) {
      wrong_ = absl::StrCat(file, " cannot be read");
      return;
    }
    std::string header;
    if (!Take(kHeader.size(), &header) || header != kHeader) wrong_ = absl::StrCat(file, " is no file of records of version 1");
  }
  // What is wrong; empty = nothing so far.
  const std::string& wrong() const { return wrong_; }
  uint64_t games() const { return games_; }

  // nullopt = the end, or something is wrong.
  std::optional<Entry> Next() {
    if (!wrong_.empty() || ended_) return std::nullopt;
    const uint64_t begin = at_;
    std::string head, body;
    if (!Take(8, &head)) return Damaged(begin);
    const uint64_t size = NumberAt(head, 0, 4);
    if (size > kMostBytes || !Take(size == 0 ? 8 : size, &body)) return Damaged(begin);
    if (Crc(0, body) != NumberAt(head, 4, 4)) return Damaged(begin);
    if (size == 0) {
      ended_ = NumberAt(body, 0, 8) == games_ && in_.peek() == std::ifstream::traits_type::eof();
      return ended_ ? std::nullopt : Damaged(begin);
    }
    const size_t id_size = body.size() < kBodyHead ? 0 : static_cast<uint8_t>(body[kBodyHead - 1]);
    if (id_size == 0 || body.size() < kBodyHead + id_size) return Damaged(begin);
    ++games_;
    return Entry{body.substr(kBodyHead, id_size), NumberAt(body, 0, 8),
                 Bytes(std::string_view(body).substr(kBodyHead + id_size))};
  }

 private:
  bool Take(uint64_t size, std::string* bytes) {
    bytes->resize(size);
    in_.read(bytes->data(), static_cast<std::streamsize>(size));
    at_ += size;
    return static_cast<uint64_t>(in_.gcount()) == size;
  }
  std::optional<Entry> Damaged(uint64_t at) {
    wrong_ = absl::StrCat(file_, " is damaged at byte ", at, ", after ", games_, " whole games");
    return std::nullopt;
  }

  const std::string file_;
  std::ifstream in_;
  uint64_t at_ = 0;
  uint64_t games_ = 0;
  bool ended_ = false;
  std::string wrong_;
};

// The game after each of its events, the last one as it stands in the file; or what is wrong.
std::variant<std::vector<Bytes>, std::string> Steps(const Entry& entry) {
  auto read = Record::Read(entry.record);
  if (const auto* wrong = std::get_if<std::string>(&read)) return absl::StrCat("game ", entry.id, ": ", *wrong);
  const Record& whole = std::get<Record>(read);
  std::vector<Bytes> steps;
  Record record;
  absl::Time previous;
  const bool sound = Replay(whole, [&](const Event& event) {
    record = event.created ? Record::Begin(whole.start(), whole.put_id())
                           : record.With(event.command, previous, whole.put_id());
    previous = event.after.time;
    steps.push_back(record.bytes());
    return true;
  });
  if (!sound || steps.size() != entry.version) return absl::StrCat("game ", entry.id, ": its log makes no sense");
  steps.back() = entry.record;
  return steps;
}

// Follows the store until all that stands in it has been told.
void WaitFor(Store& store, Store::Follower follower) {
  // Shared: the store may tell more for as long as it lives.
  auto caught_up = std::make_shared<absl::Notification>();
  store.Follow(std::move(follower), [caught_up] { caught_up->Notify(); });
  caught_up->WaitForNotification();
}

// Puts the games of a file, many at a time.
class Import {
 public:
  Import(Store& store, Reader& reader) : store_(store), reader_(reader) {}

  // What went wrong; empty = nothing.
  std::string Run() ABSL_LOCKS_EXCLUDED(mu_) {
    std::vector<std::thread> writers;
    for (int i = 0; i < kWriters; ++i) writers.emplace_back([this] { Write(); });
    for (std::thread& writer : writers) writer.join();
    absl::MutexLock lock(&mu_);
    return failure_.empty() ? reader_.wrong() : failure_;
  }

 private:
  void Write() ABSL_LOCKS_EXCLUDED(mu_) {
    while (true) {
      std::optional<Entry> entry;
      {
        absl::MutexLock lock(&mu_);
        if (failure_.empty()) entry = reader_.Next();
      }
      if (!entry) return;
      const std::string wrong = Put(*entry);
      absl::MutexLock lock(&mu_);
      if (failure_.empty()) failure_ = wrong;
    }
  }

  std::string Put(const Entry& entry) {
    auto steps = Steps(entry);
    if (auto* wrong = std::get_if<std::string>(&steps)) return std::move(*wrong);
    const auto& records = std::get<std::vector<Bytes>>(steps);
    const std::string unavailable = "the store cannot be reached; the same import again goes on";
    struct Got {
      absl::Notification done;
      bool ok = false;
      Stored stored;
    };
    auto got = std::make_shared<Got>();
    store_.Get(entry.id, [got](bool ok, Stored stored) {
      got->ok = ok;
      got->stored = std::move(stored);
      got->done.Notify();
    });
    got->done.WaitForNotification();
    if (!got->ok) return unavailable;
    const Stored& there = got->stored;
    if (there.version > records.size() || (there.version != 0 && !Leads(there, entry))) return Taken(entry);
    for (uint64_t version = there.version; version < records.size(); ++version) {
      auto outcome = std::make_shared<std::pair<absl::Notification, PutOutcome>>();
      store_.Put(entry.id, version, records[version], [outcome](PutResult result) {
        outcome->second = result.outcome;
        outcome->first.Notify();
      });
      outcome->first.WaitForNotification();
      if (outcome->second == PutOutcome::kUnknown) return unavailable;
      if (outcome->second == PutOutcome::kConflict) return Taken(entry);
    }
    return {};
  }

  static bool Leads(const Stored& there, const Entry& entry) {
    const auto earlier = Record::Read(there.record);
    const auto later = Record::Read(entry.record);
    return std::holds_alternative<Record>(earlier) &&
           std::get<Record>(later).Continues(std::get<Record>(earlier));
  }
  static std::string Taken(const Entry& entry) {
    return absl::StrCat("game ", entry.id, ": the store has another game, or a later state of this one, under this id");
  }

  Store& store_;
  absl::Mutex mu_;
  Reader& reader_ ABSL_GUARDED_BY(mu_);
  std::string failure_ ABSL_GUARDED_BY(mu_);
};

// Writes it whole or not at all. What went wrong; empty = nothing.
std::string WriteFile(const std::string& file, const std::map<std::string, Stored>& games) {
  std::error_code none;
  const std::filesystem::file_status before = std::filesystem::status(file, none);
  // The rename below would put a file in the place of a device.
  if (std::filesystem::exists(before) && !std::filesystem::is_regular_file(before)) return file + ": not a regular file";
  const std::string part = file + ".part";
  std::FILE* out = std::fopen(part.c_str(), "wb");
  if (out == nullptr) return absl::StrCat(part, ": ", std::strerror(errno));
  const auto write = [&](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), out) == text.size(); };
  bool good = write(kHeader);
  std::string text;
  for (const auto& [id, stored] : games) {
    const std::string body = BodyOf(id, stored);
    text.clear();
    AppendNumber(text, body.size(), 4);
    good = good && write(text) && write(Checked(body));
  }
  text.clear();
  AppendNumber(text, games.size(), 8);
  good = good && write(std::string(4, '\0')) && write(Checked(text));
  good = good && std::fflush(out) == 0 && fsync(fileno(out)) == 0;
  good = std::fclose(out) == 0 && good;
  if (good && std::rename(part.c_str(), file.c_str()) == 0) return {};
  const std::string why = absl::StrCat(file, ": ", std::strerror(errno));
  std::remove(part.c_str());
  return why;
}

}  // namespace

Transferred ExportGames(Store& store, const std::string& file) {
  struct Told {
    absl::Mutex mu;
    std::map<std::string, Stored> games ABSL_GUARDED_BY(mu);
  };
  auto told = std::make_shared<Told>();
  WaitFor(store, [told](std::string_view id, const Stored& stored) {
    absl::MutexLock lock(&told->mu);
    if (stored.version == 0) {
      told->games.erase(std::string(id));
    } else {
      told->games[std::string(id)] = stored;
    }
  });
  std::map<std::string, Stored> games;
  {
    absl::MutexLock lock(&told->mu);
    games = told->games;
  }
  std::string wrong = WriteFile(file, games);
  if (!wrong.empty()) return wrong;
  return uint64_t{games.size()};
}

Transferred ImportGames(Store& store, const std::string& file) {
  Reader check(file);
  while (const std::optional<Entry> entry = check.Next()) {
    const auto steps = Steps(*entry);
    if (const auto* wrong = std::get_if<std::string>(&steps)) return absl::StrCat(file, ": ", *wrong);
  }
  if (!check.wrong().empty()) return check.wrong();
  WaitFor(store, [](std::string_view, const Stored&) {});
  Reader reader(file);
  std::string wrong = Import(store, reader).Run();
  if (!wrong.empty()) return wrong;
  return check.games();
}

}  // namespace reversi
