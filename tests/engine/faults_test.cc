// Faults that other programs had, one test each. Nothing here asks the twin: each promise is checked by the geometry of
// the board alone, over games in which the occasion for the fault has arisen.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "engine/notation.h"
#include "engine/position.h"
#include "engine/rules.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

struct Step {
  int row;
  int column;
};
constexpr std::array<Step, 8> kSteps = {{{-1, 0}, {-1, 1}, {0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}}};

// What a line sees where there is no disc.
constexpr char kOutside = ' ';

// The character of a square in the position's diagram, outside it too.
char At(const std::vector<std::string>& rows, int row, int column) {
  if (row < 0 || column < 0 || row >= static_cast<int>(rows.size()) || column >= static_cast<int>(rows.size())) {
    return kOutside;
  }
  return rows[static_cast<size_t>(row)][static_cast<size_t>(column)];
}

bool IsDisc(char content) { return content != '-' && content != '#' && content != kOutside; }

// A run of other discs from a square, and what follows it.
struct Line {
  int length;
  char end;
  int end_row;
  int end_column;
};

Line Follow(const std::vector<std::string>& rows, Square from, Step step, char mover) {
  int row = from.row + step.row;
  int column = from.col + step.column;
  int length = 0;
  while (IsDisc(At(rows, row, column)) && At(rows, row, column) != mover) {
    ++length;
    row += step.row;
    column += step.column;
  }
  return {length, At(rows, row, column), row, column};
}

bool Outflanks(const std::vector<std::string>& rows, Square from, char mover) {
  return std::any_of(kSteps.begin(), kSteps.end(), [&](Step step) {
    const Line line = Follow(rows, from, step, mover);
    return line.length > 0 && line.end == mover;
  });
}

Position Start(const RulesRequest& request) { return Position(MustMakeRules(request)); }

Position After(const Position& position, const Move& move) { return std::get<Played>(position.Play(move)).next; }

// Everything of a board but the centre and the squares named.
std::vector<std::string> AllBut(Board board, const std::set<std::string>& open) {
  const int side = BoardSide(board);
  std::vector<std::string> blocked;
  for (int row = 0; row < side; ++row) {
    for (int column = 0; column < side; ++column) {
      const Square square{static_cast<uint8_t>(row), static_cast<uint8_t>(column)};
      const bool centre = (row == side / 2 - 1 || row == side / 2) && (column == side / 2 - 1 || column == side / 2);
      if (OnBoard(board, square) && !centre && !open.contains(SquareName(square))) {
        blocked.push_back(SquareName(square));
      }
    }
  }
  return blocked;
}

// Calls visit(position, move, played) for every move of a few random games of every setup (some with blocked squares).
void EveryMoveOfManyGames(uint64_t seed, const std::function<void(const Position&, const Move&, const Played&)>& visit) {
  std::mt19937_64 random(TestSeed(seed));
  for (const Rules& setup : EverySetup()) {
    for (int game = 0; game < 6 && !testing::Test::HasFailure(); ++game) {
      RulesRequest request = ToRequest(setup);
      if (Spec(setup.variant).blocked_squares && game % 2 == 1) {
        request.random_blocked = 6;
        request.blocked_seed = random() | 1;
      }
      Position position = Start(request);
      while (!position.over()) {
        const std::vector<Move> moves = position.LegalMoves();
        const Move& move = moves[random() % moves.size()];
        const Played played = std::get<Played>(position.Play(move));
        visit(position, move, played);
        position = played.next;
      }
    }
  }
}

TEST(Fault, ScoresCountedForColoursNobodyPlays) {
  // Three players with the centre alone: the fourth disc is nobody's and shares no tie.
  RulesRequest request;
  request.players = 3;
  request.blocked_squares = AllBut(Board::k8x8, {});
  const Position three = Start(request);
  ASSERT_TRUE(three.over());
  EXPECT_EQ(three.Neutral(), 1);
  EXPECT_EQ(three.players(), 3);
  // A leaver's discs join the neutral ones, which may be the most on the board: they win nothing.
  RulesRequest rolit;
  rolit.variant = Variant::kRolit;
  rolit.players = 3;
  std::mt19937_64 random(TestSeed(61));
  int neutral_leads = 0;
  for (int game = 0; game < 200; ++game) {
    Position position = Start(rolit);
    for (int ply = 0; !position.over(); ++ply) {
      if (ply == 50) position = position.Leave(game % 3).next;
      const std::vector<Move> moves = position.LegalMoves();
      position = After(position, moves[random() % moves.size()]);
    }
    const int most = std::max({position.Discs(0), position.Discs(1), position.Discs(2)});
    if (position.Neutral() > most) ++neutral_leads;
    const Outcome outcome = position.outcome();
    if (outcome.kind == Outcome::Kind::kWinner) {
      EXPECT_EQ(position.Discs(static_cast<int>(outcome.winner)), most);
    }
  }
  EXPECT_GT(neutral_leads, 0);
}

