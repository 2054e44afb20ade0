// For every square the squares before it and behind it on its four lines, as the vector kernels take them.
#ifndef REVERSI_ENGINE_RAYS_H_
#define REVERSI_ENGINE_RAYS_H_

#include <array>
#include <cstdint>

#include "engine/geometry.h"

namespace reversi {

// Lanes of a vector: the lines e-w, sw-ne, s-n, se-nw. "Up" is towards higher bits: e, sw, s, se.
inline constexpr int kLanes = 4;

template <class G>
struct alignas(32) Rays {
  static constexpr int kWords = sizeof(typename G::Bits) / sizeof(uint64_t);
  uint64_t up[kWords][kLanes] = {};
  uint64_t down[kWords][kLanes] = {};
};

// 4 KB for 8x8, 14 KB for 10x10. Rays run over the holes of the Octagon: no disc ever stands there.
template <class G>
inline constexpr auto kRays = [] {
  constexpr int kRowStep[kLanes] = {0, 1, 1, 1};
  constexpr int kColStep[kLanes] = {1, -1, 0, 1};
  std::array<Rays<G>, G::kSide * G::kStride> rays{};
  for (int row = 0; row < G::kSide; ++row) {
    for (int col = 0; col < G::kSide; ++col) {
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int sign : {1, -1}) {
          for (int step = 1; step < G::kSide; ++step) {
            const int r = row + sign * step * kRowStep[lane];
            const int c = col + sign * step * kColStep[lane];
            if (r < 0 || r >= G::kSide || c < 0 || c >= G::kSide) break;
            const int bit = r * G::kStride + c;
            auto& ray = rays[row * G::kStride + col];
            (sign > 0 ? ray.up : ray.down)[bit / 64][lane] |= uint64_t{1} << bit % 64;
          }
        }
      }
    }
  }
  return rays;
}();

// One bit a square, for loads that spread it over a vector.
template <class G>
inline constexpr auto kSquareBits = [] {
  std::array<std::array<uint64_t, 2>, G::kSide * G::kStride> bits{};
  for (int i = 0; i < G::kSide * G::kStride; ++i) bits[i] = {Bits128::At(i).lo, Bits128::At(i).hi};
  return bits;
}();

}  // namespace reversi

#endif  // REVERSI_ENGINE_RAYS_H_
