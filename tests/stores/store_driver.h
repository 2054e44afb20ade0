// Stores under test: how one is opened, closed and opened again, and calls that wait for their completion.
#ifndef REVERSI_TESTS_STORES_STORE_DRIVER_H_
#define REVERSI_TESTS_STORES_STORE_DRIVER_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "service/store.h"
#include "service/store_log.h"

namespace reversi::stores {

// Keeps what was logged.
class LogLines {
 public:
  StoreLog sink();
  std::string text() const;
  bool Has(std::string_view words) const;

 private:
  mutable absl::Mutex mu_;
  std::string text_ ABSL_GUARDED_BY(mu_);
};

// A kind of store and the place where its games are; opened several times, it shows the same games.
class Place {
 public:
  virtual ~Place() = default;
  virtual std::unique_ptr<Store> Open(LogLines& log) = 0;
  // Whether games are still there after everybody has closed it.
  virtual bool durable() const { return true; }
};
// "memory", "disk" or "etcd".
std::unique_ptr<Place> MakePlace(const std::string& kind);
std::vector<std::string> AllKinds();

// Waits for what must come. After two minutes the program ends with a message: who should have notified still may.
void MustCome(absl::Notification& notification, std::string_view what);

// Each must be completed within two minutes, as above.
PutResult PutNow(Store& store, std::string_view game_id, uint64_t expected_version, std::string_view record);
PutResult DeleteNow(Store& store, std::string_view game_id, uint64_t expected_version);
// A failed Get is a test failure.
Stored GetNow(Store& store, std::string_view game_id);

// Remembers what a feed tells.
class Follow {
 public:
  // Follows the store, which must go first.
  explicit Follow(Store& store);
  // Waits until everything that stood has been told.
  void WaitCaughtUp();
  // Waits until this is the newest told of the game; version 0 = deleted. False after a minute.
  bool WaitFor(const std::string& game_id, uint64_t version);
  // All versions told of a game, in their order; 0 = deleted.
  std::vector<uint64_t> Versions(const std::string& game_id) const;
  size_t games() const;
  std::string RecordOf(const std::string& game_id) const;

 private:
  struct Told {
    std::vector<uint64_t> versions;
    std::string record;
  };
  mutable absl::Mutex mu_;
  bool caught_up_ ABSL_GUARDED_BY(mu_) = false;
  std::map<std::string, Told> told_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_STORE_DRIVER_H_
