#include "tests/engine/twin.h"

#include <algorithm>
#include <stdexcept>

namespace reversi::twin {
namespace {

constexpr int kWidth = 12;
// n ne e se s sw w nw.
constexpr std::array<int, 8> kSteps = {-kWidth, -kWidth + 1, 1, kWidth + 1, kWidth, kWidth - 1, -1, -kWidth - 1};

int At(int row, int column) { return (row + 1) * kWidth + column + 1; }

bool IsOctagonHole(int row, int column) {
  return std::min(row, 9 - row) + std::min(column, 9 - column) < 2;
}

// All choices of `count` out of `rows`, in the order of the rows.
void Choose(const std::vector<int>& rows, size_t from, size_t count, std::vector<int>& chosen,
            std::vector<std::vector<int>>& result) {
  if (count == 0) {
    result.push_back(chosen);
    return;
  }
  for (size_t next = from; next < rows.size(); ++next) {
    chosen.push_back(rows[next]);
    Choose(rows, next + 1, count - 1, chosen, result);
    chosen.pop_back();
  }
}

}  // namespace

std::string ColourName(char colour) {
  constexpr std::array<const char*, 6> kNames = {"black", "white", "red", "green", "blue", "yellow"};
  const size_t seat = kColours.find(colour);
  return seat == std::string_view::npos ? "none" : kNames[seat];
}

// ---- The start

Twin::Twin(const TwinRules& rules) : rules_(std::make_shared<TwinRules>(rules)) {
  board_.fill(' ');
  side_ = rules.board == "6x6" ? 6 : rules.board == "8x8" ? 8 : rules.board == "9x9" ? 9 : 10;
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      if (rules.board == "octagon" && IsOctagonHole(row, column)) continue;
      board_[At(row, column)] = '-';
    }
  }
  PutStart();
  for (const std::string& square : rules.blocked) board_[Parse(square).square] = '#';
  PassTurnOnFrom(kColours[rules.players - 1]);
  FinishIfNobodyMayPlace();
}

void Twin::PutStart() {
  if (rules_->variant == "royal") {
    const int jack = At(4, 4);
    board_[jack] = 'N';
    for (int step : kSteps) ring_.push_back(jack + step);
    return;
  }
  const int low = side_ / 2 - 1;
  const int high = side_ / 2;
  centre_ = {At(low, low), At(low, high), At(high, high), At(high, low)};
  if (rules_->variant == "standard") {
    if (rules_->free_opening) return;
    const std::string crosswise = "WBWB";
    for (int i = 0; i < 4; ++i) board_[centre_[i]] = crosswise[i];
    const std::array<int, 4> corners = {At(0, 0), At(side_ - 1, side_ - 1), At(0, side_ - 1), At(side_ - 1, 0)};
    for (int i = 0; i < rules_->corner_handicap; ++i) board_[corners[i]] = 'B';
    return;
  }
  // One disc of each of the four colours, clockwise; the colours nobody plays are neutral.
  for (int i = 0; i < 4; ++i) board_[centre_[i]] = i < rules_->players ? kColours[i] : 'N';
}

// ---- Looking at the board

bool Twin::IsDisc(int square) const {
  return board_[square] != '-' && board_[square] != '#' && board_[square] != ' ';
}

bool Twin::Touches(int square) const {
  for (int step : kSteps) {
    if (IsDisc(square + step)) return true;
  }
  return false;
}

// The discs that a new disc of the mover's would outflank in this direction: a run of discs that are not the mover's,
// directly followed by one that is.
int Twin::CountRow(int square, int direction, char mover) const {
  const int step = kSteps[direction];
  int length = 0;
  int next = square + step;
  while (IsDisc(next) && board_[next] != mover) {
    ++length;
    next += step;
  }
  return board_[next] == mover ? length : 0;
}

bool Twin::FlipsSomething(int square, char mover) const {
  for (int direction = 0; direction < 8; ++direction) {
    if (CountRow(square, direction, mover) > 0) return true;
  }
  return false;
}

bool Twin::CanFlip(char mover) const {
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      const int square = At(row, column);
      if (board_[square] == '-' && FlipsSomething(square, mover)) return true;
    }
  }
  return false;
}

int Twin::Count(char content) const {
  int count = 0;
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      if (board_[At(row, column)] == content) ++count;
    }
  }
  return count;
}

std::vector<std::string> Twin::Rows() const {
  std::vector<std::string> rows;
  for (int row = 0; row < side_; ++row) {
    rows.emplace_back();
    for (int column = 0; column < side_; ++column) rows.back() += board_[At(row, column)];
  }
  return rows;
}

std::string Twin::State() const {
  std::string state;
  for (const std::string& row : Rows()) state += row + "/";
  state += std::string(" turn ") + turn_ + " out " + out() + (won_by_leaving_ ? " won by leaving" : "");
  for (int seat = 0; seat < rules_->players; ++seat) {
    state += has_set_opening_cube_[seat] ? " set" : "";
    state += has_claimed_jack_[seat] ? " claimed" : "";
    state += ",";
  }
  return state;
}

