#include "engine/playout.h"

namespace reversi {

Position Playout(const Position& position, SplitMix64& random, InstructionSet set) {
  Position at = position;
  while (!at.over()) {
    if (Covered(at.state())) {
      PositionState state = at.state();
      KernelsOf(set).play_out(state, random);
      return Position(state);
    }
    const std::vector<Move> moves = at.LegalMoves();
    at = std::get<Played>(at.Play(moves[random.Below(moves.size())])).next;
  }
  return at;
}

}  // namespace reversi
