// Are concurrent calls on one game, as their callers saw them, explained by one order of the game's versions?
#ifndef REVERSI_TESTS_E2E_LINEARIZABLE_H_
#define REVERSI_TESTS_E2E_LINEARIZABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace reversi::e2e {

struct ObservedCall {
  enum class Outcome : uint8_t {
    kAccepted,  // answered OK with the event of `version`
    kRefused,   // refused for good; `version` = the one that the refusal tells, or 0
    kUnknown,   // cut, or answered that the outcome is not known
    kRead,      // told the state at `version`
  };
  // Whose and what: retries of one command share it ("move <seat> d3 at 5", "join <request id>"). Empty for reads.
  std::string command;
  // The event that it is (answered) or would be (unknown), in the words of the log.
  std::string event;
  Outcome outcome = Outcome::kRead;
  uint64_t version = 0;
  // When it was sent and answered, from one counter for all callers: every number is used once.
  uint64_t sent = 0;
  uint64_t answered = 0;
};

// `log`: the events in words, version 1 first. Returns what cannot be explained; empty = linearizable. Linear in
// the calls and the versions (beside hashing the commands).
std::vector<std::string> Unlinearizable(const std::vector<std::string>& log, const std::vector<ObservedCall>& calls);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_LINEARIZABLE_H_
