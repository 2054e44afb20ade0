#include <array>
#include <utility>

#include "engine/kernels_each.h"
#include "engine/outflank.h"

#define REVERSI_TARGET
#define REVERSI_INLINE inline __attribute__((always_inline))

namespace reversi {
namespace {
#include "engine/lines_portable.inc"
#include "engine/kernels.inc"
}  // namespace

const Kernels& PortableKernels() { return kKernels; }

}  // namespace reversi
