// Random playouts: a game played to its end with moves drawn evenly among the legal ones.
#ifndef REVERSI_ENGINE_PLAYOUT_H_
#define REVERSI_ENGINE_PLAYOUT_H_

#include "engine/position.h"
#include "engine/random.h"

namespace reversi {

// Plays on to the end of the game. One number is drawn from `random` for each move, so that equal states of the
// generator give equal games on every machine. The result is over(); its Discs() and outcome() tell the rest.
Position Playout(const Position& position, SplitMix64& random);

}  // namespace reversi

#endif  // REVERSI_ENGINE_PLAYOUT_H_
