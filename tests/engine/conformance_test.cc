// One suite over every entry of the table of variants, with each of its boards, numbers of players and options.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <variant>

#include "engine/notation.h"
#include "engine/position.h"
#include "engine/replay.h"
#include "engine/rules.h"
#include "tests/engine/golden.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

using twin::Describe;
using twin::GoldenGame;
using twin::GoldenGames;
using twin::Join;

// ---- Golden games

bool HasGolden(const std::vector<GoldenGame>& games, Variant variant, auto&& fits) {
  return std::any_of(games.begin(), games.end(), [&](const GoldenGame& game) {
    return game.rules.variant == Spec(variant).name && fits(game.rules);
  });
}

TEST(Golden, EveryEntryOfTheTableAndEachOfItsOptionsHasAGame) {
  const std::vector<GoldenGame> games = GoldenGames();
  for (const Rules& setup : EverySetup()) {
    const twin::TwinRules wanted = ToTwin(setup);
    // A handicap has games with most discs only: the objective changes no move, only the winner.
    const bool any_objective = wanted.corner_handicap > 0;
    EXPECT_TRUE(HasGolden(games, setup.variant, [&](const twin::TwinRules& rules) {
      return rules.players == wanted.players && rules.board == wanted.board &&
             (any_objective || rules.fewest == wanted.fewest) && rules.free_opening == wanted.free_opening &&
             rules.corner_handicap == wanted.corner_handicap && rules.sides == wanted.sides;
    })) << Describe(wanted);
  }
  for (const VariantSpec& spec : Variants()) {
    EXPECT_EQ(HasGolden(games, spec.variant, [](const auto& rules) { return !rules.blocked.empty(); }),
              spec.blocked_squares)
        << spec.name;
  }
}

TEST(Golden, EveryGameIsOfASetupOfTheTable) {
  const std::vector<Rules> setups = EverySetup();
  for (const GoldenGame& game : GoldenGames()) {
    Rules rules = ToRules(game.rules);
    rules.blocked.clear();
    EXPECT_NE(std::find(setups.begin(), setups.end(), rules), setups.end()) << Describe(game.rules);
  }
}

void ExpectLook(const Position& position, const twin::Look& look) {
  EXPECT_EQ(ColorName(position.turn()), look.turn);
  std::set<std::string> legal;
  for (const Move& move : position.LegalMoves()) legal.insert(MoveText(move));
  EXPECT_EQ(legal, std::set<std::string>(look.legal.begin(), look.legal.end()));
  EXPECT_EQ(legal.size(), look.legal.size());
  EXPECT_EQ(Join(Rows(position), "/"), look.diagram);
  for (size_t seat = 0; seat < look.discs.size(); ++seat) {
    EXPECT_EQ(position.Discs(static_cast<int>(seat)), look.discs[seat]);
  }
}

void ExpectReplay(const GoldenGame& game) {
  Position position(ToRules(game.rules));
  for (size_t ply = 0; ply < game.moves.size(); ++ply) {
    ASSERT_EQ(ColorLetter(position.turn()), game.turns[ply]) << "ply " << ply;
    ASSERT_EQ(static_cast<int>(position.LegalMoves().size()), game.legal_counts[ply]) << "ply " << ply;
    for (const twin::Look& look : game.looks) {
      if (look.ply == static_cast<int>(ply)) ExpectLook(position, look);
    }
    const auto result = position.Play(ParseMove(game.moves[ply]).value());
    const Played* played = std::get_if<Played>(&result);
    ASSERT_NE(played, nullptr) << "ply " << ply << ": " << game.moves[ply];
    if (!game.flip_counts.empty()) {
      ASSERT_EQ(played->flipped.size(), game.flip_counts[ply]) << "ply " << ply;
    }
    position = played->next;
  }
  ASSERT_TRUE(position.over());
  EXPECT_EQ(Join(Rows(position), "/"), game.final_diagram);
  for (size_t seat = 0; seat < game.discs.size(); ++seat) {
    EXPECT_EQ(position.Discs(static_cast<int>(seat)), game.discs[seat]);
  }
  if (game.neutral >= 0) {
    EXPECT_EQ(position.Neutral(), game.neutral);
  }
  if (game.empty >= 0) {
    EXPECT_EQ(position.Empty(), game.empty);
  }
  EXPECT_EQ(OutcomeText(position.outcome()), game.winner);
}

