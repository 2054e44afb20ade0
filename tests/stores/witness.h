// Somebody who plays and watches while servers and stores die, and remembers what it was told.
#ifndef REVERSI_TESTS_STORES_WITNESS_H_
#define REVERSI_TESTS_STORES_WITNESS_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tests/e2e/api_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watcher.h"

namespace reversi::stores {

// One caller on a thread of its own: game after game, move after move, each call sent again until it is accepted, and
// each game watched from its first event to its end. It takes nothing for an answer but OK, STORE_UNAVAILABLE and,
// where servers die, lost connections; after the first fault it stops.
class Witness {
 public:
  // What its connections may meet. kStays: none breaks, and one watch lasts until its game is over.
  enum class Connection : uint8_t { kStays, kBreaks };
  // Begins at once. `patience`: how long it waits for what must come.
  Witness(const std::string& address, uint64_t seed, Connection connection,
          std::chrono::milliseconds patience = e2e::kPatience);
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  uint64_t moves() const;         // acknowledged so far
  uint64_t unavailable() const;   // answers of STORE_UNAVAILABLE so far
  std::vector<std::string> games() const;  // their ids
  // Wait for so many; false when patience runs out, or when it has stopped.
  bool AwaitMoves(uint64_t moves) const;
  bool AwaitUnavailable(uint64_t answers) const;

  // What had been acknowledged when this was called and is not what the service tells now, by a watch from the first
  // event and by GetGame: of the game being played and the one before it.
  std::vector<std::string> Missing() const;
  // Aborts the game being played, and returns everything that was wrong from the beginning.
  std::vector<std::string> Finish();

 private:
  struct Played {
    std::string id;
    std::vector<v1::GameEvent> events = {};  // acknowledged, version 2 first
  };
  // Of the thread.
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  bool Create() ABSL_LOCKS_EXCLUDED(mu_);
  bool Move() ABSL_LOCKS_EXCLUDED(mu_);
  // Goes on watching where the watch broke off.
  void Resume();
  void EndWatch() ABSL_LOCKS_EXCLUDED(mu_);
  // Sends until it is accepted; false = there is no use in going on.
  template <class Request, class Response>
  bool Send(const Request& request, Response* response) ABSL_LOCKS_EXCLUDED(mu_);
  // After an answer other than OK.
  bool MayTryAgain(const grpc::Status& status, const std::string& reason) ABSL_LOCKS_EXCLUDED(mu_);

  bool Await(const uint64_t& count, uint64_t wanted) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fault(const std::string& what) ABSL_LOCKS_EXCLUDED(mu_);
  bool Stopping() const ABSL_LOCKS_EXCLUDED(mu_);

  const std::string address_;
  const uint64_t seed_;
  const Connection connection_;
  const std::chrono::milliseconds patience_;
  e2e::Caller caller_;
  std::mt19937_64 chance_;
  e2e::TestGame game_;
  v1::Position position_;
  uint64_t version_ = 0;
  e2e::WatchRecord watched_;  // by the watches before this one
  std::unique_ptr<e2e::Watcher> watcher_;

  mutable absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  uint64_t moves_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t unavailable_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<Played> played_ ABSL_GUARDED_BY(mu_);
  std::vector<std::string> faults_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_WITNESS_H_
