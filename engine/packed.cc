#include "engine/packed.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace reversi {
namespace {

// A position's state as words: first its sets of squares, then two words with everything else. The last 16 bits belong
// to nobody; packed, they tell which words of the sets follow.
using StateWords = std::array<uint64_t, kMostPackedWords>;
constexpr size_t kRest = offsetof(PositionState, variant) / sizeof(uint64_t);
constexpr size_t kUnused = sizeof(StateWords) - sizeof(uint16_t);
static_assert(std::is_trivially_copyable_v<PositionState> && sizeof(PositionState) == sizeof(StateWords));
static_assert(kRest == 16 && offsetof(PositionState, variant) % sizeof(uint64_t) == 0);
static_assert(offsetof(PositionState, ply) + sizeof(PositionState::ply) <= kUnused);

}  // namespace

size_t Pack(const Position& position, uint64_t* words) {
  StateWords state;
  std::memcpy(&state, &position.state(), sizeof(state));
  size_t taken = kMostPackedWords - kRest;
  uint16_t present = 0;
  // Every other word is the upper half of a set: empty on boards of up to 64 squares.
  const size_t step = BoardSquares(position.board()) <= 64 ? 2 : 1;
  for (size_t i = 0; i < kRest; i += step) {
    words[taken] = state[i];
    taken += state[i] != 0;
    present |= static_cast<uint16_t>((state[i] != 0) << i);
  }
  std::memcpy(reinterpret_cast<char*>(&state) + kUnused, &present, sizeof(present));
  std::memcpy(words, &state[kRest], sizeof(state) - kRest * sizeof(uint64_t));
  return taken;
}

Position Unpack(const uint64_t* words) {
  StateWords state = {};
  std::memcpy(&state[kRest], words, sizeof(state) - kRest * sizeof(uint64_t));
  uint16_t present = 0;
  std::memcpy(&present, reinterpret_cast<const char*>(&state) + kUnused, sizeof(present));
  words += kMostPackedWords - kRest;
  for (unsigned rest = present; rest != 0; rest &= rest - 1) state[static_cast<size_t>(__builtin_ctz(rest))] = *words++;
  return Position(std::bit_cast<PositionState>(state));
}

}  // namespace reversi
