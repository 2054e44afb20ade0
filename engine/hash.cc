#include "engine/hash.h"

#include <array>

#include "engine/geometry.h"
#include "engine/random.h"

namespace reversi {
namespace {

constexpr std::array<uint64_t, 18> kKeys = [] {
  std::array<uint64_t, 18> keys{};
  SplitMix64 random(0);
  for (uint64_t& key : keys) key = random.Next();
  return keys;
}();

uint64_t Fold(uint64_t a, uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t Head(const PositionState& s) {
  const auto bits = [](auto value, int shift) { return static_cast<uint64_t>(value) << shift; };
  return bits(s.turn, 0) | bits(s.variant, 8) | bits(s.board, 12) | bits(s.players, 16) | bits(s.objective, 20) |
         bits(s.sides, 21) | bits(s.jack_claimed, 24) | bits(s.out, 32) | bits(s.unset, 40);
}

template <class G>
uint64_t HashWords(const PositionState& s) {
  constexpr size_t kColors = G::kBoard == Board::k9x9 ? 6 : 4;
  constexpr size_t kNeutral = static_cast<size_t>(Color::kNeutral);
  uint64_t hash = Fold(Head(s) ^ kKeys[0], kKeys[1]);
  if constexpr (sizeof(typename G::Bits) == 8) {
    const auto pair = [&](size_t key, const Bits128& first, const Bits128& second) {
      hash ^= Fold(first.lo ^ kKeys[key], second.lo ^ kKeys[key + 1]);
    };
    pair(2, s.discs[0], s.discs[1]);
    pair(4, s.discs[2], s.discs[3]);
    pair(6, s.discs[kNeutral], s.blocked);
  } else {
    const auto one = [&](size_t key, const Bits128& set) { hash ^= Fold(set.lo ^ kKeys[key], set.hi ^ kKeys[key + 1]); };
    for (size_t i = 0; i < kColors; ++i) one(2 + 2 * i, s.discs[i]);
    one(2 + 2 * kColors, s.discs[kNeutral]);
    one(4 + 2 * kColors, s.blocked);
  }
  return hash;
}

}  // namespace

uint64_t HashOf(const PositionState& state) {
  return WithGeometry(state.board, [&]<class G>(G) { return HashWords<G>(state); });
}

}  // namespace reversi
