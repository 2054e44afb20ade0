// Many games played, watched, cut and retried at once, recorded as those who took part saw it.
#ifndef REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_
#define REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/e2e/linearizable.h"
#include "tests/e2e/watcher.h"

namespace reversi::e2e {

struct PlaySize {
  int games = 50;
  int watchers = 500;
  int players = 8;  // threads that call
  int calls = 900;  // of each
};

// What was seen of one game.
struct GameRecord {
  std::string id;
  std::vector<std::string> log;  // in words, version 1 first: as a watch from 0 tells it after the end
  std::vector<ObservedCall> calls;
  std::vector<WatchRecord> watches;  // resumed watches joined to the ones that they resume
};

// Plays against the servers at these addresses, which serve the same games; every game is over at the end. `disturb`
// is called again and again while players play; afterwards all must be well.
std::vector<GameRecord> PlayConcurrently(const std::vector<std::string>& addresses, uint64_t seed, const PlaySize& size,
                                         const std::function<void(uint64_t step)>& disturb = {});

// Everything that the records break: linearizability of the calls and the promises of the watches.
std::vector<std::string> Faults(const std::vector<GameRecord>& records);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_
