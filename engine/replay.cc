#include "engine/replay.h"

namespace reversi {

std::variant<Position, ReplayError> Replay(const Position& start, std::span<const Move> moves) {
  Position position = start;
  for (size_t i = 0; i < moves.size(); ++i) {
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
