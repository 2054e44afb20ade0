// The inner loops (playouts, perft, replay) for each instruction set, chosen at run time. All sets give the same results.
#ifndef REVERSI_ENGINE_KERNELS_H_
#define REVERSI_ENGINE_KERNELS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/position.h"
#include "engine/random.h"

namespace reversi {

enum class InstructionSet : uint8_t {
  kPortable,
  kAvx2,    // AVX2, BMI1, BMI2, LZCNT, POPCNT
  kAvx512,  // those and AVX-512 F, VL, VBMI2, on 256-bit registers
};
inline constexpr int kInstructionSets = 3;

// "portable", "avx2", "avx512".
std::string_view InstructionSetName(InstructionSet set);
// Whether this machine (and this build) has it.
bool Supported(InstructionSet set);
// The last one that is supported.
InstructionSet BestInstructionSet();

// Loops over positions that the kernels cover. For the engine's own files.
struct Kernels {
  // Plays random moves to the end of the game.
  void (*play_out)(PositionState& state, SplitMix64& random);
  // Leaves at a depth of at least 1. `passes_count`: a pass is a ply and a finished game one leaf; else a pass is free
  // and a finished game none.
  uint64_t (*perft)(const PositionState& state, int depth, bool passes_count);
  // Plays moves up to the first that is illegal, is more than a square, or that the end of the game precedes. Returns
  // their number. The turn is left with the next seat that is in, whether it can move or not.
  size_t (*replay)(PositionState& state, std::span<const Move> moves);
};

// Whether the kernels cover the position: any system but Royal, not in a free opening, not over.
bool Covered(const PositionState& state);
// Requires Supported(set).
const Kernels& KernelsOf(InstructionSet set);

}  // namespace reversi

#endif  // REVERSI_ENGINE_KERNELS_H_
