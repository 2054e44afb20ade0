// The 64-bit hash of a position. For the engine's own files; the definition is public, so that a client in another
// language can compute the same number from a game as the API shows it.
//
// Squares are numbered row * stride + column from the top left, 0-based, with stride 7 on 6x6, 8 on 8x8, 10 on 9x9
// and 11 on 10x10 and octagon. A set of squares is one 64-bit word on 6x6 and 8x8 (bit n = square n), and two on the
// other boards (the first has squares 0-63, the second 64-127). The words of these sets, in this order, are W[0],
// W[1], …: the discs of Black, White, Red, Green; on 9x9 also of Blue, Yellow; the neutral discs; the blocked squares.
// Sets of seats have bit i for seat i (Black 0 … Yellow 5). Then
//
//   fold(a, b) = the low 64 bits of the 128-bit product a * b, xor its high 64 bits
//   key(n)     = output n (from 0) of splitmix64 started with the state 0: with z = (n + 1) * 0x9e3779b97f4a7c15,
//                z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9, z = (z ^ z >> 27) * 0x94d049bb133111eb, key = z ^ z >> 31,
//                all modulo 2^64
//   head       = turn | variant << 8 | board << 12 | players << 16 | fewest << 20 | sides << 21 | jack << 24
//                | out << 32 | unset << 40
//   hash       = fold(head ^ key(0), key(1)) ^ fold(W[0] ^ key(2), W[1] ^ key(3)) ^ fold(W[2] ^ key(4), W[3] ^ key(5))
//                ^ … through all words
//
// with turn = 0 for Black … 5 for Yellow, 7 when the game is over; variant = 0 multiplayer, 1 standard, 2 rolit,
// 3 royal; board = 0 6x6, 1 8x8, 2 9x9, 3 10x10, 4 octagon; fewest = 1 when the fewest discs win; sides = 1 when sides
// play; jack = the seats that have claimed the Jack (made the move "jack"); out = the seats that have left; unset = in
// royal the seats still in the game that have not moved yet (their opening cube is to be set), else 0. Moves played
// are not counted: equal positions reached by different ways have equal hashes.
#ifndef REVERSI_ENGINE_HASH_H_
#define REVERSI_ENGINE_HASH_H_

#include <cstdint>

#include "engine/position.h"

namespace reversi {

uint64_t HashOf(const PositionState& state);

}  // namespace reversi

#endif  // REVERSI_ENGINE_HASH_H_
