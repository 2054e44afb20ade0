// The fast paths against the plain ones: every instruction set of this machine must do what Position does.
#include "engine/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "engine/notation.h"
#include "engine/perft.h"
#include "engine/playout.h"
#include "engine/replay.h"

namespace reversi {
namespace {

std::vector<InstructionSet> SetsOfThisMachine() {
  std::vector<InstructionSet> sets;
  for (int i = 0; i < kInstructionSets; ++i) {
    if (Supported(static_cast<InstructionSet>(i))) sets.push_back(static_cast<InstructionSet>(i));
  }
  return sets;
}

struct Setup {
  std::string name;
  Rules rules;
  friend void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }
};

// Every variant, board and number of players, bare and with its options.
std::vector<Setup> Setups() {
  std::vector<Setup> setups;
  for (const VariantSpec& spec : Variants()) {
    for (Board board : spec.boards) {
      for (int players = spec.min_players; players <= spec.max_players; ++players) {
        RulesRequest request{.variant = spec.variant, .players = static_cast<uint32_t>(players), .board = board};
        const std::string name = std::string(spec.name) + " " + std::to_string(players) + " on " +
                                 std::string(BoardName(board));
        setups.push_back({name, std::get<Rules>(MakeRules(request))});
        if (spec.blocked_squares) {
          request.random_blocked = 8;
          request.blocked_seed = 3;
          setups.push_back({name + " with blocked squares", std::get<Rules>(MakeRules(request))});
        }
        if (spec.free_opening) {
          request.free_opening = true;
          setups.push_back({name + " with free opening", std::get<Rules>(MakeRules(request))});
        }
      }
    }
  }
  return setups;
}

struct PlainGame {
  Position end;
  std::vector<Move> moves;
};

PlainGame PlayPlainly(Position position, SplitMix64& random) {
  std::vector<Move> moves;
  while (!position.over()) {
    const std::vector<Move> legal = position.LegalMoves();
    moves.push_back(legal[random.Below(legal.size())]);
    position = std::get<Played>(position.Play(moves.back())).next;
  }
  return {position, moves};
}

class Kernel : public ::testing::TestWithParam<Setup> {};

TEST_P(Kernel, PlaysOutAndReplaysLikePositionOnEveryInstructionSet) {
  const Position start(GetParam().rules);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SplitMix64 plain(seed);
    const PlainGame game = PlayPlainly(start, plain);
    for (InstructionSet set : SetsOfThisMachine()) {
      SplitMix64 random(seed);
      const Position end = Playout(start, random, set);
      ASSERT_EQ(end, game.end) << InstructionSetName(set) << " seed " << seed << "\n" << DiagramText(end);
      ASSERT_EQ(random.Next(), SplitMix64(plain).Next()) << "numbers drawn, seed " << seed;
      const auto replayed = Replay(start, game.moves, set);
      ASSERT_TRUE(std::holds_alternative<Position>(replayed)) << InstructionSetName(set) << " seed " << seed;
      ASSERT_EQ(std::get<Position>(replayed), game.end);
    }
  }
}

TEST_P(Kernel, ReplaysEveryBeginningLikePosition) {
  const Position start(GetParam().rules);
  SplitMix64 random(5);
  const std::vector<Move> moves = PlayPlainly(start, random).moves;
  const auto each = ReplayEach(start, moves);
  const auto& history = std::get<std::vector<Played>>(each);
  for (size_t count = 1; count <= moves.size(); ++count) {
    const auto replayed = Replay(start, std::span(moves).first(count));
    ASSERT_EQ(std::get<Position>(replayed), history[count - 1].next) << count;
  }
}

