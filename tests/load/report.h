// The outcome of a run, as a table for people and as JSON for programs.
#ifndef REVERSI_TESTS_LOAD_REPORT_H_
#define REVERSI_TESTS_LOAD_REPORT_H_

#include <cstdint>
#include <string>

#include "tests/load/options.h"
#include "tests/load/tally.h"

namespace reversi::load {

struct Report {
  Tally tally;
  double seconds = 0;             // measured
  int64_t server_cpu = 0;         // ns of the server while measuring; 0 = not seen
  int64_t generator_cpu = 0;      // ns of this process
  int64_t resident_before = 0;    // bytes of the server when it had done nothing for this run
  int64_t resident_games = 0;     // after the games were made
  int64_t resident_after = 0;     // at the end
  uint64_t games_made = 0;        // beforehand
  uint64_t watchers = 0;          // open at the end
};

std::string ToText(const Options& options, const Report& report);
std::string ToJson(const Options& options, const Report& report);

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_REPORT_H_
