#include "engine/notation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reversi {
namespace {

using ::testing::ElementsAre;

TEST(ParseMove, TakesEverySquareThatItWrites) {
  for (uint8_t row = 0; row < 10; ++row) {
    for (uint8_t col = 0; col < 10; ++col) {
      const Move move{Move::Kind::kPlace, {row, col}, 0};
      EXPECT_EQ(ParseMove(MoveText(move)), move);
    }
  }
}

TEST(ParseMove, TakesEveryChoiceOfRowsThatItWrites) {
  for (int rows = 1; rows < 256; ++rows) {
    const Move move{Move::Kind::kPlaceRows, {2, 3}, static_cast<RowMask>(rows)};
    EXPECT_EQ(ParseMove(MoveText(move)), move);
  }
}

TEST(ParseMove, PutsRowsInTheOrderOfTheDirections) {
  const auto move = ParseMove("d3:nw,w,sw,s,se,e,ne,n");
  ASSERT_TRUE(move);
  EXPECT_EQ(MoveText(*move), "d3:n,ne,e,se,s,sw,w,nw");
  EXPECT_EQ(MoveText(*ParseMove("jack")), "jack");
}

TEST(ParseMove, RefusesWhatIsNoMoveOfAnyVariant) {
  for (const char* text :
       {"", "d", "3", "D3", "d03", "d0", "d11", "d100", "k1", " d3", "d3 ", "d3\n", "d3:", "d3:n,", "d3:,n", "d3:n,n",
        "d3:N", "d3:x", "d3:n ne", "d3: n", "d3:n:e", ":n", "Jack", "jack:n", "JACK", "pass", "--", "d3d4"}) {
    EXPECT_FALSE(ParseMove(text)) << '"' << text << '"';
  }
  EXPECT_FALSE(ParseMove(std::string_view("d3\0", 3)));
  EXPECT_FALSE(ParseMove("d3:" + std::string(1 << 20, 'n')));
}

std::vector<std::string> Texts(std::string_view transcript) {
  const auto parsed = ParseTranscript(transcript);
  if (const auto* error = std::get_if<TranscriptError>(&parsed)) return {"error at " + std::to_string(error->offset)};
  std::vector<std::string> texts;
  for (const Move& move : std::get<std::vector<Move>>(parsed)) texts.push_back(MoveText(move));
  return texts;
}

TEST(ParseTranscript, TakesMovesWithAndWithoutSpacesAndInEitherCase) {
  EXPECT_THAT(Texts("f5d6c3"), ElementsAre("f5", "d6", "c3"));
  EXPECT_THAT(Texts(" F5 d6\n\tC3 "), ElementsAre("f5", "d6", "c3"));
  EXPECT_THAT(Texts("j10a10a1j1"), ElementsAre("j10", "a10", "a1", "j1"));
  EXPECT_THAT(Texts("d4 d3:ne,n JACK c3"), ElementsAre("d4", "d3:n,ne", "jack", "c3"));
  EXPECT_THAT(Texts(""), ElementsAre());
}

TEST(ParseTranscript, DropsPasses) {
  EXPECT_THAT(Texts("f5 pass d6 PA c3 -- e6"), ElementsAre("f5", "d6", "c3", "e6"));
  EXPECT_THAT(Texts("f5PAd6--c3passPASS"), ElementsAre("f5", "d6", "c3"));
}

TEST(ParseTranscript, SaysWhereItIsWrong) {
  EXPECT_THAT(Texts("f5d6x3"), ElementsAre("error at 4"));
  EXPECT_THAT(Texts("f5 d"), ElementsAre("error at 3"));
  EXPECT_THAT(Texts("f5 d3:n,n"), ElementsAre("error at 3"));
  EXPECT_THAT(Texts("f5-d6"), ElementsAre("error at 2"));
}

TEST(TranscriptText, IsReadBackAsItWas) {
  for (const char* text : {"f5d6c3", "", "j10a10a1", "d4 d3:n,ne jack c3"}) {
    EXPECT_EQ(TranscriptText(std::get<std::vector<Move>>(ParseTranscript(text))), text);
  }
}

TEST(ParseDiagram, ReadsBackWhatDiagramTextWrites) {
  const Rules rules = std::get<Rules>(MakeRules({.players = 3, .board = Board::kOctagon, .blocked_squares = {"c1"}}));
  const Position start(rules);
  const auto read = ParseDiagram(rules, DiagramText(start), Color::kBlack);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, start);
}

TEST(ParseDiagram, RefusesWhatIsNoDiagramOfTheBoard) {
  const Rules rules = std::get<Rules>(MakeRules({.players = 3}));
  const std::string good = DiagramText(Position(rules));
  const auto with = [&](size_t at, char c) {
    std::string text = good;
    text[at] = c;
    return ParseDiagram(rules, text, Color::kBlack).has_value();
  };
  EXPECT_TRUE(with(0, 'R'));
  EXPECT_FALSE(with(0, 'G')) << "a colour that does not play";
  EXPECT_FALSE(with(0, '#')) << "a square that the rules do not block";
  EXPECT_FALSE(with(0, ' ')) << "a hole where there is none";
  EXPECT_FALSE(with(8, '-')) << "no end of a row";
  EXPECT_FALSE(ParseDiagram(rules, good + "/", Color::kBlack));
  EXPECT_FALSE(ParseDiagram(rules, "", Color::kBlack));
}

TEST(Rows, ShowDiscsHolesAndBlockedSquares) {
  const Rules octagon = std::get<Rules>(MakeRules({.players = 3, .board = Board::kOctagon, .blocked_squares = {"c1"}}));
  EXPECT_THAT(Rows(Position(octagon)),
              ElementsAre("  #-----  ", " -------- ", "----------", "----------", "----BW----", "----NR----",
                          "----------", "----------", " -------- ", "  ------  "));
}

}  // namespace
}  // namespace reversi
