// The engine's speed: random playouts beside the slow twin in the same run, perft, replay of whole games, hash.
// Single thread, one game at a time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "engine/kernels.h"
#include "engine/perft.h"
#include "engine/playout.h"
#include "engine/replay.h"
#include "tests/engine/twin.h"

namespace reversi {
namespace {

struct Setup {
  Variant variant;
  uint32_t players;
  Board board;
  int perft_depth;

  Position Start() const {
    return Position(std::get<Rules>(MakeRules({.variant = variant, .players = players, .board = board})));
  }
  std::string Name() const { return std::string(BoardName(board)) + "/" + std::to_string(players); }
};

constexpr Setup kSetups[] = {
    {Variant::kStandard, 2, Board::k6x6, 10},     {Variant::kStandard, 2, Board::k8x8, 10},
    {Variant::kMultiplayer, 3, Board::k8x8, 9},   {Variant::kMultiplayer, 4, Board::k8x8, 9},
    {Variant::kStandard, 2, Board::k10x10, 10},   {Variant::kMultiplayer, 3, Board::k10x10, 9},
    {Variant::kMultiplayer, 4, Board::k10x10, 9}, {Variant::kStandard, 2, Board::kOctagon, 10},
    {Variant::kMultiplayer, 3, Board::kOctagon, 9}, {Variant::kMultiplayer, 4, Board::kOctagon, 9},
};
constexpr uint64_t kSeed = 2026;

// Seconds for one of `count`.
benchmark::Counter Each(double count) {
  return benchmark::Counter(count, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void RunPlayouts(benchmark::State& state, const Setup& setup, InstructionSet set) {
  const Position start = setup.Start();
  SplitMix64 random(kSeed);
  int64_t plies = 0;
  for (auto _ : state) {
    const Position end = Playout(start, random, set);
    plies += end.ply();
    benchmark::DoNotOptimize(end);
  }
  state.counters["ply"] = Each(static_cast<double>(plies));
  state.counters["plies"] = static_cast<double>(plies);
}

void RunTwinPlayouts(benchmark::State& state, const Setup& setup) {
  const twin::Twin start(twin::TwinRules{.variant = std::string(Spec(setup.variant).name),
                                         .players = static_cast<int>(setup.players),
                                         .board = std::string(BoardName(setup.board))});
  std::mt19937_64 random(kSeed);
  int64_t plies = 0;
  for (auto _ : state) {
    twin::Twin game = start;
    twin::PlayOut(game, random);
    plies += game.ply();
  }
  state.counters["ply"] = Each(static_cast<double>(plies));
  state.counters["plies"] = static_cast<double>(plies);
}

void RunPerft(benchmark::State& state, const Setup& setup, InstructionSet set) {
  const Position start = setup.Start();
  uint64_t leaves = 0;
  for (auto _ : state) leaves = Perft(start, setup.perft_depth, PerftCount::kPlies, set);
  state.counters["leaves"] = static_cast<double>(leaves);
  state.counters["leaves/s"] =
      benchmark::Counter(static_cast<double>(leaves), benchmark::Counter::kIsIterationInvariantRate);
}

// Games of random moves, to be replayed.
std::vector<std::vector<Move>> Games(const Position& start, int count) {
  SplitMix64 random(kSeed);
  std::vector<std::vector<Move>> games(static_cast<size_t>(count));
  for (std::vector<Move>& moves : games) {
    for (Position position = start; !position.over();) {
      const std::vector<Move> legal = position.LegalMoves();
      moves.push_back(legal[random.Below(legal.size())]);
      position = std::get<Played>(position.Play(moves.back())).next;
    }
  }
  return games;
}

template <typename ReplayOne>
void RunReplay(benchmark::State& state, const Setup& setup, ReplayOne replay) {
  const Position start = setup.Start();
  const auto games = Games(start, 100);
  size_t next = 0;
  for (auto _ : state) {
    auto result = replay(start, games[next]);
    if (result.index() != 0) state.SkipWithError("an illegal move");
    benchmark::DoNotOptimize(result);
    next = (next + 1) % games.size();
  }
}

void RunHash(benchmark::State& state, const Setup& setup) {
  Position position = setup.Start();
  for (auto _ : state) {
    benchmark::DoNotOptimize(position);
    benchmark::DoNotOptimize(position.Hash());
  }
}

void RegisterAll() {
  const auto name = [](const char* what, const Setup& setup, std::string_view how) {
    return std::string(what) + "/" + setup.Name() + "/" + std::string(how);
  };
  for (const Setup& setup : kSetups) {
    benchmark::RegisterBenchmark(name("playout", setup, "twin").c_str(), RunTwinPlayouts, setup);
    for (int i = 0; i < kInstructionSets; ++i) {
      const auto set = static_cast<InstructionSet>(i);
      if (!Supported(set)) continue;
      benchmark::RegisterBenchmark(name("playout", setup, InstructionSetName(set)).c_str(), RunPlayouts, setup, set);
    }
  }
  for (const Setup& setup : kSetups) {
    for (int i = 0; i < kInstructionSets; ++i) {
      const auto set = static_cast<InstructionSet>(i);
      if (!Supported(set)) continue;
      benchmark::RegisterBenchmark(name("perft", setup, InstructionSetName(set)).c_str(), RunPerft, setup, set)
          ->Unit(benchmark::kMillisecond);
    }
  }
  for (const Setup& setup : kSetups) {
    for (int i = 0; i < kInstructionSets; ++i) {
      const auto set = static_cast<InstructionSet>(i);
      if (!Supported(set)) continue;
      benchmark::RegisterBenchmark(name("replay", setup, InstructionSetName(set)).c_str(),
                                   [setup, set](benchmark::State& state) {
                                     RunReplay(state, setup, [set](const Position& start, const auto& moves) {
                                       return Replay(start, moves, set);
                                     });
                                   });
    }
    benchmark::RegisterBenchmark(name("replay", setup, "each").c_str(), [setup](benchmark::State& state) {
      RunReplay(state, setup, [](const Position& start, const auto& moves) { return ReplayEach(start, moves); });
    });
  }
  for (const Setup& setup : kSetups) benchmark::RegisterBenchmark(name("hash", setup, "any").c_str(), RunHash, setup);
}

// The usual table of first runs, and after it the playouts' speed as a multiple of the twin's: of repeated runs the
// fastest counts, since other work on the machine can only slow one down.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> first;
    for (const Run& run : runs) {
      if (run.run_type == Run::RT_Iteration && run.repetition_index == 0) first.push_back(run);
      const auto ply = run.counters.find("ply");
      if (run.run_type != Run::RT_Iteration || ply == run.counters.end()) continue;
      const std::string name = run.run_name.function_name;
      const size_t slash = name.rfind('/');
      double& best = seconds_[name.substr(0, slash)][name.substr(slash + 1)];
      if (best == 0 || ply->second.value < best) best = ply->second.value;
    }
    if (!first.empty()) ConsoleReporter::ReportRuns(first);
  }

  void Finalize() override {
    std::printf("\n%-20s %10s %10s %10s\n", "one thread", "", "ns/ply", "x twin");
    for (const auto& [setup, by_set] : seconds_) {
      const auto twin = by_set.find("twin");
      for (const auto& [set, seconds] : by_set) {
        std::printf("%-20s %10s %10.1f", setup.c_str(), set.c_str(), seconds * 1e9);
        if (twin != by_set.end()) std::printf(" %10.1f", twin->second / seconds);
        std::printf("\n");
      }
    }
  }

 private:
  std::map<std::string, std::map<std::string, double>> seconds_;
};

}  // namespace
}  // namespace reversi

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("compiler", REVERSI_COMPILER);
  benchmark::AddCustomContext("flags", REVERSI_FLAGS);
  benchmark::AddCustomContext("instruction set",
                              std::string(reversi::InstructionSetName(reversi::BestInstructionSet())));
  reversi::RegisterAll();
  reversi::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