TEST(Fault, TieGivenToTheLowestSeat) {
  for (uint32_t players : {3u, 4u}) {
    RulesRequest request;
    request.players = players;
    request.blocked_squares = AllBut(Board::k8x8, {});
    EXPECT_EQ(Start(request).outcome().kind, Outcome::Kind::kDraw) << players;
    request.objective = Objective::kFewestDiscs;
    EXPECT_EQ(Start(request).outcome().kind, Outcome::Kind::kDraw) << players;
  }
  // A tie behind the leader is none: f4 turns e4 and leaves 3, 0, 1, 1.
  RulesRequest request;
  request.blocked_squares = AllBut(Board::k8x8, {"f4"});
  Position position = Start(request);
  ASSERT_EQ(position.turn(), Color::kBlack);
  position = After(position, *ParseMove("f4"));
  ASSERT_TRUE(position.over());
  EXPECT_EQ(position.Discs(0), 3);
  EXPECT_EQ(position.outcome(), (Outcome{Outcome::Kind::kWinner, Color::kBlack, 0}));
}

TEST(Fault, DiagonalsWrappingRoundTheEdge) {
  // Whatever turns stands on a line of its own from the new disc, without leaving the board on the way.
  int at_the_edge = 0;
  EveryMoveOfManyGames(62, [&](const Position& position, const Move& move, const Played& played) {
    if (move.kind == Move::Kind::kJack) return;
    const std::vector<std::string> rows = Rows(position);
    const char mover = ColorLetter(position.turn());
    SquareSet on_lines;
    for (Step step : kSteps) {
      const Line line = Follow(rows, move.square, step, mover);
      if (line.length > 0 && line.end == kOutside) ++at_the_edge;
      if (line.end != mover) continue;
      for (int k = 1; k <= line.length; ++k) {
        on_lines.Add({static_cast<uint8_t>(move.square.row + k * step.row),
                      static_cast<uint8_t>(move.square.col + k * step.column)});
      }
    }
    played.flipped.ForEach([&](Square square) { EXPECT_TRUE(on_lines.Has(square)) << MoveText(move); });
    if (move.kind == Move::Kind::kPlace && !position.placement()) {
      EXPECT_EQ(played.flipped, on_lines) << MoveText(move);
    }
  });
  EXPECT_GT(at_the_edge, 1000);
}

// A run of others from the new disc that ends at `end` turns nothing.
void ExpectNothingTurns(uint64_t seed, char end) {
  int met = 0;
  EveryMoveOfManyGames(seed, [&](const Position& position, const Move& move, const Played& played) {
    if (move.kind == Move::Kind::kJack) return;
    const std::vector<std::string> rows = Rows(position);
    for (Step step : kSteps) {
      const Line line = Follow(rows, move.square, step, ColorLetter(position.turn()));
      if (line.length == 0 || line.end != end) continue;
      ++met;
      for (int k = 1; k <= line.length; ++k) {
        EXPECT_FALSE(played.flipped.Has({static_cast<uint8_t>(move.square.row + k * step.row),
                                         static_cast<uint8_t>(move.square.col + k * step.column)}))
            << MoveText(move);
      }
    }
  });
  EXPECT_GT(met, 100);
}

TEST(Fault, ALineThatRunsOffTheBoardFlippingAnyway) { ExpectNothingTurns(63, kOutside); }

// A hole of the Octagon is a blank of the diagram like the world outside; a blocked square cuts a line as well.
TEST(Fault, LinesThroughHoles) { ExpectNothingTurns(64, '#'); }

TEST(Fault, OccupiedSquaresCountedWhenDecidingWhetherAFlippingMoveExists) {
  // Positions in which only an occupied square would outflank something: a disc beside another must be offered.
  int met = 0;
  EveryMoveOfManyGames(65, [&](const Position& position, const Move&, const Played&) {
    if (!Spec(position.variant()).places_without_flip || !position.placement()) return;
    const std::vector<std::string> rows = Rows(position);
    bool occupied_would = false;
    for (int row = 0; row < BoardSide(position.board()); ++row) {
      for (int column = 0; column < BoardSide(position.board()); ++column) {
        const Square square{static_cast<uint8_t>(row), static_cast<uint8_t>(column)};
        if (!Outflanks(rows, square, ColorLetter(position.turn()))) continue;
        if (At(rows, row, column) == '-') {
          ADD_FAILURE() << SquareName(square) << " outflanks";
        } else if (IsDisc(At(rows, row, column))) {
          occupied_would = true;
        }
      }
    }
    if (occupied_would) ++met;
  });
  EXPECT_GT(met, 20);
}

