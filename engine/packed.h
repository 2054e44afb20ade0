// Positions in as few words as they need, for whoever keeps a great many that are looked at now and then.
#ifndef REVERSI_ENGINE_PACKED_H_
#define REVERSI_ENGINE_PACKED_H_

#include <cstddef>
#include <cstdint>

#include "engine/position.h"

namespace reversi {

// The most words that a packed position takes: 144 bytes.
inline constexpr size_t kMostPackedWords = 18;

// Writes the position to `words`, which has room for kMostPackedWords, and returns how many it took: two, and one for
// every word of its sets of squares in which there is a square (48 bytes in all for four players on 8x8). A few
// nanoseconds. The form is this process's own, not for files.
size_t Pack(const Position& position, uint64_t* words);

// The position that Pack wrote there.
Position Unpack(const uint64_t* words);

}  // namespace reversi

#endif  // REVERSI_ENGINE_PACKED_H_
