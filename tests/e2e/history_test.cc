// Recorded histories of concurrent play, checked; servers with a fault built in must fail the same checks.
#include <gmock/gmock.h>

#include <set>

#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

class HistoryTest : public ServingTest {};

TEST_F(HistoryTest, FiftyGamesAndFiveHundredWatchersKeepEveryPromise) {
  const auto history = PlayConcurrently({server().address()}, chance()(), {});
  std::vector<std::string> faults = Faults(history);
  faults.resize(std::min<size_t>(faults.size(), 20));
  EXPECT_THAT(faults, testing::IsEmpty());
  // What it is worth: everything that is to be checked did happen.
  size_t events = 0, calls = 0, watches = 0, told = 0;
  std::set<ObservedCall::Outcome> outcomes;
  for (const GameRecord& record : history.games) {
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

struct Broken {
  const char* name;
  const char* fault;  // one of the faults that must be found
};

class BrokenServerTest : public testing::TestWithParam<Broken> {};

TEST_P(BrokenServerTest, IsFound) {
  const auto server =
      ServerProcess::Start({.binary = std::string(REVERSI_BROKEN_SERVERS) + "/reversi_server_" + GetParam().name});
  ASSERT_NE(server, nullptr);
  // Chance decides how soon; many more rounds than it has ever taken.
  std::vector<std::string> faults;
  for (uint64_t seed = 1; faults.empty() && seed <= 20; ++seed) {
    faults = Faults(PlayConcurrently(
        {server->address()}, seed,
        {.games = 4, .watchers = 20, .players = 4, .calls = 150, .patience = std::chrono::seconds(1)}));
  }
  EXPECT_THAT(faults, testing::Contains(testing::HasSubstr(GetParam().fault)));
}

INSTANTIATE_TEST_SUITE_P(History, BrokenServerTest,
                         testing::Values(Broken{"without_idempotency", "the retry of an accepted command was refused"},
                                         Broken{"joining_twice", "the retry of an accepted command was refused"},
                                         Broken{"at_any_version", "the answer differs from the log"},
                                         Broken{"snapshot_before_subscribe", "reliable: event"},
                                         Broken{"listing_unlisted", "no unlisted game"},
                                         Broken{"listing_as_it_began", "complete: not shown"}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace reversi::e2e
