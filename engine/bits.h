// Sets of squares as bits in one or two 64-bit words, with one interface for both widths.
// For the engine's own files.
#ifndef REVERSI_ENGINE_BITS_H_
#define REVERSI_ENGINE_BITS_H_

#include <cstdint>

namespace reversi {

// Two words, bit 64 being the lowest of `hi`. Also the form in which a Position keeps the sets of every board.
struct Bits128 {
  uint64_t lo = 0;
  uint64_t hi = 0;

  static constexpr Bits128 At(int index) {
    return index < 64 ? Bits128{uint64_t{1} << index, 0} : Bits128{0, uint64_t{1} << (index - 64)};
  }
  static constexpr Bits128 From(const Bits128& stored) { return stored; }
  constexpr Bits128 Stored() const { return *this; }
  constexpr bool any() const { return (lo | hi) != 0; }
  constexpr int count() const { return __builtin_popcountll(lo) + __builtin_popcountll(hi); }
  // Index of the lowest member. Requires any().
  constexpr int first() const { return lo != 0 ? __builtin_ctzll(lo) : 64 + __builtin_ctzll(hi); }
  constexpr void RemoveFirst() { lo != 0 ? lo &= lo - 1 : hi &= hi - 1; }
  // The lowest member alone, or nothing; all below it, or all if there is none. These and the next two have no branch.
  constexpr Bits128 Lowest() const { return {lo & -lo, hi & -hi & IfNone(lo)}; }
  constexpr Bits128 BelowLowest() const { return {(lo - 1) & ~lo, (hi - 1) & ~hi & IfNone(lo)}; }
  // The highest member alone, or nothing; all above it, or anything if there is none.
  constexpr Bits128 Highest() const {
    return Bits128{uint64_t{1} << Top(lo) & IfNone(hi), uint64_t{1} << Top(hi)} & *this;
  }
  constexpr Bits128 AboveHighest() const {
    return {~uint64_t{1} << Top(lo) & IfNone(hi), ~uint64_t{1} << Top(hi) | IfNone(hi)};
  }
  // The set, or nothing.
  constexpr Bits128 If(bool condition) const { return {lo & -uint64_t{condition}, hi & -uint64_t{condition}}; }

  // Shifts by 1 to 63.
  friend constexpr Bits128 operator<<(Bits128 a, int n) { return {a.lo << n, a.hi << n | a.lo >> (64 - n)}; }
  friend constexpr Bits128 operator>>(Bits128 a, int n) { return {a.lo >> n | a.hi << (64 - n), a.hi >> n}; }
  friend constexpr Bits128 operator&(Bits128 a, Bits128 b) { return {a.lo & b.lo, a.hi & b.hi}; }
  friend constexpr Bits128 operator|(Bits128 a, Bits128 b) { return {a.lo | b.lo, a.hi | b.hi}; }
  friend constexpr Bits128 operator^(Bits128 a, Bits128 b) { return {a.lo ^ b.lo, a.hi ^ b.hi}; }
  friend constexpr Bits128 operator~(Bits128 a) { return {~a.lo, ~a.hi}; }
  friend constexpr Bits128& operator&=(Bits128& a, Bits128 b) { return a = a & b; }
  friend constexpr Bits128& operator|=(Bits128& a, Bits128 b) { return a = a | b; }
  friend constexpr Bits128& operator^=(Bits128& a, Bits128 b) { return a = a ^ b; }
  friend constexpr bool operator==(const Bits128&, const Bits128&) = default;

 private:
  static constexpr uint64_t IfNone(uint64_t word) { return -uint64_t{word == 0}; }
  static constexpr int Top(uint64_t word) { return 63 - __builtin_clzll(word | 1); }
};

// One word.
struct Bits64 {
  uint64_t lo = 0;

  static constexpr Bits64 At(int index) { return {uint64_t{1} << index}; }
  static constexpr Bits64 From(const Bits128& stored) { return {stored.lo}; }
  constexpr Bits128 Stored() const { return {lo, 0}; }
  constexpr bool any() const { return lo != 0; }
  constexpr int count() const { return __builtin_popcountll(lo); }
  constexpr int first() const { return __builtin_ctzll(lo); }
  constexpr void RemoveFirst() { lo &= lo - 1; }
  constexpr Bits64 Lowest() const { return {lo & -lo}; }
  constexpr Bits64 BelowLowest() const { return {(lo - 1) & ~lo}; }
  constexpr Bits64 Highest() const { return {uint64_t{1} << (63 - __builtin_clzll(lo | 1)) & lo}; }
  constexpr Bits64 AboveHighest() const { return {~uint64_t{1} << (63 - __builtin_clzll(lo | 1))}; }
  constexpr Bits64 If(bool condition) const { return {lo & -uint64_t{condition}}; }

  friend constexpr Bits64 operator<<(Bits64 a, int n) { return {a.lo << n}; }
  friend constexpr Bits64 operator>>(Bits64 a, int n) { return {a.lo >> n}; }
  friend constexpr Bits64 operator&(Bits64 a, Bits64 b) { return {a.lo & b.lo}; }
  friend constexpr Bits64 operator|(Bits64 a, Bits64 b) { return {a.lo | b.lo}; }
  friend constexpr Bits64 operator^(Bits64 a, Bits64 b) { return {a.lo ^ b.lo}; }
  friend constexpr Bits64 operator~(Bits64 a) { return {~a.lo}; }
  friend constexpr Bits64& operator&=(Bits64& a, Bits64 b) { return a = a & b; }
  friend constexpr Bits64& operator|=(Bits64& a, Bits64 b) { return a = a | b; }
  friend constexpr Bits64& operator^=(Bits64& a, Bits64 b) { return a = a ^ b; }
  friend constexpr bool operator==(const Bits64&, const Bits64&) = default;
};

// Calls visit(one-square set) for every member in rising order.
template <typename Bits, typename Visit>
constexpr void ForEachBit(Bits set, Visit&& visit) {
  for (; set.any(); set.RemoveFirst()) visit(Bits::At(set.first()));
}

}  // namespace reversi

#endif  // REVERSI_ENGINE_BITS_H_