TEST(Golden, EveryGameReplaysExactly) {
  for (const GoldenGame& game : GoldenGames()) {
    SCOPED_TRACE(game.id + " " + Describe(game.rules));
    ExpectReplay(game);
  }
}

// ---- Every setup

// Under the sanitizers every step takes many times longer.
#ifdef REVERSI_FEW_GAMES
constexpr int kGamesPerSetup = 4;
constexpr int kWalksPerSetup = 40;
#else
constexpr int kGamesPerSetup = 36;
constexpr int kWalksPerSetup = 400;
#endif

class Setup : public testing::TestWithParam<int> {
 protected:
  static Rules Base() { return EverySetup()[static_cast<size_t>(GetParam())]; }

  // Without blocked squares, with a list of any kind, with a count placed by the engine: in turn, where offered.
  static Rules WithBlocked(int game, std::mt19937_64& random) {
    const Rules base = Base();
    if (!Spec(base.variant).blocked_squares || game % 3 == 0) return base;
    RulesRequest request = ToRequest(base);
    if (game % 3 == 1) {
      request.random_blocked = 2 + 2 * static_cast<uint32_t>(random() % 4);
      request.blocked_seed = random() | 1;
      return MustMakeRules(request);
    }
    const auto squares = twin::Twin(ToTwin(base)).Squares();
    const size_t wanted = random() % (squares.size() / 2);
    for (size_t i = 0; i < wanted; ++i) {
      RulesRequest longer = request;
      longer.blocked_squares.push_back(squares[random() % squares.size()]);
      // Twice the same, a centre square or a taken corner is refused: another one then.
      if (std::holds_alternative<Rules>(MakeRules(longer))) request = longer;
    }
    return MustMakeRules(request);
  }

  static std::string Any(const SideBySide& both, std::mt19937_64& random) {
    const std::vector<std::string> legal = both.twin().LegalMoves();
    return legal[random() % legal.size()];
  }
};

int OpenSeat(const SideBySide& both, std::mt19937_64& random) {
  for (;;) {
    const int seat = static_cast<int>(random() % static_cast<uint64_t>(both.position().players()));
    if ((both.position().out() >> seat & 1) == 0) return seat;
  }
}

