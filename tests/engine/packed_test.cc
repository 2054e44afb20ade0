#include "engine/packed.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/notation.h"
#include "tests/engine/golden.h"
#include "tests/engine/side_by_side.h"

namespace reversi {
namespace {

// What Pack says of the position; it must come back whole from exactly these words.
size_t ExpectRoundTrip(const Position& position) {
  std::vector<uint64_t> words(kMostPackedWords);
  const size_t taken = Pack(position, words.data());
  EXPECT_LE(taken, kMostPackedWords);
  words.resize(taken);
  words.shrink_to_fit();
  EXPECT_EQ(Unpack(words.data()), position);
  return taken;
}

TEST(Packed, EveryPositionOfEveryGoldenGameComesBackWhole) {
  for (const twin::GoldenGame& game : twin::GoldenGames()) {
    SCOPED_TRACE(game.id);
    Position position(ToRules(game.rules));
    ExpectRoundTrip(position);
    for (const std::string& text : game.moves) {
      position = std::get<Played>(position.Play(*ParseMove(text))).next;
      ExpectRoundTrip(position);
      if (position.over()) continue;
      for (int seat = 0; seat < position.players(); ++seat) ExpectRoundTrip(position.Leave(seat).next);
    }
  }
}

TEST(Packed, TakesTheWordsThatItsSetsTake) {
  const auto start = [](Variant variant, int players, Board board) {
    RulesRequest request;
    request.variant = variant;
    request.players = players;
    request.board = board;
    return Position(std::get<Rules>(MakeRules(request)));
  };
  EXPECT_EQ(ExpectRoundTrip(start(Variant::kMultiplayer, 4, Board::k8x8)), 2u + 4);
  EXPECT_EQ(ExpectRoundTrip(start(Variant::kMultiplayer, 3, Board::k8x8)), 2u + 3 + 1);
  EXPECT_EQ(ExpectRoundTrip(start(Variant::kStandard, 2, Board::k8x8)), 2u + 2);
  EXPECT_LE(ExpectRoundTrip(start(Variant::kMultiplayer, 4, Board::kOctagon)), 2u + 8);
}

}  // namespace
}  // namespace reversi
