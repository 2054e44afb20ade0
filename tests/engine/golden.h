// The golden games and perft tables of tests/data, read into plain structures.
#ifndef REVERSI_TESTS_ENGINE_GOLDEN_H_
#define REVERSI_TESTS_ENGINE_GOLDEN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/engine/twin.h"

namespace reversi::twin {

struct Look {
  int ply = 0;
  std::string turn;  // "black" …
  std::vector<std::string> legal;
  std::string diagram;  // rows joined by '/'
  std::vector<int> discs;
};

struct GoldenGame {
  std::string id;
  TwinRules rules;
  std::vector<std::string> moves;
  std::string turns;  // who made each move
  std::vector<int> legal_counts;
  std::vector<int> flip_counts;  // empty where the file has none
  std::vector<Look> looks;
  std::string final_diagram;
  std::vector<int> discs;
  int neutral = -1;    // -1 where the file has none
  int empty = -1;      // likewise
  std::string winner;  // "black" …, "side1", "side2", "draw"
  int moves_with_passes = 0;  // moves after which at least one seat was skipped
};

struct PerftRow {
  TwinRules rules;
  std::vector<uint64_t> leaves;  // after 1, 2, … moves
};

struct DeepPerftRow {
  TwinRules rules;
  int first_depth = 0;
  std::vector<uint64_t> leaves;  // at first_depth, first_depth + 1, …; a pass is a ply, a finished game one leaf
};

// games.jsonl and royal.jsonl. All of these throw on a file that is missing or wrong.
std::vector<GoldenGame> GoldenGames();
std::vector<PerftRow> PerftRows();
std::vector<DeepPerftRow> DeepPerftRows();

// "multiplayer 4 8x8 fewest blocked=a2,b5 …": for messages and names.
std::string Describe(const TwinRules& rules);
std::string Join(const std::vector<std::string>& rows, const std::string& between);

}  // namespace reversi::twin

#endif  // REVERSI_TESTS_ENGINE_GOLDEN_H_
