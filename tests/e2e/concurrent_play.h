// Many games played, watched, cut and retried at once, recorded as those who took part saw it.
#ifndef REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_
#define REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/linearizable.h"
#include "tests/e2e/list_promises.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watcher.h"

namespace reversi::e2e {

struct PlaySize {
  int games = 50;
  int open = 0;  // that are played at a time; 0 = all of them
  int watchers = 500;
  int players = 8;  // threads that call
  int calls = 900;  // of each
  std::chrono::milliseconds pause{0};  // of a player between two calls
  bool cuts = true;                    // connections are cut now and then
  std::chrono::milliseconds patience = kPatience;  // for the outcome of a command, and for the end of what ends
  std::function<bool()> more = {};                 // after their calls players go on while it says so; asked from every thread
};

// What was seen of one game.
struct GameRecord {
  std::string id;
  bool unlisted = false;
  std::vector<LoggedEvent> log;  // version 1 first: as a watch from 0 tells it after the end
  bool one_log = true;           // every server tells the same
  std::vector<ObservedCall> calls;
  // How often tries ended how: see Table.
  std::map<std::string, uint64_t> answers;
  std::vector<WatchRecord> watches;  // resumed watches joined to the ones that they resume
};

struct History {
  std::vector<GameRecord> games;
  std::vector<ListRecord> lists;
};

// Plays against the servers at these addresses, which serve the same games; every game is over at the end. `disturb`
// is called again and again while players play; afterwards all must be well.
History PlayConcurrently(const std::vector<std::string>& addresses, uint64_t seed, const PlaySize& size,
                         const std::function<void(uint64_t step)>& disturb = {});

// Everything that the history breaks: linearizability of the calls, the promises of the watches and of the lists, and
// that calls and watches end with nothing but what the API names, a lost connection (UNAVAILABLE) or their own
// cancellation.
std::vector<std::string> Faults(const History& history);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_CONCURRENT_PLAY_H_
