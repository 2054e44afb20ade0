#include "engine/position.h"

#include <algorithm>

#include "engine/geometry.h"
#include "engine/hash.h"
#include "engine/outflank.h"
#include "engine/rulings.h"

namespace reversi {
namespace {

constexpr int Seat(Color color) { return static_cast<int>(color); }

// The discs on the board before the first move.
template <class G>
void SetUp(const Rules& rules, PositionState& s) {
  const auto put = [&](Square square, Color color) {
    s.discs[static_cast<size_t>(color)] |= G::At(square).Stored();
  };
  constexpr uint8_t kLow = G::kSide / 2 - 1;
  constexpr Square kClockwise[] = {{kLow, kLow}, {kLow, kLow + 1}, {kLow + 1, kLow + 1}, {kLow + 1, kLow}};
  switch (rules.variant) {
    case Variant::kMultiplayer:
    case Variant::kRolit:
      // In turn order; the discs of colours that nobody plays are neutral.
      for (int i = 0; i < 4; ++i) put(kClockwise[i], i < rules.players ? static_cast<Color>(i) : Color::kNeutral);
      break;
    case Variant::kStandard:
      for (int i = 0; i < 4 && !rules.free_opening; ++i) {
        put(kClockwise[i], i % 2 == 0 ? Color::kWhite : Color::kBlack);
      }
      HandicapCorners(rules.board, rules.corner_handicap).ForEach([&](Square s1) { put(s1, Color::kBlack); });
      break;
    case Variant::kRoyal:
      put({G::kSide / 2, G::kSide / 2}, Color::kNeutral);
      s.unset = static_cast<SeatSet>(SeatBit(rules.players) - 1);
      break;
  }
  for (Square square : rules.blocked) s.blocked |= G::At(square).Stored();
  s.start_passes = Rulings<G>::Advance(s, rules.players - 1);
}

// Lists of rows in the order of the API: fewer rows first, then by the first direction in which they differ.
constexpr std::array<RowMask, 255> kRowChoices = [] {
  std::array<RowMask, 255> choices{};
  for (int i = 0; i < 255; ++i) choices[i] = static_cast<RowMask>(i + 1);
  const auto key = [](RowMask rows) {
    int reversed = 0;
    for (int i = 0; i < 8; ++i) reversed |= (rows >> i & 1) << (7 - i);
    return __builtin_popcount(rows) * 256 - reversed;
  };
  std::sort(choices.begin(), choices.end(), [&](RowMask a, RowMask b) { return key(a) < key(b); });
  return choices;
}();

// What a move would turn, by direction.
template <class G>
struct OutflankedRows {
  std::array<typename G::Bits, kDirections> flips;
  RowMask outflanked = 0;

  OutflankedRows(int index, typename G::Bits mine, typename G::Bits others) {
    ForEachDirection([&](auto d) {
      flips[d] = FlipsTowards<G, d>(index, mine, others);
      if (flips[d].any()) outflanked |= static_cast<RowMask>(1 << d);
    });
  }
  typename G::Bits Chosen(RowMask rows) const {
    typename G::Bits chosen;
    for (int d = 0; d < kDirections; ++d) {
      if ((rows >> d & 1) != 0) chosen |= flips[d];
    }
    return chosen;
  }
};

template <class G>
class Mover {
  using Bits = typename G::Bits;
  using R = Rulings<G>;

 public:
  explicit Mover(const PositionState& s)
      : s_(s), seat_(Seat(s.turn)), occupied_(R::Occupied(s)), mine_(R::Discs(s, s.turn)) {}

  // Fills `next` and what the move did, or says why not.
  std::optional<WhyIllegal> Play(const Move& move, PositionState& next, Played& played) const {
    // A claim has no square and no rows, whatever stands there.
    played.move = move.kind == Move::Kind::kJack ? Move{Move::Kind::kJack, {}, 0} : move;
    if (move.kind == Move::Kind::kJack) return ClaimJack(next, played);
    if (!OnBoard(G::kBoard, move.square)) return WhyIllegal::kOffBoard;
    const Bits square = G::At(move.square);
    if ((square & Bits::From(s_.blocked)).any()) return WhyIllegal::kBlocked;
    if ((square & occupied_).any()) return WhyIllegal::kOccupied;
    if (s_.unset != 0 || R::FreeOpening(s_)) return PlaceInOpening(square, next, played);
    if (s_.variant == Variant::kRoyal) return TurnRows(square, next, played);
    if (move.kind == Move::Kind::kPlaceRows) return WhyIllegal::kNotOutflanked;
    const Bits flips = Flips<G>(G::Index(move.square), mine_, occupied_ & ~mine_);
    if (!flips.any()) {
      if (!PlacesWithoutFlip(s_.variant) || R::Flipping(s_, seat_).any()) return WhyIllegal::kFlipsNothing;
      if (!Touching<G>(occupied_, square).any()) return WhyIllegal::kTouchesNothing;
    }
    Finish(square, flips, next, played);
    return std::nullopt;
  }

