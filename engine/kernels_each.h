// What each kernel file defines, for kernels.cc.
#ifndef REVERSI_ENGINE_KERNELS_EACH_H_
#define REVERSI_ENGINE_KERNELS_EACH_H_

#include "engine/kernels.h"

namespace reversi {

const Kernels& PortableKernels();
#ifdef __x86_64__
const Kernels& Avx2Kernels();
const Kernels& Avx512Kernels();
#endif

}  // namespace reversi

#endif  // REVERSI_ENGINE_KERNELS_EACH_H_