std::vector<std::string> Twin::Squares() const {
  std::vector<std::string> squares;
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      if (board_[At(row, column)] != ' ') squares.push_back(SquareText(At(row, column)));
    }
  }
  return squares;
}

// ---- What may be played

Twin::Phase Twin::PhaseOf(char seat) const {
  if (rules_->free_opening && ply_ < 4) return Phase::kFreeOpening;
  if (rules_->variant == "royal") {
    if (!has_set_opening_cube_[SeatIndex(seat)]) return Phase::kRingOpening;
    if (Count(seat) == 0 && !has_claimed_jack_[SeatIndex(seat)]) return Phase::kJackClaim;
  }
  return Phase::kNormal;
}

std::vector<TwinMove> Twin::Moves() const {
  std::vector<TwinMove> moves;
  if (over()) return moves;
  const Phase phase = PhaseOf(turn_);
  if (phase == Phase::kJackClaim) {
    moves.push_back({At(4, 4), {}, true});
    return moves;
  }
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      const int square = At(row, column);
      if (board_[square] != '-') continue;
      if (phase == Phase::kFreeOpening || phase == Phase::kRingOpening) {
        const std::vector<int>& allowed = phase == Phase::kFreeOpening ? centre_ : ring_;
        if (std::find(allowed.begin(), allowed.end(), square) != allowed.end()) moves.push_back({square, {}, false});
      } else if (rules_->variant == "royal") {
        std::vector<int> rows;
        for (int direction = 0; direction < 8; ++direction) {
          if (CountRow(square, direction, turn_) > 0) rows.push_back(direction);
        }
        std::vector<std::vector<int>> choices;
        std::vector<int> chosen;
        for (size_t count = 1; count <= rows.size(); ++count) Choose(rows, 0, count, chosen, choices);
        for (const std::vector<int>& choice : choices) moves.push_back({square, choice, false});
      } else if (FlipsSomething(square, turn_)) {
        moves.push_back({square, {}, false});
      }
    }
  }
  if (!moves.empty() || !PlacesWithoutFlip()) return moves;
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      const int square = At(row, column);
      if (board_[square] == '-' && Touches(square)) moves.push_back({square, {}, false});
    }
  }
  return moves;
}

std::vector<std::string> Twin::LegalMoves() const {
  std::vector<std::string> texts;
  for (const TwinMove& move : Moves()) texts.push_back(Text(move));
  return texts;
}

bool Twin::Placement() const {
  if (over()) return false;
  switch (PhaseOf(turn_)) {
    case Phase::kFreeOpening:
    case Phase::kRingOpening: return true;
    case Phase::kJackClaim: return false;
    case Phase::kNormal: break;
  }
  return PlacesWithoutFlip() && !CanFlip(turn_);
}

std::string Twin::WhyNotSquare(int square) const {
  switch (board_[square]) {
    case ' ': return "off_board";
    case '#': return "blocked";
    case '-': return "";
    default: return "occupied";
  }
}

std::string Twin::Why(const std::string& text) const {
  if (over()) return "game_over";
  const Phase phase = PhaseOf(turn_);
  if (text == "jack") return phase == Phase::kJackClaim ? "" : "no_jack";
  const TwinMove move = Parse(text);
  if (const std::string why = WhyNotSquare(move.square); !why.empty()) return why;
  const int square = move.square;
  if (!move.rows.empty()) {
    if (rules_->variant != "royal" || phase == Phase::kRingOpening) return "not_outflanked";
    for (int direction : move.rows) {
      if (CountRow(square, direction, turn_) == 0) return "not_outflanked";
    }
    return "";
  }
  if (phase == Phase::kFreeOpening) {
    return std::find(centre_.begin(), centre_.end(), square) != centre_.end() ? "" : "not_centre";
  }
  if (phase == Phase::kRingOpening) {
    return std::find(ring_.begin(), ring_.end(), square) != ring_.end() ? "" : "not_ring";
  }
  if (FlipsSomething(square, turn_)) return "";
  if (!PlacesWithoutFlip() || CanFlip(turn_)) return "flips_nothing";
  return Touches(square) ? "" : "touches_nothing";
}

// ---- Playing

void Twin::Play(const TwinMove& move) {
  const Phase phase = PhaseOf(turn_);
  const char mover = turn_;
  flipped_.clear();
  if (phase == Phase::kJackClaim) {
    has_claimed_jack_[SeatIndex(mover)] = true;
    flipped_.push_back(move.square);
  } else if (phase == Phase::kNormal) {
    for (int direction = 0; direction < 8; ++direction) {
      const bool wanted =
          move.rows.empty() || std::find(move.rows.begin(), move.rows.end(), direction) != move.rows.end();
      const int length = wanted ? CountRow(move.square, direction, mover) : 0;
      for (int k = 1; k <= length; ++k) flipped_.push_back(move.square + k * kSteps[direction]);
    }
  }
  if (phase == Phase::kRingOpening) has_set_opening_cube_[SeatIndex(mover)] = true;
  for (int square : flipped_) board_[square] = mover;
  board_[move.square] = mover;
  ++ply_;
  PassTurnOnFrom(mover);
  FinishIfNobodyMayPlace();
}

