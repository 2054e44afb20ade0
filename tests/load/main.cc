// reversi-load: drives a server and says what it took. Ends with 1 if an answer was not what the rules say.
#include <iostream>
#include <map>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "absl/synchronization/mutex.h"
#include "tests/load/generator.h"
#include "tests/load/options.h"
#include "tests/load/report.h"

namespace reversi::load {
namespace {

int Run(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Options options;
  CLI::App app("Load for a reversi_server: every answer is checked against the rules.", "reversi-load");
  const std::map<std::string, Workload> workloads = {
      {"play", Workload::kPlay},      {"moves", Workload::kMoves},     {"create", Workload::kCreate},
      {"fan-out", Workload::kFanOut}, {"catch-up", Workload::kCatchUp}, {"hold", Workload::kHold}};
  app.add_option("--address", options.address, "the server, HOST:PORT")->capture_default_str();
  app.add_option("--workload", options.workload,
                 "play: whole games; moves: SubmitMove alone; create: CreateGame alone; fan-out: one game to all "
                 "watchers; catch-up: watches over finished games; hold: games and idle watchers, for their memory")
      ->transform(CLI::CheckedTransformer(workloads, CLI::ignore_case));
  app.add_option("--rules", options.rules, "all, or kinds such as 8x8/4,octagon/3,standard/2,royal/6")
      ->capture_default_str();
  app.add_option("--connections", options.connections, "connections")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--in_flight", options.in_flight, "calls in flight per connection")
      ->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--rate", options.rate, "calls a second, latency from when each was due; 0 = the next when one is done")
      ->check(CLI::Range(0.0, 1e7))->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long to measure")->check(CLI::Range(0.0, 86400.0))->capture_default_str();
  app.add_option("--warm_up", options.warm_up, "seconds before that")->check(CLI::Range(0.0, 86400.0))->capture_default_str();
  app.add_option("--games", options.games, "games made beforehand: moves, catch-up, hold")
      ->check(CLI::Range(0, 100'000'000))->capture_default_str();
  app.add_option("--plies", options.plies, "moves made in each of them: moves, hold")
      ->check(CLI::Range(0, 100))->capture_default_str();
  app.add_option("--watchers", options.watchers, "watchers per game: play, fan-out; in all: hold")
      ->check(CLI::Range(0, 1'000'000))->capture_default_str();
  app.add_option("--seed", options.seed, "seed of the moves")->capture_default_str();
  app.add_option("--server_pid", options.server_pid, "process of the server, for its CPU and memory; 0 = not measured")
      ->capture_default_str();
  app.add_flag("--bare", options.bare, "the server is bare_server");
  app.add_flag("--json", options.json, "JSON instead of the table");
  CLI11_PARSE(app, argc, argv);
  options.kinds = KindsOf(options.rules);
  if (options.kinds.empty()) {
    std::cerr << "reversi-load: --rules: no such kind of game in " << options.rules << "\n";
    return 2;
  }
  try {
    Generator generator(options);
    const Report report = generator.Run();
    std::cout << (options.json ? ToJson(options, report) : ToText(options, report));
    return report.tally.faults == 0 ? 0 : 1;
  } catch (const std::runtime_error& error) {
    std::cerr << "reversi-load: " << error.what() << "\n";
    return 2;
  }
}

}  // namespace
}  // namespace reversi::load

int main(int argc, char** argv) { return reversi::load::Run(argc, argv); }
