// Recorded histories of concurrent play, checked; servers with a fault built in must fail the same checks.
#include <gmock/gmock.h>

#include <set>

#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

class HistoryTest : public ServingTest {};

TEST_F(HistoryTest, FiftyGamesAndFiveHundredWatchersKeepEveryPromise) {
  const auto records = PlayConcurrently(server().address(), chance()(), {});
  std::vector<std::string> faults = Faults(records);
  faults.resize(std::min<size_t>(faults.size(), 20));
  EXPECT_THAT(faults, testing::IsEmpty());
  // What it is worth: everything that is to be checked did happen.
  size_t events = 0, calls = 0, watches = 0, told = 0;
  std::set<ObservedCall::Outcome> outcomes;
  for (const GameRecord& record : records) {
    events += record.log.size();
    calls += record.calls.size();
    watches += record.watches.size();
    for (const WatchRecord& watch : record.watches) told += watch.messages.size();
    for (const ObservedCall& call : record.calls) outcomes.insert(call.outcome);
  }
  EXPECT_EQ(outcomes.size(), 4u);
  EXPECT_GT(events, 1000u);
  EXPECT_GE(watches, 500u);
  std::cout << events << " events, " << calls << " calls, " << watches << " watches told " << told << " messages\n";
}

}  // namespace
}  // namespace reversi::e2e
