#ifdef __x86_64__
#include <immintrin.h>

#include <array>
#include <utility>

#include "engine/kernels_each.h"
#include "engine/outflank.h"
#include "engine/rays.h"

// Attributes, not flags of the file: what the file takes from headers stays runnable on every machine.
#define REVERSI_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define REVERSI_INLINE REVERSI_TARGET inline __attribute__((always_inline))

namespace reversi {
namespace {
#include "engine/lines_vector.inc"
#include "engine/kernels.inc"
}  // namespace

const Kernels& Avx2Kernels() { return kKernels; }

}  // namespace reversi
#endif
