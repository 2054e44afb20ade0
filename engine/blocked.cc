#include "engine/blocked.h"

#include <utility>

#include "engine/geometry.h"
#include "engine/outflank.h"
#include "engine/random.h"

namespace reversi {
namespace {

Square Opposite(Board board, Square square) {
  const int last = BoardSide(board) - 1;
  return {static_cast<uint8_t>(last - square.row), static_cast<uint8_t>(last - square.col)};
}

bool Connected(Board board, const SquareSet& blocked) {
  return WithGeometry(board, [&]<class G>(G) {
    auto open = G::kAll;
    blocked.ForEach([&](Square square) { open &= ~G::At(square); });
    auto reached = G::Bits::At(open.first());
    for (auto more = Touching<G>(reached, open); more != reached; more = Touching<G>(reached, open)) reached = more;
    return reached == open;
  });
}

// Squares of the upper half that may be blocked, each standing for itself and its opposite.
std::vector<Square> Candidates(Board board, int corner_handicap) {
  const SquareSet centre = CentreSquares(board);
  const SquareSet corners = HandicapCorners(board, corner_handicap);
  const int side = BoardSide(board);
  std::vector<Square> candidates;
  for (int row = 0; row < side; ++row) {
    for (int col = 0; col < side; ++col) {
      const Square square{static_cast<uint8_t>(row), static_cast<uint8_t>(col)};
      const Square opposite = Opposite(board, square);
      if (square >= opposite || !OnBoard(board, square) || centre.Has(square)) continue;
      if (corners.Has(square) || corners.Has(opposite)) continue;
      candidates.push_back(square);
    }
  }
  return candidates;
}

}  // namespace

int MaxRandomBlocked(Board board) { return BoardSquares(board) / 8 * 2; }

std::vector<Square> PlaceBlocked(Board board, int corner_handicap, int count, uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<Square> candidates = Candidates(board, corner_handicap);
  for (size_t i = candidates.size(); i > 1; --i) std::swap(candidates[i - 1], candidates[random.Below(i)]);

  // A pair that would cut off open squares is put back and tried again later, when more is blocked around it. There
  // is always a pair that fits: of the open squares those farthest from the centre are on nobody's way to it, and
  // the few corners of a handicap with the squares beside them are not all of them.
  SquareSet blocked;
  for (int before = -1; blocked.size() < count && blocked.size() != before;) {
    before = blocked.size();
    for (size_t i = 0; i < candidates.size() && blocked.size() < count; ++i) {
      const Square pair[] = {candidates[i], Opposite(board, candidates[i])};
      if (blocked.Has(pair[0])) continue;
      SquareSet more = blocked;
      for (Square square : pair) more.Add(square);
      if (Connected(board, more)) blocked = more;
    }
  }
  std::vector<Square> squares;
  blocked.ForEach([&](Square square) { squares.push_back(square); });
  return squares;
}

}  // namespace reversi
