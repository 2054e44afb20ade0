// The promises of WatchGame, checked over records of what watchers were told.
#ifndef REVERSI_TESTS_E2E_WATCH_PROMISES_H_
#define REVERSI_TESTS_E2E_WATCH_PROMISES_H_

#include <string>
#include <vector>

#include "tests/e2e/watcher.h"

namespace reversi::e2e {

// Ordered, unique, reliable, atomic, resumable, bookmarkable: what one watch breaks of them, each fault beginning
// with the promise's name; empty when all hold. Linear in the messages.
std::vector<std::string> BrokenPromises(const WatchRecord& record);

// The same, and that watches of one game that tell the same version tell the same event, and that those that ended
// with OK told everything up to `last_version` (0 = not known).
std::vector<std::string> BrokenPromises(const std::vector<WatchRecord>& records, uint64_t last_version);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_WATCH_PROMISES_H_
