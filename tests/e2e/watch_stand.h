// A stand of watchers that come, go, stall and resume at random.
#ifndef REVERSI_TESTS_E2E_WATCH_STAND_H_
#define REVERSI_TESTS_E2E_WATCH_STAND_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/linearizable.h"
#include "tests/e2e/watcher.h"

namespace reversi::e2e {

using Chance = std::mt19937_64;
inline size_t Below(Chance& chance, size_t bound) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(chance);
}

// Used by one thread.
class WatchStand {
 public:
  // The number and the id of a game to watch; an empty id = none now.
  using Choose = std::function<std::pair<size_t, std::string>(Chance& chance)>;
  // `places` watchers at most at a time, on one connection to each address, each on one of as many games as are said.
  WatchStand(const std::vector<std::string>& addresses, uint64_t seed, int places, size_t games, Choose choose);

  // One random step of one random watcher.
  void Step();
  // What was told of one game; resumed watches are joined to the ones that they resume.
  struct Seen {
    std::vector<WatchRecord> watches;
    std::vector<ObservedCall> calls;  // the same, as calls that read
  };
  // Once all games are over: everybody reads to the end, resuming where it was cut. Returns what was told, by game. Who
  // has not come to the end when patience runs out ends with DEADLINE_EXCEEDED.
  std::vector<Seen> Finish(std::chrono::milliseconds patience);

 private:
  struct Place {
    std::unique_ptr<Watcher> watcher;
    size_t game = 0;
    std::string id;
    WatchRecord whole;  // of the watches that it resumes
  };
  void Open(Place& place, const v1::WatchGameRequest& request);
  void Come(Place& place);
  void TakeOver(Place& place);
  void Reopen(Place& place);
  void Go(Place& place);
  void Keep(Place& place);

  Chance chance_;
  std::vector<std::unique_ptr<Caller>> callers_;
  const Choose choose_;
  std::vector<Place> places_;
  std::vector<Seen> seen_;  // by game
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_WATCH_STAND_H_
