// Blocked squares placed by chance. For the engine's own files.
#ifndef REVERSI_ENGINE_BLOCKED_H_
#define REVERSI_ENGINE_BLOCKED_H_

#include <cstdint>
#include <vector>

#include "engine/board.h"

namespace reversi {

// Largest count that PlaceBlocked takes: even, at most a quarter of the board.
int MaxRandomBlocked(Board board);

// `count` squares, sorted, drawn from the seed: symmetric under a half turn, off the centre, off the corners of the
// handicap and their opposites, all open squares left connected by sides or corners. The same on every machine.
// Requires an even count of at most MaxRandomBlocked(board). Fewer squares = it could not be done (no seed is known
// that does this).
std::vector<Square> PlaceBlocked(Board board, int corner_handicap, int count, uint64_t seed);

}  // namespace reversi

#endif  // REVERSI_ENGINE_BLOCKED_H_
