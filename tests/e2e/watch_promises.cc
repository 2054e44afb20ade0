#include "tests/e2e/watch_promises.h"

#include <map>
#include <optional>

#include "tests/e2e/api_client.h"
#include "tests/e2e/followed_game.h"

namespace reversi::e2e {
namespace {

// Walks through one record.
class Walk {
 public:
  explicit Walk(const WatchRecord& record) : record_(record) {
    if (record.request.has_after_version()) told_ = record.request.after_version();
  }

  std::vector<std::string> Faults() {
    for (const v1::WatchGameResponse& message : record_.messages) {
      switch (message.update_case()) {
        case v1::WatchGameResponse::kSnapshot:
          Take(message.snapshot());
          break;
        case v1::WatchGameResponse::kEvent:
          Take(message.event());
          break;
        case v1::WatchGameResponse::kHeartbeat:
          Take(message.heartbeat());
          break;
        case v1::WatchGameResponse::UPDATE_NOT_SET:
          Fault("atomic", "an empty message");
          break;
      }
    }
    if (record_.end.ok() && told_.has_value() && state_ != v1::GAME_STATE_UNSPECIFIED &&
        state_ != v1::GAME_STATE_FINISHED) {
      Fault("reliable", "the watch of a game that is not over ended with OK");
    }
    return std::move(faults_);
  }

  std::optional<uint64_t> told() const { return told_; }

 private:
  void Fault(const std::string& promise, const std::string& what) {
    faults_.push_back(promise + ": " + what + " after version " + (told_ ? std::to_string(*told_) : "none"));
  }

  void Take(const v1::Game& snapshot) {
    if (record_.request.has_after_version()) Fault("resumable", "a snapshot on resuming");
    if (told_.has_value()) Fault("atomic", "a snapshot that is not the first message");
    told_ = snapshot.version();
    state_ = snapshot.state();
    followed_.Begin(snapshot);
  }

  void Take(const v1::GameEvent& event) {
    const uint64_t version = event.version();
    if (!told_.has_value()) {
      Fault("atomic", "an event before the snapshot");
    } else if (version != *told_ + 1) {
      const std::string what = "event " + std::to_string(version);
      Fault(version > *told_ + 1 ? "reliable" : version == *told_ ? "unique" : "ordered", what);
    }
    for (const std::string& wrong : followed_.Add(event)) Fault("atomic", wrong);
    told_ = version;
    state_ = event.state();
  }

  void Take(const v1::WatchGameResponse::Heartbeat& heartbeat) {
    if (!told_.has_value()) Fault("atomic", "a heartbeat before the snapshot");
    if (heartbeat.version() != told_) {
      Fault("bookmarkable", "a heartbeat with version " + std::to_string(heartbeat.version()));
    }
  }

  const WatchRecord& record_;
  std::optional<uint64_t> told_;
  v1::GameState state_ = v1::GAME_STATE_UNSPECIFIED;
  FollowedGame followed_;
  std::vector<std::string> faults_;
};

}  // namespace

std::vector<std::string> BrokenPromises(const WatchRecord& record) { return Walk(record).Faults(); }

std::vector<std::string> BrokenPromises(const std::vector<WatchRecord>& records, uint64_t last_version) {
  std::vector<std::string> faults;
  std::map<uint64_t, const v1::GameEvent*> log;
  for (const WatchRecord& record : records) {
    Walk walk(record);
    for (std::string& fault : walk.Faults()) faults.push_back(std::move(fault));
    for (const v1::WatchGameResponse& message : record.messages) {
      if (!message.has_event()) continue;
      const auto [known, first] = log.try_emplace(message.event().version(), &message.event());
      if (!first && !Same(*known->second, message.event())) {
        faults.push_back("unique: two events with version " + std::to_string(message.event().version()));
      }
    }
    if (record.end.ok() && last_version != 0 && walk.told() != last_version) {
      faults.push_back("reliable: a watch ended with OK before version " + std::to_string(last_version));
    }
  }
  return faults;
}

}  // namespace reversi::e2e