 private:
  std::optional<WhyIllegal> ClaimJack(PositionState& next, Played& played) const {
    if (!R::MayClaimJack(s_, seat_)) return WhyIllegal::kNoJack;
    next.jack_claimed |= SeatBit(seat_);
    Finish(Bits{}, R::kJack, next, played);
    return std::nullopt;
  }

  std::optional<WhyIllegal> PlaceInOpening(Bits square, PositionState& next, Played& played) const {
    if (played.move.kind == Move::Kind::kPlaceRows) return WhyIllegal::kNotOutflanked;
    const bool royal = s_.unset != 0;
    if (!(square & (royal ? R::EmptyRing(s_) : R::EmptyCentre(s_))).any()) {
      return royal ? WhyIllegal::kNotRing : WhyIllegal::kNotCentre;
    }
    next.unset &= static_cast<SeatSet>(~SeatBit(seat_));
    Finish(square, Bits{}, next, played);
    return std::nullopt;
  }

  std::optional<WhyIllegal> TurnRows(Bits square, PositionState& next, Played& played) const {
    const OutflankedRows<G> rows(square.first(), mine_, occupied_ & ~mine_);
    if (played.move.kind == Move::Kind::kPlace) {
      if (rows.outflanked == 0) return WhyIllegal::kFlipsNothing;
      played.move.kind = Move::Kind::kPlaceRows;
      played.move.rows = rows.outflanked;
    }
    if (played.move.rows == 0 || (played.move.rows & ~rows.outflanked) != 0) return WhyIllegal::kNotOutflanked;
    Finish(square, rows.Chosen(played.move.rows), next, played);
    return std::nullopt;
  }

  void Finish(Bits square, Bits flips, PositionState& next, Played& played) const {
    R::SetDisc(next, seat_, square, flips);
    ++next.ply;
    played.flipped = G::ToSquares(flips);
    played.passed = R::Advance(next, seat_);
  }

