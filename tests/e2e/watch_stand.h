// A stand of watchers that come, go, stall and resume at random.
#ifndef REVERSI_TESTS_E2E_WATCH_STAND_H_
#define REVERSI_TESTS_E2E_WATCH_STAND_H_

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/watcher.h"

namespace reversi::e2e {

using Chance = std::mt19937_64;
inline size_t Below(Chance& chance, size_t bound) {
  return std::uniform_int_distribution<size_t>(0, bound - 1)(chance);
}

// Used by one thread.
class WatchStand {
 public:
  // `places` watchers at most at a time, on one connection to each address, each on one of the games.
  WatchStand(const std::vector<std::string>& addresses, uint64_t seed, int places, std::vector<std::string> games);

  // One random step of one random watcher.
  void Step();
  // Once all games are over: everybody reads to the end, resuming where it was cut. Returns what was told, by game;
  // resumed watches are joined to the ones that they resume.
  std::vector<std::vector<WatchRecord>> Finish();

 private:
  struct Place {
    std::unique_ptr<Watcher> watcher;
    size_t game = 0;
    WatchRecord whole;  // of the watches that it resumes
  };
  void Open(Place& place, const v1::WatchGameRequest& request);
  void Come(Place& place);
  void TakeOver(Place& place);
  void Reopen(Place& place);
  void Go(Place& place);

  Chance chance_;
  std::vector<std::unique_ptr<Caller>> callers_;
  std::vector<std::string> games_;
  std::vector<Place> places_;
  std::vector<std::vector<WatchRecord>> records_;
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_WATCH_STAND_H_
