// Are concurrent calls on one game, as their callers saw them, explained by one order of the game's versions?
#ifndef REVERSI_TESTS_E2E_LINEARIZABLE_H_
#define REVERSI_TESTS_E2E_LINEARIZABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace reversi::e2e {

// Every number once and each above those before: orders what all callers of this process saw.
uint64_t NextMoment();

struct ObservedCall {
  enum class Outcome : uint8_t {
    kAccepted,  // answered OK with the event of `version`
    kRefused,   // refused for good; `version` = the one that the refusal tells, or 0
    kUnknown,   // cut, or answered that the outcome is not known: it may have happened, may still, or never
    kRead,      // told the state at `version`; 0 = told that there is no game yet
  };
  // Whose and what: retries of one command share it ("move <seat> d3 at 5", "join <request id>"). Empty for reads.
  std::string command = {};
  // The event that it is (answered) or would be (unknown), in the words of the log.
  std::string event = {};
  Outcome outcome = Outcome::kRead;
  uint64_t version = 0;
  // When it was sent and answered (NextMoment). Who only shows that a version exists, not that it is the newest, was
  // sent at 0.
  uint64_t sent = 0;
  uint64_t answered = 0;
  // The only version that it can become; 0 = any.
  uint64_t only = 0;
  // What it tells of the state at `version`, in the words of the log; empty = nothing.
  std::string state = {};
};

struct LoggedEvent {
  std::string event;  // in words
  std::string state;  // after it, in words
  bool operator==(const LoggedEvent&) const = default;
};

// `log`: version 1 first. Returns what cannot be explained; empty = linearizable. Linear in the calls and the versions
// (beside hashing the commands).
std::vector<std::string> Unlinearizable(const std::vector<LoggedEvent>& log, const std::vector<ObservedCall>& calls);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_LINEARIZABLE_H_
