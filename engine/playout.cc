#include "engine/playout.h"

namespace reversi {

Position Playout(const Position& position, SplitMix64& random) {
  Position at = position;
  while (!at.over()) {
    const std::vector<Move> moves = at.LegalMoves();
    at = std::get<Played>(at.Play(moves[random.Below(moves.size())])).next;
  }
  return at;
}

}  // namespace reversi