void Twin::Leave(char seat) {
  out_[SeatIndex(seat)] = true;
  flipped_.clear();
  passed_.clear();
  for (char& content : board_) {
    if (content == seat) content = 'N';
  }
  if (OneSideLeft()) {
    won_by_leaving_ = true;
    turn_ = '-';
    return;
  }
  if (turn_ == seat) PassTurnOnFrom(seat);
}

bool Twin::CanMove(char seat) const {
  if (PhaseOf(seat) != Phase::kNormal) return true;
  if (PlacesWithoutFlip()) return true;  // unless nobody may: FinishIfNobodyMayPlace
  return CanFlip(seat);
}

// The next seat that is in the game and can move; those that cannot are noted. Over when there is none.
void Twin::PassTurnOnFrom(char seat) {
  passed_.clear();
  for (int k = 1; k <= rules_->players; ++k) {
    const char next = kColours[(SeatIndex(seat) + k) % rules_->players];
    if (IsOut(next)) continue;
    if (CanMove(next)) {
      turn_ = next;
      return;
    }
    passed_ += next;
  }
  turn_ = '-';
  passed_.clear();
}

// Where nobody passes, the game lasts as long as an empty square touches a disc.
void Twin::FinishIfNobodyMayPlace() {
  if (!PlacesWithoutFlip()) return;
  for (int row = 0; row < side_; ++row) {
    for (int column = 0; column < side_; ++column) {
      if (board_[At(row, column)] == '-' && Touches(At(row, column))) return;
    }
  }
  turn_ = '-';
}

std::string Twin::out() const {
  std::string out;
  for (int seat = 0; seat < rules_->players; ++seat) {
    if (out_[seat]) out += kColours[seat];
  }
  return out;
}

std::vector<std::string> Twin::flipped() const {
  std::vector<int> sorted = flipped_;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> squares;
  for (int square : sorted) squares.push_back(SquareText(square));
  return squares;
}

// ---- The result

bool Twin::OneSideLeft() const {
  if (rules_->sides) {
    std::array<bool, 2> left = {};
    for (int seat = 0; seat < rules_->players; ++seat) {
      if (!out_[seat]) left[seat % 2] = true;
    }
    return !left[0] || !left[1];
  }
  return static_cast<int>(out().size()) == rules_->players - 1;
}

std::string Twin::Outcome() const {
  if (rules_->sides) {
    std::array<int, 2> count = {};
    std::array<bool, 2> left = {};
    for (int seat = 0; seat < rules_->players; ++seat) {
      if (out_[seat]) continue;
      count[seat % 2] += Count(kColours[seat]);
      left[seat % 2] = true;
    }
    if (!left[1] || count[0] > count[1]) return "side1";
    if (!left[0] || count[1] > count[0]) return "side2";
    return "draw";
  }
  std::string leaders;
  for (char seat : kColours.substr(0, rules_->players)) {
    if (IsOut(seat)) continue;
    if (!leaders.empty()) {
      const int best = Count(leaders[0]);
      const int mine = Count(seat);
      if (rules_->fewest ? mine > best : mine < best) continue;
      if (mine != best) leaders.clear();
    }
    leaders += seat;
  }
  return leaders.size() == 1 ? ColourName(leaders[0]) : "draw";
}

std::vector<double> Twin::WofScore() const {
  if (rules_->variant != "standard" || rules_->fewest || won_by_leaving_) return {};
  double black = Count('B');
  double white = Count('W');
  if (black > white) {
    black += Empty();
  } else if (white > black) {
    white += Empty();
  } else {
    black += Empty() / 2.0;
    white += Empty() / 2.0;
  }
  return {black, white};
}

// ---- Text

std::string Twin::SquareText(int square) const {
  const int row = square / kWidth - 1;
  const int column = square % kWidth - 1;
  return static_cast<char>('a' + column) + std::to_string(row + 1);
}

std::string Twin::Text(const TwinMove& move) const {
  if (move.jack) return "jack";
  std::string text = SquareText(move.square);
  for (size_t i = 0; i < move.rows.size(); ++i) {
    text += i == 0 ? ":" : ",";
    text += kDirectionNames[move.rows[i]];
  }
  return text;
}

TwinMove Twin::Parse(const std::string& text) const {
  if (text == "jack") return {At(4, 4), {}, true};
  const size_t colon = text.find(':');
  const int column = text.at(0) - 'a';
  const int row = std::stoi(text.substr(1, colon == std::string::npos ? colon : colon - 1)) - 1;
  TwinMove move{At(row, column), {}, false};
  size_t begin = colon;
  while (begin != std::string::npos) {
    const size_t end = text.find(',', begin + 1);
    const std::string name = text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
    const auto found = std::find(kDirectionNames.begin(), kDirectionNames.end(), name);
    if (found == kDirectionNames.end()) throw std::invalid_argument("no direction: " + text);
    move.rows.push_back(static_cast<int>(found - kDirectionNames.begin()));
    begin = end;
  }
  std::sort(move.rows.begin(), move.rows.end());
  return move;
}

}  // namespace reversi::twin
