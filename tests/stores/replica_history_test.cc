// What many callers and watchers saw of three replicas in trouble, checked; replicas with a fault built in must fail
// the same checks. REVERSI_TEST_SEED repeats a seed, as far as the processes' timing lets it; REVERSI_TEST_ROUNDS plays
// more than once, with the seeds that follow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/concurrent_play.h"
#include "tests/e2e/player.h"
#include "tests/stores/site.h"

namespace reversi::stores {
namespace {

using e2e::GameRecord;
using e2e::History;
using e2e::ObservedCall;

uint64_t Seed() {
  const char* wish = std::getenv("REVERSI_TEST_SEED");
  return wish != nullptr ? std::strtoull(wish, nullptr, 10) : std::random_device()();
}

int Rounds() {
  const char* wish = std::getenv("REVERSI_TEST_ROUNDS");
  return wish != nullptr ? std::atoi(wish) : 1;
}

struct Trouble {
  int faults = 18;
  std::chrono::milliseconds longest{350};
  std::chrono::milliseconds patience = e2e::kPatience;  // of callers and watchers
};

// 32 callers play, each try through any replica, and 48 watchers watch until all faults are over.
History PlayThrough(Site& site, uint64_t seed, const Trouble& trouble) {
  std::atomic<bool> more = true;
  std::atomic<uint64_t> calls = 0;
  History history;
  std::jthread play([&] {
    history = e2e::PlayConcurrently(
        site.addresses(), seed,
        {.games = 400, .open = 8, .watchers = 48, .players = 32, .calls = 0, .patience = trouble.patience, .more = [&] {
           ++calls;
           return more.load();
         }});
  });
  site.Trouble(seed, trouble.faults, trouble.longest, [&] { return calls.load(); });
  more = false;
  play.join();
  return history;
}

std::vector<std::string> SomeFaults(const History& history) {
  std::vector<std::string> faults = e2e::Faults(history);
  faults.resize(std::min<size_t>(faults.size(), 20));
  return faults;
}

// What the check is worth: everything that is to be checked did happen.
void ExpectRich(const History& history) {
  size_t games = 0, events = 0, calls = 0, watches = 0, told = 0;
  std::set<ObservedCall::Outcome> outcomes;
  std::map<std::string, uint64_t> answers;
  for (const GameRecord& record : history.games) {
    games += record.log.empty() ? 0 : 1;
    events += record.log.size();
    calls += record.calls.size();
    watches += record.watches.size();
    for (const e2e::WatchRecord& watch : record.watches) told += watch.messages.size();
    for (const ObservedCall& call : record.calls) outcomes.insert(call.outcome);
    for (const auto& [end, times] : record.answers) answers[end] += times;
  }
  EXPECT_EQ(outcomes.size(), 4u);
  EXPECT_GT(events, 30u);
  EXPECT_GT(watches, 48u);
  EXPECT_GT(answers[e2e::kGivenUp], 0u);
  // Games in a state that the list was asked for.
  std::map<v1::GameState, size_t> wanted;
  for (const e2e::ListRecord& list : history.lists) {
    for (const e2e::ListedGame& game : list.games) {
      if (list.request.state() == game.state) ++wanted[game.state];
    }
  }
  EXPECT_GT(wanted[v1::GAME_STATE_ACTIVE], 0u);
  EXPECT_GT(wanted[v1::GAME_STATE_FINISHED], 0u);
  std::cout << games << " games, " << events << " events, " << calls << " calls and reads, " << watches
            << " watches told " << told << " messages, " << history.lists.size() << " lists\n";
  for (const auto& [end, times] : answers) std::cout << "  " << end << ": " << times << "\n";
}

TEST(ReplicaHistory, ThreeReplicasInTroubleAreOneServiceToEverybody) {
  const uint64_t first = Seed();
  Site site;
  for (int round = 0; round < Rounds() && !HasFailure(); ++round) {
    const uint64_t seed = first + static_cast<uint64_t>(round);
    // Every other one long enough for etcd's nodes to choose another leader.
    const auto history = PlayThrough(site, seed, {.longest = std::chrono::milliseconds(round % 2 == 0 ? 350 : 2500)});
    EXPECT_THAT(SomeFaults(history), testing::IsEmpty()) << "REVERSI_TEST_SEED=" << seed << ", round " << round;
    ExpectRich(history);
  }
}

struct Broken {
  const char* name;
  std::vector<const char*> faults;  // of which one must be found
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.name; }

class BrokenReplicas : public testing::TestWithParam<Broken> {};

TEST_P(BrokenReplicas, AreFound) {
  const uint64_t seed = Seed();
  Site site(std::string(REVERSI_BROKEN_SERVERS) + "/reversi_server_" + GetParam().name);
  const auto wanted = [](const std::string& fault) {
    return std::any_of(GetParam().faults.begin(), GetParam().faults.end(),
                       [&](const char* words) { return fault.find(words) != std::string::npos; });
  };
  // Mostly one or two rounds are enough, on a busy machine a few more: less happens in each.
  std::vector<std::string> faults;
  bool found = false;
  int rounds = 0;
  for (; !found && rounds < 9; ++rounds) {
    faults = e2e::Faults(
        PlayThrough(site, seed + static_cast<uint64_t>(rounds), {.faults = 6, .patience = std::chrono::seconds(1)}));
    found = std::any_of(faults.begin(), faults.end(), wanted);
  }
  std::cout << faults.size() << " faults in round " << rounds << ", such as: " << (found ? faults[0] : "") << "\n";
  EXPECT_TRUE(found) << "REVERSI_TEST_SEED=" << seed << ": " << faults.size() << " faults";
}

constexpr char kOld[] = "told an old version";
constexpr char kTwo[] = "two commands own one event";
constexpr char kOther[] = "the answer differs from the log";
constexpr char kState[] = "told another state than the log's";
constexpr char kNotListed[] = "complete: not shown";

INSTANTIATE_TEST_SUITE_P(History, BrokenReplicas,
                         testing::Values(Broken{"with_unconfirmed_reads", {kOld}},
                                         Broken{"with_unconfirmed_refusals", {kOld}},
                                         Broken{"without_compare", {kTwo, kOther, kState}},
                                         Broken{"answering_before_the_put", {kTwo, kOther, kState}},
                                         Broken{"listing_its_own", {kNotListed}}),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

}  // namespace
}  // namespace reversi::stores
