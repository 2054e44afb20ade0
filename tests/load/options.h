// What to drive, with what, how hard.
#ifndef REVERSI_TESTS_LOAD_OPTIONS_H_
#define REVERSI_TESTS_LOAD_OPTIONS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/rules.h"

namespace reversi::load {

enum class Workload : uint8_t {
  kPlay,     // whole games from CreateGame to the end, one GetGame at the end, watchers if wanted
  kMoves,    // SubmitMove alone, in games made beforehand
  kCreate,   // CreateGame alone
  kFanOut,   // one game, each move delivered to all watchers before the next is made
  kCatchUp,  // watches over whole finished games
  kHold,     // makes games and idle watchers and leaves them: for the memory of each
};

struct Options {
  std::string address = "127.0.0.1:50051";
  Workload workload = Workload::kPlay;
  std::string rules = "all";
  std::vector<RulesRequest> kinds;  // what `rules` means
  int connections = 4;
  int in_flight = 64;   // calls per connection
  double rate = 0;      // calls a second of the open loop; 0 = closed loop
  double seconds = 5;   // of measuring
  double warm_up = 1;   // seconds before it
  int games = 4000;     // made beforehand: kMoves, kCatchUp, kHold
  int plies = 0;        // moves made in each of them: kMoves, kHold
  int watchers = 0;     // per game: kPlay, kFanOut; in all: kHold
  uint64_t seed = 1;
  pid_t server_pid = 0;  // 0 = its CPU and memory are not measured
  bool json = false;
  bool bare = false;     // the bare twin is driven, with messages of the same sizes
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_OPTIONS_H_