  const PositionState& s_;
  const int seat_;
  const Bits occupied_;
  const Bits mine_;
};

// Whether the seats still in the game are one seat or, with sides, one side.
bool OneLeft(const PositionState& s) {
  const int in = (SeatBit(s.players) - 1) & ~s.out;
  if ((in & (in - 1)) == 0) return true;
  constexpr int kFirstSide = 0b010101;
  return s.sides && ((in & kFirstSide) == 0 || (in & ~kFirstSide) == 0);
}

}  // namespace

std::string_view WhyName(WhyIllegal why) {
  switch (why) {
    case WhyIllegal::kOccupied: return "occupied";
    case WhyIllegal::kBlocked: return "blocked";
    case WhyIllegal::kOffBoard: return "off_board";
    case WhyIllegal::kFlipsNothing: return "flips_nothing";
    case WhyIllegal::kTouchesNothing: return "touches_nothing";
    case WhyIllegal::kNotCentre: return "not_centre";
    case WhyIllegal::kNotRing: return "not_ring";
    case WhyIllegal::kNotOutflanked: return "not_outflanked";
    case WhyIllegal::kNoJack: return "no_jack";
    case WhyIllegal::kGameOver: return "game_over";
  }
  __builtin_unreachable();
}

Position::Position(const Rules& rules) {
  state_.variant = rules.variant;
  state_.board = rules.board;
  state_.objective = rules.objective;
  state_.players = static_cast<uint8_t>(rules.players);
  state_.sides = rules.sides;
  WithGeometry(rules.board, [&]<class G>(G) { SetUp<G>(rules, state_); });
}

Position::Position(const Rules& rules, std::span<const std::pair<Square, Color>> discs, Color turn)
    : Position(rules) {
  state_.discs = {};
  state_.unset = 0;
  state_.start_passes = 0;
  state_.turn = turn;
  WithGeometry(rules.board, [&]<class G>(G) {
    for (const auto& [square, color] : discs) state_.discs[static_cast<size_t>(color)] |= G::At(square).Stored();
  });
}

Variant Position::variant() const { return state_.variant; }
Board Position::board() const { return state_.board; }
int Position::players() const { return state_.players; }
bool Position::over() const { return state_.turn == Color::kNone; }
Color Position::turn() const { return state_.turn; }
int Position::ply() const { return state_.ply; }
SeatSet Position::out() const { return state_.out; }
SeatSet Position::start_passes() const { return state_.start_passes; }
bool Position::won_by_leaving() const { return state_.won_by_leaving; }

bool Position::placement() const {
  return WithGeometry(board(), [&]<class G>(G) { return Rulings<G>::LegalSquares(state_).placement; });
}

Color Position::At(Square square) const {
  if (!OnBoard(board(), square)) return Color::kNone;
  const Bits128 bit = WithGeometry(board(), [&]<class G>(G) { return G::At(square).Stored(); });
  for (size_t i = 0; i < state_.discs.size(); ++i) {
    if ((state_.discs[i] & bit).any()) return static_cast<Color>(i);
  }
  return Color::kNone;
}

bool Position::Blocked(Square square) const {
  if (!OnBoard(board(), square)) return false;
  return WithGeometry(board(), [&]<class G>(G) { return (state_.blocked & G::At(square).Stored()).any(); });
}

int Position::Discs(int seat) const { return state_.discs[static_cast<size_t>(seat)].count(); }

int Position::Neutral() const { return Discs(static_cast<int>(Color::kNeutral)); }

int Position::Empty() const {
  int taken = state_.blocked.count();
  for (const Bits128& discs : state_.discs) taken += discs.count();
  return BoardSquares(board()) - taken;
}

uint64_t Position::Hash() const { return HashOf(state_); }

std::vector<Move> Position::LegalMoves() const {
  return WithGeometry(board(), [&]<class G>(G) {
    using R = Rulings<G>;
    std::vector<Move> moves;
    const bool rows_chosen = state_.variant == Variant::kRoyal && state_.unset == 0;
    const auto squares = R::LegalSquares(state_).legal;
    if (!rows_chosen) moves.reserve(static_cast<size_t>(squares.count()));
    if (rows_chosen && !over() && R::MayClaimJack(state_, Seat(turn()))) moves.push_back({Move::Kind::kJack, {}, 0});
    ForEachBit(squares, [&](typename G::Bits square) {
      Move move{Move::Kind::kPlace, G::SquareOf(square.first()), 0};
      if (!rows_chosen) {
        moves.push_back(move);
        return;
      }
      const auto mine = R::Discs(state_, turn());
      const OutflankedRows<G> rows(square.first(), mine, R::Occupied(state_) & ~mine);
      move.kind = Move::Kind::kPlaceRows;
      for (RowMask choice : kRowChoices) {
        move.rows = choice;
        if ((choice & ~rows.outflanked) == 0) moves.push_back(move);
      }
    });
    return moves;
  });
}

std::variant<Played, WhyIllegal> Position::Play(const Move& move) const {
  if (over()) return WhyIllegal::kGameOver;
  return WithGeometry(board(), [&]<class G>(G) -> std::variant<Played, WhyIllegal> {
    Played played{*this, move, {}, 0};
    if (const auto why = Mover<G>(state_).Play(move, played.next.state_, played)) return *why;
    return played;
  });
}

Played Position::Leave(int seat) const {
  Played played{*this, {}, {}, 0};
  PositionState& next = played.next.state_;
  Bits128& discs = next.discs[static_cast<size_t>(seat)];
  next.discs[static_cast<size_t>(Color::kNeutral)] |= discs;
  discs = {};
  next.out |= SeatBit(seat);
  next.unset &= static_cast<SeatSet>(~SeatBit(seat));
  if (OneLeft(next)) {
    next.won_by_leaving = true;
    next.turn = Color::kNone;
  } else if (Seat(turn()) == seat) {
    played.passed = WithGeometry(board(), [&]<class G>(G) { return Rulings<G>::Advance(next, seat); });
  }
  return played;
}

Outcome Position::outcome() const {
  // Seats and sides alike: the best score, and who alone has it.
  struct {
    int best = 0;
    int who = -1;
    bool tied = false;
    void Count(int contender, int score) {
      if (who >= 0 && score == best) tied = true;
      if (who < 0 || score > best) *this = {score, contender, false};
    }
  } lead;
  const auto in = [&](int seat) { return (out() & SeatBit(seat)) == 0; };
  if (state_.sides) {
    for (int side = 0; side < 2; ++side) {
      int score = 0;
      bool present = false;
      for (int seat = side; seat < players(); seat += 2) {
        score += Discs(seat);
        present |= in(seat);
      }
      if (present) lead.Count(side, score);
    }
  } else {
    const int sign = state_.objective == Objective::kFewestDiscs ? -1 : 1;
    for (int seat = 0; seat < players(); ++seat) {
      if (in(seat)) lead.Count(seat, sign * Discs(seat));
    }
  }
  if (lead.tied) return {Outcome::Kind::kDraw, Color::kNone, 0};
  if (state_.sides) return {Outcome::Kind::kWinningSide, Color::kNone, lead.who + 1};
  return {Outcome::Kind::kWinner, static_cast<Color>(lead.who), 0};
}

std::optional<std::array<double, 2>> Position::WofScore() const {
  if (!over() || won_by_leaving() || state_.variant != Variant::kStandard ||
      state_.objective != Objective::kMostDiscs) {
    return std::nullopt;
  }
  std::array<double, 2> score = {static_cast<double>(Discs(0)), static_cast<double>(Discs(1))};
  const double empty = Empty();
  if (score[0] == score[1]) return std::array{score[0] + empty / 2, score[1] + empty / 2};
  score[score[0] > score[1] ? 0 : 1] += empty;
  return score;
}

}  // namespace reversi
