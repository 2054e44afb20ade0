// The slow, obvious twin of the engine: a mailbox of characters, loops over eight directions, and the rules in the
// order in which README.md tells them. It shares no code with the engine, and no representation.
#ifndef REVERSI_TESTS_ENGINE_TWIN_H_
#define REVERSI_TESTS_ENGINE_TWIN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace reversi::twin {

// Effective rules, spelt as in the files of tests/data.
struct TwinRules {
  std::string variant = "multiplayer";  // multiplayer, standard, rolit, royal
  int players = 4;
  std::string board = "8x8";  // 6x6, 8x8, 9x9, 10x10, octagon
  bool fewest = false;
  bool free_opening = false;
  int corner_handicap = 0;
  std::vector<std::string> blocked = {};
  bool sides = false;
};

// Seats are letters in turn order: B W R G U Y.
inline constexpr std::string_view kColours = "BWRGUY";
// "black" … "yellow" for a seat's letter.
std::string ColourName(char colour);
// Clockwise from the top: n ne e se s sw w nw.
inline constexpr std::array<std::string_view, 8> kDirectionNames = {"n", "ne", "e", "se", "s", "sw", "w", "nw"};

// A move: the mailbox index of its square and, in Royal, the directions of the rows to turn (none = all).
struct TwinMove {
  int square = 0;
  std::vector<int> rows;
  bool jack = false;
};

class Twin {
 public:
  explicit Twin(const TwinRules& rules);

  // Whose turn it is; '-' when the game is over.
  char turn() const { return turn_; }
  bool over() const { return turn_ == '-'; }
  int ply() const { return ply_; }
  // Seats that left, in turn order.
  std::string out() const;
  // Seats skipped for want of a move after the last move or leaving, or at the start.
  const std::string& passed() const { return passed_; }
  // Squares turned by the last move, by row, then column.
  std::vector<std::string> flipped() const;
  bool won_by_leaving() const { return won_by_leaving_; }

  // By row, then column; Royal: per square by number of rows, then by the directions' order.
  std::vector<TwinMove> Moves() const;
  std::vector<std::string> LegalMoves() const;
  // Whether the moves there are flip nothing.
  bool Placement() const;
  // Why a move written like this may not be played; "" when it may. The text must be a move of some variant.
  std::string Why(const std::string& text) const;

  void Play(const TwinMove& move);
  void Play(const std::string& text) { Play(Parse(text)); }
  void Leave(char seat);

  // All that makes positions of one game differ, as text.
  std::string State() const;
  // One string a row: '-' empty, letters, 'N' neutral, '#' blocked, ' ' no square.
  std::vector<std::string> Rows() const;
  int Count(char content) const;
  int Discs(char seat) const { return Count(seat); }
  int Neutral() const { return Count('N'); }
  int Empty() const { return Count('-'); }

  // "black" …, "side1", "side2" or "draw". Only when over.
  std::string Outcome() const;
  // World Othello Federation score of Black and White; empty where there is none. Only when over.
  std::vector<double> WofScore() const;

  std::string Text(const TwinMove& move) const;
  TwinMove Parse(const std::string& text) const;
  const TwinRules& rules() const { return *rules_; }
  // Every square of the board, as text, by row, then column.
  std::vector<std::string> Squares() const;

 private:
  enum class Phase { kFreeOpening, kRingOpening, kJackClaim, kNormal };

  void PutStart();
  Phase PhaseOf(char seat) const;
  int SeatIndex(char seat) const { return static_cast<int>(kColours.find(seat)); }
  bool IsOut(char seat) const { return out_[SeatIndex(seat)]; }
  bool IsDisc(int square) const;
  bool Touches(int square) const;
  int CountRow(int square, int direction, char mover) const;
  bool FlipsSomething(int square, char mover) const;
  bool CanFlip(char mover) const;
  bool CanMove(char seat) const;
  bool PlacesWithoutFlip() const { return rules_->variant == "multiplayer" || rules_->variant == "rolit"; }
  bool OneSideLeft() const;
  void PassTurnOnFrom(char seat);
  void FinishIfNobodyMayPlace();
  std::string SquareText(int square) const;
  std::string WhyNotSquare(int square) const;

  std::shared_ptr<const TwinRules> rules_;
  int side_ = 8;
  std::array<char, 144> board_;  // 12 x 12: the board inside a frame of ' '
  std::vector<int> centre_;      // clockwise from the top left; empty in Royal
  std::vector<int> ring_;        // Royal: the eight squares round the Jack
  char turn_ = '-';
  int ply_ = 0;
  std::array<bool, 6> out_ = {};
  std::array<bool, 6> has_set_opening_cube_ = {};
  std::array<bool, 6> has_claimed_jack_ = {};
  bool won_by_leaving_ = false;
  std::string passed_;
  std::vector<int> flipped_;
};

// Leaves after `moves` moves: a pass costs none, a Jack claim is a move, a game over earlier counts none.
uint64_t PerftMoves(const Twin& twin, int moves);
// The convention of the field: a pass is one ply, a game over earlier counts one leaf.
uint64_t PerftPlies(const Twin& twin, int plies);

// Plays random legal moves to the end.
void PlayOut(Twin& twin, std::mt19937_64& random);

}  // namespace reversi::twin

#endif  // REVERSI_TESTS_ENGINE_TWIN_H_
