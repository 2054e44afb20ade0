// A small generator of random numbers, the same on every machine and build: splitmix64 (Steele, Lea and Flood, "Fast
// splittable pseudorandom number generators", 2014). Not for secrets.
#ifndef REVERSI_ENGINE_RANDOM_H_
#define REVERSI_ENGINE_RANDOM_H_

#include <cstdint>

namespace reversi {

class SplitMix64 {
 public:
  explicit constexpr SplitMix64(uint64_t seed) : state_(seed) {}

  constexpr uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // A number below `bound` (1 to 2^32): the upper half of a 32-bit draw times the bound, whose bias is below
  // bound / 2^32.
  constexpr uint32_t Below(uint64_t bound) { return Scaled(Next(), bound); }
  // Below for a number drawn before its bound was known.
  static constexpr uint32_t Scaled(uint64_t drawn, uint64_t bound) {
    return static_cast<uint32_t>((drawn >> 32) * bound >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace reversi

#endif  // REVERSI_ENGINE_RANDOM_H_
