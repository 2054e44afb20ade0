// Perft: the number of ways in which a position can go on for a number of plies. The standard check of a move generator.
#ifndef REVERSI_ENGINE_PERFT_H_
#define REVERSI_ENGINE_PERFT_H_

#include <cstdint>
#include <vector>

#include "engine/kernels.h"
#include "engine/position.h"

namespace reversi {

enum class PerftCount : uint8_t {
  // The convention of the field: a pass is one ply, a finished game counts one leaf at every deeper depth.
  kPlies,
  // Depth in moves: a pass costs none, a game that ends before the depth counts none.
  kMoves,
};

// Leaves `depth` (0 or more) plies or moves after the position; 1 at depth 0. Seats passed over at a game's start
// count as plies like any others. Wraps modulo 2^64. Time grows with the number of leaves.
uint64_t Perft(const Position& position, int depth, PerftCount count = PerftCount::kPlies,
               InstructionSet set = BestInstructionSet());

// The same number split by first move, in the order of LegalMoves(). Requires depth of at least 1 and that the seat on
// turn can move at once (no passes at the start); empty when the game is over.
struct PerftMove {
  Move move;
  uint64_t leaves = 0;
};
std::vector<PerftMove> PerftByMove(const Position& position, int depth, PerftCount count = PerftCount::kPlies,
                                   InstructionSet set = BestInstructionSet());

}  // namespace reversi

#endif  // REVERSI_ENGINE_PERFT_H_
