// The twin's perft and playouts.
#include "tests/engine/twin.h"

namespace reversi::twin {

uint64_t PerftMoves(const Twin& twin, int moves) {
  if (moves == 0) return 1;
  uint64_t leaves = 0;
  for (const TwinMove& move : twin.Moves()) {
    Twin next = twin;
    next.Play(move);
    leaves += PerftMoves(next, moves - 1);
  }
  return leaves;
}

uint64_t PerftPlies(const Twin& twin, int plies) {
  plies -= static_cast<int>(twin.passed().size());
  if (plies <= 0 || twin.over()) return 1;
  uint64_t leaves = 0;
  for (const TwinMove& move : twin.Moves()) {
    Twin next = twin;
    next.Play(move);
    leaves += PerftPlies(next, plies - 1);
  }
  return leaves;
}

void PlayOut(Twin& twin, std::mt19937_64& random) {
  while (!twin.over()) {
    const std::vector<TwinMove> moves = twin.Moves();
    twin.Play(moves[random() % moves.size()]);
  }
}

}  // namespace reversi::twin
