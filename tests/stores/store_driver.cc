#include "tests/stores/store_driver.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <variant>

#ifdef REVERSI_DISK_STORE
#include "service/store_disk.h"
#endif
#include "service/store_etcd.h"
#include "service/store_memory.h"
#include "tests/stores/etcd_cluster.h"

namespace reversi::stores {
namespace {

constexpr absl::Duration kPatience = absl::Minutes(1);

template <typename S>
std::unique_ptr<Store> OrFail(std::variant<std::unique_ptr<S>, std::string> opened) {
  if (const auto* wrong = std::get_if<std::string>(&opened)) {
    ADD_FAILURE() << *wrong;
    return nullptr;
  }
  return std::get<std::unique_ptr<S>>(std::move(opened));
}

class MemoryPlace : public Place {
 public:
  std::unique_ptr<Store> Open(LogLines&) override { return std::make_unique<MemoryStore>(); }
  bool durable() const override { return false; }
};

#ifdef REVERSI_DISK_STORE
class DiskPlace : public Place {
 public:
  std::unique_ptr<Store> Open(LogLines& log) override {
    return OrFail(DiskStore::Open(folder_.path() + "/made/on/the/way", log.sink()));
  }

 private:
  TempFolder folder_;
};
#endif

class EtcdPlace : public Place {
 public:
  std::unique_ptr<Store> Open(LogLines& log) override {
    EtcdStore::Options options;
    options.client.endpoints = cluster_.endpoints();
    options.prefix = "test/";
    options.wait = kPatience;
    return OrFail(EtcdStore::Make(options, log.sink()));
  }

 private:
  EtcdCluster cluster_{1};
};

}  // namespace

StoreLog LogLines::sink() {
  return [this](LogLevel, const std::string& message) {
    absl::MutexLock lock(&mu_);
    text_ += message + "\n";
  };
}

std::string LogLines::text() const {
  absl::MutexLock lock(&mu_);
  return text_;
}

bool LogLines::Has(std::string_view words) const { return text().find(words) != std::string::npos; }

std::unique_ptr<Place> MakePlace(const std::string& kind) {
#ifdef REVERSI_DISK_STORE
  if (kind == "disk") return std::make_unique<DiskPlace>();
#endif
  if (kind == "etcd") return std::make_unique<EtcdPlace>();
  return std::make_unique<MemoryPlace>();
}

std::vector<std::string> AllKinds() {
#ifdef REVERSI_DISK_STORE
  return {"memory", "disk", "etcd"};
#else
  return {"memory", "etcd"};
#endif
}

void MustCome(absl::Notification& notification, std::string_view what) {
  if (notification.WaitForNotificationWithTimeout(kPatience * 2)) return;
  std::cerr << what << " did not come" << std::endl;
  std::abort();
}

PutResult PutNow(Store& store, std::string_view game_id, uint64_t expected_version, std::string_view record) {
  PutResult came;
  absl::Notification done;
  store.Put(game_id, expected_version, Bytes(record), [&](PutResult result) {
    came = std::move(result);
    done.Notify();
  });
  MustCome(done, "the put of " + std::string(game_id));
  return came;
}

PutResult DeleteNow(Store& store, std::string_view game_id, uint64_t expected_version) {
  PutResult came;
  absl::Notification done;
  store.Delete(game_id, expected_version, [&](PutResult result) {
    came = std::move(result);
    done.Notify();
  });
  MustCome(done, "the deletion of " + std::string(game_id));
  return came;
}

Stored GetNow(Store& store, std::string_view game_id) {
  Stored came;
  absl::Notification done;
  store.Get(game_id, [&](bool ok, Stored stored) {
    EXPECT_TRUE(ok) << game_id;
    came = std::move(stored);
    done.Notify();
  });
  MustCome(done, "the read of " + std::string(game_id));
  return came;
}

Follow::Follow(Store& store) {
  store.Follow(
      [this](std::string_view game_id, const Stored& stored) {
        absl::MutexLock lock(&mu_);
        Told& told = told_[std::string(game_id)];
        told.versions.push_back(stored.version);
        told.record = std::string(stored.record.view());
      },
      [this] {
        absl::MutexLock lock(&mu_);
        caught_up_ = true;
      });
}

void Follow::WaitCaughtUp() {
  absl::MutexLock lock(&mu_);
  EXPECT_TRUE(mu_.AwaitWithTimeout(absl::Condition(&caught_up_), kPatience));
}

bool Follow::WaitFor(const std::string& game_id, uint64_t version) {
  absl::MutexLock lock(&mu_);
  const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    const auto found = told_.find(game_id);
    return found != told_.end() && found->second.versions.back() == version;
  };
  return mu_.AwaitWithTimeout(absl::Condition(&there), kPatience);
}

std::vector<uint64_t> Follow::Versions(const std::string& game_id) const {
  absl::MutexLock lock(&mu_);
  const auto found = told_.find(game_id);
  return found == told_.end() ? std::vector<uint64_t>() : found->second.versions;
}

size_t Follow::games() const {
  absl::MutexLock lock(&mu_);
  return told_.size();
}

std::string Follow::RecordOf(const std::string& game_id) const {
  absl::MutexLock lock(&mu_);
  const auto found = told_.find(game_id);
  return found == told_.end() ? "" : found->second.record;
}

}  // namespace reversi::stores