TEST_P(Setup, TwinAgreesAtEveryPositionOfRandomGames) {
  const uint64_t seed = TestSeed(1'000'000 + 1'000 * static_cast<uint64_t>(GetParam()));
  for (int game = 0; game < kGamesPerSetup; ++game) {
    std::mt19937_64 random(seed + static_cast<uint64_t>(game));
    const Rules rules = WithBlocked(game, random);
    SCOPED_TRACE("game " + std::to_string(game) + ": " + Describe(ToTwin(rules)));
    const bool with_leavings = game % 2 == 1;
    SideBySide both(rules);
    const int longest = both.position().Empty() + rules.players;  // a Jack claim each
    while (!both.over() && !HasFatalFailure()) {
      if (random() % 3 == 0) both.ExpectRefusals();
      if (with_leavings && random() % 30 == 0) {
        both.Leave(OpenSeat(both, random));
      } else {
        both.Play(Any(both, random));
      }
    }
    ASSERT_FALSE(HasFatalFailure());
    both.ExpectRefusals();
    EXPECT_LE(both.position().ply(), longest);
  }
}

// Positions by the twin's account of them and by their hash: one hash a position, one position a hash.
class Seen {
 public:
  // Whether the position was there before.
  bool Add(const SideBySide& both) {
    const std::string state = both.twin().State();
    const auto [same, is_new] = by_state_.try_emplace(state, both.position());
    EXPECT_EQ(same->second, both.position()) << state;
    EXPECT_EQ(same->second.Hash(), both.position().Hash()) << state;
    EXPECT_EQ(by_hash_.try_emplace(both.position().Hash(), state).first->second, state) << "two positions, one hash";
    return !is_new;
  }
  size_t size() const { return by_state_.size(); }

 private:
  std::map<std::string, Position> by_state_;
  std::map<uint64_t, std::string> by_hash_;
};

// The position after the moves, as far as they are legal one after the other.
std::optional<SideBySide> After(SideBySide both, const std::vector<std::string>& moves) {
  for (const std::string& move : moves) {
    if (both.over() || !both.twin().Why(move).empty()) return std::nullopt;
    both.Play(move);
  }
  return both;
}

TEST_P(Setup, HashTellsPositionsApartAndNotTheWayToThem) {
  std::mt19937_64 random(TestSeed(2'000'000 + static_cast<uint64_t>(GetParam())));
  Seen seen;
  int transpositions = 0;
  for (int walk = 0; walk < kWalksPerSetup; ++walk) {
    SideBySide start(Base());
    for (int ply = walk % 40; ply > 0 && !start.over(); --ply) start.Play(Any(start, random));
    if (start.over()) continue;
    std::vector<std::string> moves;
    SideBySide both = start;
    for (bool again = false; !again && !both.over();) {
      again = !moves.empty() && both.position().turn() == start.position().turn();
      moves.push_back(Any(both, random));
      both.Play(moves.back());
      seen.Add(both);
    }
    // The same with the first and the last move, one player's, exchanged.
    std::swap(moves.front(), moves.back());
    const std::optional<SideBySide> other = After(start, moves);
    if (!other) continue;
    const bool met = seen.Add(*other);
    if (other->twin().State() == both.twin().State()) {
      EXPECT_TRUE(met);
      ++transpositions;
    }
    ASSERT_FALSE(HasFailure());
  }
  if (kWalksPerSetup > 100) {
    EXPECT_GT(transpositions, 0);
  }
  // Short games are over before many of the walks begin.
  EXPECT_GT(seen.size(), static_cast<size_t>(kWalksPerSetup / 2));
}

// A list of moves as a whole does what its moves do one by one, and stops at the first wrong one with its reason.
TEST_P(Setup, ReplayOfManyMovesIsThatOfEach) {
  std::mt19937_64 random(TestSeed(4'000'000 + static_cast<uint64_t>(GetParam())));
  for (int game = 0; game < 6; ++game) {
    const Rules rules = WithBlocked(game, random);
    SideBySide both(rules);
    const Position start = both.position();
    const auto wrong_at = static_cast<size_t>(random() % 40);
    std::vector<Move> moves;
    std::vector<Position> positions = {start};
    while (!both.over()) {
      if (moves.size() == wrong_at) {
        const std::string wrong = both.twin().Squares()[random() % both.twin().Squares().size()];
        std::vector<Move> with_wrong = moves;
        with_wrong.push_back(ParseMove(wrong).value());
        const auto replayed = Replay(start, with_wrong);
        const std::string why = both.twin().Why(wrong);
        ASSERT_EQ(std::holds_alternative<Position>(replayed), why.empty()) << wrong;
        if (!why.empty()) {
          EXPECT_EQ(std::get<ReplayError>(replayed).index, wrong_at);
          EXPECT_EQ(WhyName(std::get<ReplayError>(replayed).why), why);
        }
      }
      moves.push_back(ParseMove(Any(both, random)).value());
      both.Play(MoveText(moves.back()));
      positions.push_back(both.position());
    }
    ASSERT_EQ(std::get<Position>(Replay(start, moves)), both.position());
    const auto each = ReplayEach(start, moves);
    ASSERT_EQ(std::get<std::vector<Played>>(each).size(), moves.size());
    for (size_t i = 0; i < moves.size(); ++i) {
      ASSERT_EQ(std::get<std::vector<Played>>(each)[i].next, positions[i + 1]);
    }
    moves.push_back(ParseMove("a1").value());
    EXPECT_EQ(std::get<ReplayError>(Replay(start, moves)), (ReplayError{moves.size() - 1, WhyIllegal::kGameOver}));
  }
}

TEST_P(Setup, EffectiveRulesSentAgainMakeTheSameStart) {
  std::mt19937_64 random(TestSeed(3'000'000 + static_cast<uint64_t>(GetParam())));
  for (int game = 0; game < 6; ++game) {
    const Rules rules = WithBlocked(game, random);
    const auto again = MakeRules(ToRequest(rules));
    ASSERT_TRUE(std::holds_alternative<Rules>(again)) << Describe(ToTwin(rules));
    EXPECT_EQ(std::get<Rules>(again), rules);
    EXPECT_EQ(Position(std::get<Rules>(again)), Position(rules));
    EXPECT_TRUE(std::is_sorted(rules.blocked.begin(), rules.blocked.end()));
  }
}

std::string SetupName(const testing::TestParamInfo<int>& setup) {
  std::string name = Describe(ToTwin(EverySetup()[static_cast<size_t>(setup.param)]));
  std::replace_if(name.begin(), name.end(), [](char c) { return isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(OfTheTable, Setup, testing::Range(0, static_cast<int>(EverySetup().size())), SetupName);

}  // namespace
}  // namespace reversi
