#include "engine/kernels.h"

#include "engine/kernels_each.h"
#include "engine/rulings.h"

namespace reversi {

std::string_view InstructionSetName(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable: return "portable";
    case InstructionSet::kAvx2: return "avx2";
    case InstructionSet::kAvx512: return "avx512";
  }
  __builtin_unreachable();
}

bool Supported(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable: return true;
#ifdef __x86_64__
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
             __builtin_cpu_supports("popcnt");
    case InstructionSet::kAvx512:
      return Supported(InstructionSet::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");
#else
    case InstructionSet::kAvx2:
    case InstructionSet::kAvx512: return false;
#endif
  }
  __builtin_unreachable();
}

InstructionSet BestInstructionSet() {
  static const InstructionSet best = Supported(InstructionSet::kAvx512) ? InstructionSet::kAvx512
                                     : Supported(InstructionSet::kAvx2) ? InstructionSet::kAvx2
                                                                        : InstructionSet::kPortable;
  return best;
}

bool Covered(const PositionState& s) {
  if (s.variant == Variant::kRoyal || s.turn == Color::kNone) return false;
  return WithGeometry(s.board, [&]<class G>(G) { return !Rulings<G>::FreeOpening(s); });
}

const Kernels& KernelsOf(InstructionSet set) {
  switch (set) {
    case InstructionSet::kPortable: return PortableKernels();
#ifdef __x86_64__
    case InstructionSet::kAvx2: return Avx2Kernels();
    case InstructionSet::kAvx512: return Avx512Kernels();
#else
    case InstructionSet::kAvx2:
    case InstructionSet::kAvx512: break;
#endif
  }
  return PortableKernels();
}

}  // namespace reversi