TEST_P(Kernel, NamesTheFirstIllegalMoveOfAReplayAndWhy) {
  const Position start(GetParam().rules);
  SplitMix64 random(9);
  const std::vector<Move> moves = PlayPlainly(start, random).moves;
  Position position = start;
  for (size_t i = 0; i < moves.size(); ++i) {
    for (const Move wrong : {Move{Move::Kind::kPlace, {9, 9}, 0}, Move{Move::Kind::kPlace, {0, 2}, 0},
                             Move{Move::Kind::kPlaceRows, moves[i].square, 0xff}, Move{Move::Kind::kJack, {}, 0},
                             moves[i / 2]}) {
      const auto expected = position.Play(wrong);
      if (!std::holds_alternative<WhyIllegal>(expected)) continue;
      std::vector<Move> spoilt = moves;
      spoilt[i] = wrong;
      for (InstructionSet set : SetsOfThisMachine()) {
        const auto replayed = Replay(start, spoilt, set);
        ASSERT_TRUE(std::holds_alternative<ReplayError>(replayed)) << i;
        ASSERT_EQ(std::get<ReplayError>(replayed), (ReplayError{i, std::get<WhyIllegal>(expected)}));
      }
    }
    position = std::get<Played>(position.Play(moves[i])).next;
  }
  std::vector<Move> longer = moves;
  longer.push_back({Move::Kind::kPlace, {0, 3}, 0});
  EXPECT_EQ(std::get<ReplayError>(Replay(start, longer)), (ReplayError{moves.size(), WhyIllegal::kGameOver}));
}

TEST_P(Kernel, PlaysOnWithoutSeatsThatLeft) {
  const Position start(GetParam().rules);
  for (int leaver = 0; leaver < start.players(); ++leaver) {
    SplitMix64 opening(static_cast<uint64_t>(leaver));
    Position position = start;
    for (int ply = 0; ply < 7 && !position.over(); ++ply) {
      const std::vector<Move> legal = position.LegalMoves();
      position = std::get<Played>(position.Play(legal[opening.Below(legal.size())])).next;
    }
    position = position.Leave(leaver).next;
    if (position.over()) continue;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      SplitMix64 plain(seed);
      const Position end = PlayPlainly(position, plain).end;
      for (InstructionSet set : SetsOfThisMachine()) {
        SplitMix64 random(seed);
        ASSERT_EQ(Playout(position, random, set), end) << InstructionSetName(set) << " seed " << seed;
      }
    }
  }
}

// Leaves by Position alone.
uint64_t PlainPerft(const Position& position, SeatSet passed, int depth, PerftCount count) {
  if (count == PerftCount::kPlies) depth -= __builtin_popcount(passed);
  if (depth <= 0) return 1;
  if (position.over()) return count == PerftCount::kPlies ? 1 : 0;
  uint64_t leaves = 0;
  for (const Move& move : position.LegalMoves()) {
    const Played played = std::get<Played>(position.Play(move));
    leaves += PlainPerft(played.next, played.passed, depth - 1, count);
  }
  return leaves;
}

TEST_P(Kernel, CountsPerftLikePositionToTheEndOfTheGame) {
  const Position start(GetParam().rules);
  SplitMix64 random(11);
  const std::vector<Move> moves = PlayPlainly(start, random).moves;
  // Near the end of games there are passes, placements and finished games to count.
  for (size_t before_end : {moves.size(), size_t{9}, size_t{5}, size_t{3}}) {
    if (before_end > moves.size()) continue;
    const auto reached = Replay(start, std::span(moves).first(moves.size() - before_end));
    const Position position = std::get<Position>(reached);
    const int deepest = before_end == moves.size() ? 3 : 5;
    for (int depth = 0; depth <= deepest; ++depth) {
      for (PerftCount count : {PerftCount::kPlies, PerftCount::kMoves}) {
        const SeatSet passed = position.ply() == 0 ? position.start_passes() : SeatSet{0};
        const uint64_t expected = PlainPerft(position, passed, depth, count);
        for (InstructionSet set : SetsOfThisMachine()) {
          ASSERT_EQ(Perft(position, depth, count, set), expected)
              << InstructionSetName(set) << " depth " << depth << " " << DiagramText(position);
        }
        if (depth == 0 || passed != 0) continue;
        uint64_t sum = 0;
        for (const PerftMove& part : PerftByMove(position, depth, count)) sum += part.leaves;
        ASSERT_EQ(sum, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engine, Kernel, ::testing::ValuesIn(Setups()),
                         [](const ::testing::TestParamInfo<Setup>& setup) {
                           std::string name = setup.param.name;
                           for (char& c : name) {
                             if (c == ' ') c = '_';
                           }
                           return name;
                         });

TEST(Kernel, NamesAnInstructionSetThatThisMachineHas) {
  EXPECT_TRUE(Supported(InstructionSet::kPortable));
  EXPECT_TRUE(Supported(BestInstructionSet()));
  RecordProperty("instruction_set", std::string(InstructionSetName(BestInstructionSet())));
}

}  // namespace
}  // namespace reversi
