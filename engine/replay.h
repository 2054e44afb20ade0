// Whole games from their moves.
#ifndef REVERSI_ENGINE_REPLAY_H_
#define REVERSI_ENGINE_REPLAY_H_

#include <cstddef>
#include <span>
#include <variant>
#include <vector>

#include "engine/kernels.h"
#include "engine/position.h"

namespace reversi {

// The first move of a list that could not be played, by its place (from 0), and why.
struct ReplayError {
  size_t index = 0;
  WhyIllegal why = WhyIllegal::kOccupied;
  friend constexpr bool operator==(const ReplayError&, const ReplayError&) = default;
};

// The position after all moves, each checked. About a microsecond for a whole game.
std::variant<Position, ReplayError> Replay(const Position& start, std::span<const Move> moves,
                                           InstructionSet set = BestInstructionSet());

// The same with what every move did, in order.
std::variant<std::vector<Played>, ReplayError> ReplayEach(const Position& start, std::span<const Move> moves);

}  // namespace reversi

#endif  // REVERSI_ENGINE_REPLAY_H_
