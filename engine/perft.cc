#include "engine/perft.h"

#include <bit>

namespace reversi {
namespace {

// Leaves after a move or at a start that passed over `passed`, with `depth` left before those passes.
uint64_t AfterPasses(const Position& position, SeatSet passed, int depth, PerftCount count,
                     InstructionSet set) {
  if (count == PerftCount::kPlies) depth -= std::popcount(passed);
  if (depth <= 0) return 1;
  if (position.over()) return count == PerftCount::kPlies ? 1 : 0;
  if (Covered(position.state())) {
    return KernelsOf(set).perft(position.state(), depth, count == PerftCount::kPlies);
  }
  const std::vector<Move> moves = position.LegalMoves();
  if (depth == 1) return moves.size();
  uint64_t leaves = 0;
  for (const Move& move : moves) {
    const Played played = std::get<Played>(position.Play(move));
    leaves += AfterPasses(played.next, played.passed, depth - 1, count, set);
  }
  return leaves;
}

}  // namespace

uint64_t Perft(const Position& position, int depth, PerftCount count, InstructionSet set) {
  return AfterPasses(position, position.ply() == 0 ? position.start_passes() : SeatSet{0}, depth, count, set);
}

std::vector<PerftMove> PerftByMove(const Position& position, int depth, PerftCount count, InstructionSet set) {
  std::vector<PerftMove> split;
  for (const Move& move : position.LegalMoves()) {
    const Played played = std::get<Played>(position.Play(move));
    split.push_back({played.move, AfterPasses(played.next, played.passed, depth - 1, count, set)});
  }
  return split;
}

}  // namespace reversi