TEST(Fault, NoAdjacencyFallback) {
  // Who cannot turn anything gets exactly the empty squares beside a disc of any colour.
  int met = 0;
  EveryMoveOfManyGames(66, [&](const Position& position, const Move&, const Played& played) {
    if (!Spec(position.variant()).places_without_flip || !position.placement()) return;
    ++met;
    EXPECT_TRUE(played.flipped.empty());
    const std::vector<std::string> rows = Rows(position);
    std::set<std::string> beside;
    for (int row = 0; row < BoardSide(position.board()); ++row) {
      for (int column = 0; column < BoardSide(position.board()); ++column) {
        if (At(rows, row, column) != '-') continue;
        if (std::any_of(kSteps.begin(), kSteps.end(),
                        [&](Step step) { return IsDisc(At(rows, row + step.row, column + step.column)); })) {
          beside.insert(SquareName({static_cast<uint8_t>(row), static_cast<uint8_t>(column)}));
        }
      }
    }
    std::set<std::string> legal;
    for (const Move& move : position.LegalMoves()) legal.insert(MoveText(move));
    EXPECT_EQ(legal, beside);
  });
  EXPECT_GT(met, 100);
}

void ExpectNoFlippingMove(const Position& position, int seat) {
  const std::vector<std::string> rows = Rows(position);
  for (int row = 0; row < BoardSide(position.board()); ++row) {
    for (int column = 0; column < BoardSide(position.board()); ++column) {
      if (At(rows, row, column) != '-') continue;
      const Square square{static_cast<uint8_t>(row), static_cast<uint8_t>(column)};
      EXPECT_FALSE(Outflanks(rows, square, ColorLetter(static_cast<Color>(seat)))) << SquareName(square);
    }
  }
}

TEST(Fault, GameCalledOverBecauseOnlyThePlayerToMoveIsBlocked) {
  // Only c5 and d6 are open: White can move, Black cannot.
  RulesRequest request;
  request.variant = Variant::kStandard;
  request.blocked_squares = AllBut(Board::k8x8, {"c5", "d6"});
  const Position start = Start(request);
  ASSERT_FALSE(start.over());
  EXPECT_EQ(start.turn(), Color::kWhite);
  EXPECT_EQ(Letters(start.start_passes()), "B");
  int passes = 0;
  EveryMoveOfManyGames(67, [&](const Position& position, const Move&, const Played& played) {
    if (played.next.over() && !Spec(position.variant()).places_without_flip) {
      for (int seat = 0; seat < position.players(); ++seat) ExpectNoFlippingMove(played.next, seat);
    }
    if (played.passed == 0) return;
    ++passes;
    EXPECT_FALSE(Spec(position.variant()).places_without_flip) << "nobody passes there";
    EXPECT_FALSE(played.next.over());
    EXPECT_FALSE(played.next.LegalMoves().empty());
  });
  EXPECT_GT(passes, 20);
}

TEST(Fault, MovesThatFlipNothingOfferedBesideFlippingOnes) {
  EveryMoveOfManyGames(68, [&](const Position& position, const Move&, const Played&) {
    for (const Move& move : position.LegalMoves()) {
      const Played played = std::get<Played>(position.Play(move));
      EXPECT_EQ(played.flipped.empty(), position.placement()) << MoveText(move);
    }
  });
}

TEST(Fault, AStartWithNoMovesNeverEnding) {
  for (Variant variant : {Variant::kMultiplayer, Variant::kStandard}) {
    for (Board board : Spec(variant).boards) {
      RulesRequest request;
      request.variant = variant;
      request.board = board;
      request.blocked_squares = AllBut(board, {});
      const Position start = Start(request);
      EXPECT_TRUE(start.over()) << BoardName(board);
      EXPECT_EQ(start.turn(), Color::kNone);
      EXPECT_EQ(start.ply(), 0);
      EXPECT_EQ(start.Empty(), 0);
      EXPECT_EQ(start.start_passes(), 0);
      EXPECT_TRUE(start.LegalMoves().empty());
      EXPECT_EQ(start.outcome().kind, Outcome::Kind::kDraw);
      EXPECT_EQ(std::get<WhyIllegal>(start.Play(*ParseMove("a1"))), WhyIllegal::kGameOver);
    }
  }
  // Open squares that nothing touches do not keep a game alive either.
  RulesRequest request;
  request.blocked_squares = AllBut(Board::k8x8, {"a1", "h8"});
  EXPECT_TRUE(Start(request).over());
  EXPECT_EQ(Start(request).Empty(), 2);
}

}  // namespace
}  // namespace reversi
