#include "engine/playout.h"

namespace reversi {

Position Playout(const Position& position, SplitMix64& random, InstructionSet set) {
  if (Covered(position.state())) {
    PositionState state = position.state();
    KernelsOf(set).play_out(state, random);
    return Position(state);
  }
  Position at = position;
  while (!at.over()) {
    const std::vector<Move> moves = at.LegalMoves();
    at = std::get<Played>(at.Play(moves[random.Below(moves.size())])).next;
    // A free opening is over.
    if (Covered(at.state())) return Playout(at, random, set);
  }
  return at;
}

}  // namespace reversi
