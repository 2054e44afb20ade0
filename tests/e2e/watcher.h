// A watcher that records what it is told, can stall and can be cut.
#ifndef REVERSI_TESTS_E2E_WATCHER_H_
#define REVERSI_TESTS_E2E_WATCHER_H_

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <string>
#include <vector>

#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/e2e/server_process.h"

namespace reversi::e2e {

// What one watch asked for and was told, in order of arrival.
struct WatchRecord {
  v1::WatchGameRequest request;
  std::vector<v1::WatchGameResponse> messages;
  grpc::Status end{grpc::StatusCode::UNKNOWN, "not over"};  // CANCELLED when the watcher itself went away
  // When it was sent, when each message came and when it ended (NextMoment); 0 and empty where nobody looked.
  uint64_t opened = 0;
  std::vector<uint64_t> arrived = {};
  uint64_t ended = 0;
};

class Watcher : private grpc::ClientReadReactor<v1::WatchGameResponse> {
 public:
  // Opens the watch at once. A stalled watcher takes no message (its window fills) until Resume().
  Watcher(v1::GameService::Stub* stub, v1::WatchGameRequest request, bool stalled = false);
  // Cancels, and waits for the end; aborts the program with a message when it does not come in kPatience.
  ~Watcher() override;

  void Stall();
  void Resume();
  void Cancel();
  // Waits until headers or a message have come; false when the watch ended or patience ran out before.
  bool AwaitOpen();
  // Waits until everything up to `version` was told (by snapshot, event or heartbeat); false as above.
  bool AwaitVersion(uint64_t version);
  // Waits for `count` messages.
  bool AwaitMessages(size_t count);
  // Waits for the end and returns its status; cancels when patience runs out (the status says so).
  grpc::Status AwaitEnd(std::chrono::milliseconds patience = kPatience);

  // Highest version told so far; 0 at first (also after a resume).
  uint64_t version() const;
  bool done() const;  // whether it has ended
  // A copy of what was told so far.
  WatchRecord Record() const;

 private:
  void OnReadInitialMetadataDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  bool Await(const absl::Condition& condition, std::chrono::milliseconds patience = kPatience)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  grpc::ClientContext context_;
  v1::WatchGameResponse incoming_;  // written by gRPC while a read is under way
  mutable absl::Mutex mutex_;
  WatchRecord record_ ABSL_GUARDED_BY(mutex_);
  uint64_t version_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stalled_ ABSL_GUARDED_BY(mutex_);
  bool waiting_ ABSL_GUARDED_BY(mutex_) = false;  // stalled between two reads
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
};

// Requests as the tests need them.
v1::WatchGameRequest WatchFromNow(const std::string& game_id);
v1::WatchGameRequest WatchAfter(const std::string& game_id, uint64_t after_version);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_WATCHER_H_
