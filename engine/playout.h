// Random playouts: a game played to its end with moves drawn evenly among the legal ones.
#ifndef REVERSI_ENGINE_PLAYOUT_H_
#define REVERSI_ENGINE_PLAYOUT_H_

#include "engine/kernels.h"
#include "engine/position.h"
#include "engine/random.h"

namespace reversi {

// Plays on to the end of the game. One number is drawn from `random` for each move, so that equal states of the
// generator give equal games on every machine and instruction set. The result is over(); its Discs() and outcome()
// tell the rest. About 20 ns a ply on 8x8; Royal and a free opening take some 100 times as long.
Position Playout(const Position& position, SplitMix64& random, InstructionSet set = BestInstructionSet());

}  // namespace reversi

#endif  // REVERSI_ENGINE_PLAYOUT_H_
