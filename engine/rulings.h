// What the rule systems say about a position, on one board's geometry. For the engine's own files.
#ifndef REVERSI_ENGINE_RULINGS_H_
#define REVERSI_ENGINE_RULINGS_H_

#include "engine/geometry.h"
#include "engine/outflank.h"
#include "engine/position.h"
#include "engine/rules.h"

namespace reversi {

constexpr SeatSet SeatBit(int seat) { return static_cast<SeatSet>(1 << seat); }

// Whether who cannot flip places beside any disc instead of passing.
constexpr bool PlacesWithoutFlip(Variant variant) {
  switch (variant) {
    case Variant::kMultiplayer:
    case Variant::kRolit: return true;
    case Variant::kStandard:
    case Variant::kRoyal: return false;
  }
  __builtin_unreachable();
}

template <class G>
struct Rulings {
  using Bits = typename G::Bits;

  static Bits Discs(const PositionState& s, size_t color) { return Bits::From(s.discs[color]); }
  static Bits Discs(const PositionState& s, Color color) { return Discs(s, static_cast<size_t>(color)); }

  static Bits Occupied(const PositionState& s) {
    Bits occupied;
    for (const Bits128& discs : s.discs) occupied |= Bits::From(discs);
    return occupied;
  }
  static Bits Empty(const PositionState& s, Bits occupied) { return G::kAll & ~occupied & ~Bits::From(s.blocked); }

  // The empty squares where the seat flips something.
  static Bits Flipping(const PositionState& s, int seat) {
    const Bits occupied = Occupied(s);
    const Bits mine = Discs(s, static_cast<size_t>(seat));
    return FlippingMoves<G>(mine, occupied & ~mine, Empty(s, occupied));
  }

  static Bits EmptyCentre(const PositionState& s) {
    constexpr int kLow = G::kSide / 2 - 1;
    constexpr Bits kCentre = Bits::At(kLow * G::kStride + kLow) | Bits::At(kLow * G::kStride + kLow + 1) |
                             Bits::At((kLow + 1) * G::kStride + kLow) | Bits::At((kLow + 1) * G::kStride + kLow + 1);
    return kCentre & ~Occupied(s);
  }
  // The square of Royal's Jack.
  static constexpr Bits kJack = Bits::At(G::kSide / 2 * (G::kStride + 1));
  static Bits EmptyRing(const PositionState& s) { return Touching<G>(kJack, G::kAll & ~Occupied(s)); }

  // Standard's free opening goes on until the centre is full; it starts full without one.
  static bool FreeOpening(const PositionState& s) {
    return s.variant == Variant::kStandard && EmptyCentre(s).any();
  }

  // Where the seat on turn may place a disc, and whether that flips nothing.
  struct Squares {
    Bits legal;
    bool placement = false;
  };
  static Squares LegalSquares(const PositionState& s) {
    if (s.turn == Color::kNone) return {};
    if (s.unset != 0) return {EmptyRing(s), true};
    if (FreeOpening(s)) return {EmptyCentre(s), true};
    const Bits flipping = Flipping(s, static_cast<int>(s.turn));
    if (flipping.any() || !PlacesWithoutFlip(s.variant)) return {flipping, false};
    const Bits occupied = Occupied(s);
    return {Touching<G>(occupied, Empty(s, occupied)), true};
  }

  static bool MayClaimJack(const PositionState& s, int seat) {
    return s.variant == Variant::kRoyal && s.unset == 0 && (s.jack_claimed & SeatBit(seat)) == 0 &&
           !s.discs[static_cast<size_t>(seat)].any();
  }

  // Whether the seat could move if it were on turn; for systems in which seats pass.
  static bool CanMove(const PositionState& s, int seat) {
    if (s.unset != 0) return (s.unset & SeatBit(seat)) != 0;
    return FreeOpening(s) || Flipping(s, seat).any() || MayClaimJack(s, seat);
  }

  // Gives the turn to the next seat after `last` that can move, or ends the game. Returns the seats passed over.
  static SeatSet Advance(PositionState& s, int last) {
    const auto next = [&](int seat) { return seat + 1 == s.players ? 0 : seat + 1; };
    int seat = next(last);
    if (PlacesWithoutFlip(s.variant)) {
      const Bits occupied = Occupied(s);
      while ((s.out & SeatBit(seat)) != 0) seat = next(seat);
      const bool over = !Touching<G>(occupied, Empty(s, occupied)).any();
      s.turn = over ? Color::kNone : static_cast<Color>(seat);
      return 0;
    }
    SeatSet passed = 0;
    for (int i = 0; i < s.players; ++i, seat = next(seat)) {
      if ((s.out & SeatBit(seat)) != 0) continue;
      if (CanMove(s, seat)) {
        s.turn = static_cast<Color>(seat);
        return passed;
      }
      passed |= SeatBit(seat);
    }
    s.turn = Color::kNone;
    return 0;
  }

  // Takes `flips` from their owners and gives them, with the square of the move, to the seat.
  static void SetDisc(PositionState& s, int seat, Bits square, Bits flips) {
    const Bits128 kept = (~flips).Stored();
    for (Bits128& discs : s.discs) {
      discs.lo &= kept.lo;
      if constexpr (sizeof(Bits) > 8) discs.hi &= kept.hi;
    }
    s.discs[static_cast<size_t>(seat)] |= (square | flips).Stored();
  }
};

}  // namespace reversi

#endif  // REVERSI_ENGINE_RULINGS_H_
