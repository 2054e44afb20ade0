#include "engine/replay.h"

#include "engine/rulings.h"

namespace reversi {

std::variant<Position, ReplayError> Replay(const Position& start, std::span<const Move> moves,
                                           InstructionSet set) {
  Position position = start;
  for (size_t i = 0; i < moves.size(); ++i) {
    if (Covered(position.state())) {
      // What the kernel stops at is played below, which says why if it is illegal.
      PositionState state = position.state();
      i += KernelsOf(set).replay(state, moves.subspan(i));
      const int last = (static_cast<int>(state.turn) + state.players - 1) % state.players;
      WithGeometry(state.board, [&]<class G>(G) { Rulings<G>::Advance(state, last); });
      position = Position(state);
      if (i == moves.size()) break;
    }
    const auto played = position.Play(moves[i]);
    if (const auto* why = std::get_if<WhyIllegal>(&played)) return ReplayError{i, *why};
    position = std::get<Played>(played).next;
  }
  return position;
}

std::variant<std::vector<Played>, ReplayError> ReplayEach(const Position& start, std::span<const Move> moves) {
  std::vector<Played> history;
  history.reserve(moves.size());
  for (size_t i = 0; i < moves.size(); ++i) {
    const Position& position = history.empty() ? start : history.back().next;
    auto played = position.Play(moves[i]);
    if (const auto* why = std::get_if<WhyIllegal>(&played)) return ReplayError{i, *why};
    history.push_back(std::get<Played>(played));
  }
  return history;
}

}  // namespace reversi
