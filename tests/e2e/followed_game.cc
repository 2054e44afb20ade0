#include "tests/e2e/followed_game.h"

#include <algorithm>

#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

struct Place {
  size_t row = 0, column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// Of "d3", "d3:n,ne" or "jack".
Place PlaceOf(const std::string& move) {
  if (move == "jack") return {4, 4};
  return {static_cast<size_t>(std::atoi(move.c_str() + 1) - 1), static_cast<size_t>(move[0] - 'a')};
}

char* At(std::vector<std::string>& rows, Place place) {
  if (place.row >= rows.size() || place.column >= rows[place.row].size()) return nullptr;
  return &rows[place.row][place.column];
}

uint32_t Count(const std::vector<std::string>& rows, char letter) {
  uint32_t count = 0;
  for (const std::string& row : rows) count += static_cast<uint32_t>(std::count(row.begin(), row.end(), letter));
  return count;
}

}  // namespace

std::vector<std::string> WrongIn(const v1::Position& position, const std::set<v1::Color>& out) {
  std::vector<std::string> wrong;
  std::vector<std::string> rows(position.rows().begin(), position.rows().end());
  for (int i = 0; i < position.discs_size(); ++i) {
    const auto color = static_cast<v1::Color>(i + 1);
    const uint32_t shown = out.count(color) != 0 ? 0 : Count(rows, Letter(color));
    if (position.discs(i) != shown) wrong.push_back(std::string("discs of ") + Letter(color));
  }
  if (position.neutral() != Count(rows, 'N')) wrong.push_back("neutral");
  if (position.empty() != Count(rows, '-')) wrong.push_back("empty");
  Place before;
  for (int i = 0; i < position.legal_moves_size(); ++i) {
    const std::string& move = position.legal_moves(i);
    const Place place = PlaceOf(move);
    const char* square = At(rows, place);
    if (square == nullptr || (move != "jack" && *square != '-'))
      wrong.push_back("legal move on no empty square " + move);
    if (i > 0 && (place < before || move == position.legal_moves(i - 1)))
      wrong.push_back("order of legal moves " + move);
    before = place;
  }
  if ((position.turn() == v1::COLOR_UNSPECIFIED) != (position.legal_moves_size() == 0)) {
    wrong.push_back("turn and legal moves disagree");
  }
  return wrong;
}

void FollowedGame::Begin(const v1::Game& snapshot) {
  begun_ = true;
  version_ = snapshot.version();
  state_ = snapshot.state();
  position_ = snapshot.position();
  rows_.assign(position_.rows().begin(), position_.rows().end());
  for (const v1::Seat& seat : snapshot.seats()) {
    if (seat.out()) out_.insert(seat.color());
  }
}

void FollowedGame::Check(bool right, const std::string& what) {
  if (!right) wrong_.push_back("event " + std::to_string(version_) + ": " + what);
}

std::vector<std::string> FollowedGame::Add(const v1::GameEvent& event) {
  wrong_.clear();
  const bool first = !begun_;
  begun_ = true;
  if (!first) Check(event.version() == version_ + 1, "version " + std::to_string(event.version()));
  version_ = event.version();
  Check(first || state_ != v1::GAME_STATE_FINISHED, "after the end");
  v1::Color from = v1::COLOR_UNSPECIFIED;
  if (first) {
    rows_.assign(event.position().rows().begin(), event.position().rows().end());
    position_ = event.position();
  }
  if (event.has_moved()) {
    from = event.moved().color();
    if (!first) PlayMoved(event);
  } else if (event.has_resigned() || event.has_timed_out()) {
    const v1::Color leaver = event.has_resigned() ? event.resigned().color() : event.timed_out().color();
    if (leaver == position_.turn()) from = leaver;
    Leave(leaver);
  }
  CheckPosition(event, first);
  if (!first) CheckTurn(event, from);
  CheckEnd(event);
  position_ = event.position();
  state_ = event.state();
  return wrong_;
}

void FollowedGame::PlayMoved(const v1::GameEvent& event) {
  const v1::GameEvent::Moved& moved = event.moved();
  const char letter = Letter(moved.color());
  Check(moved.color() == position_.turn(), "moved by who is not on turn");
  Check(std::count(position_.legal_moves().begin(), position_.legal_moves().end(), moved.move()) == 1,
        "move " + moved.move() + " was not among the legal ones");
  Check(position_.placement() == (moved.flipped_size() == 0), "placement, yet flips (or the other way round)");
  Place before;
  for (int i = 0; i < moved.flipped_size(); ++i) {
    const Place place = PlaceOf(moved.flipped(i));
    char* square = At(rows_, place);
    Check(i == 0 || before < place, "order of flipped squares");
    Check(square != nullptr && std::string_view("BWRGUYN").find(*square) != std::string_view::npos &&
              (*square != letter || moved.move() == "jack"),
          "flipped " + moved.flipped(i));
    if (square != nullptr) *square = letter;
    before = place;
  }
  if (moved.move() == "jack") return;
  char* square = At(rows_, PlaceOf(moved.move()));
  Check(square != nullptr && *square == '-', "moved to a square that is not empty");
  if (square != nullptr) *square = letter;
}

void FollowedGame::Leave(v1::Color color) {
  Check(out_.insert(color).second, "a seat left twice");
  for (std::string& row : rows_) std::replace(row.begin(), row.end(), Letter(color), 'N');
}

void FollowedGame::CheckPosition(const v1::GameEvent& event, bool first) {
  const v1::Position& position = event.position();
  const std::vector<std::string> rows(position.rows().begin(), position.rows().end());
  Check(rows == rows_, "rows do not follow from the event: " + Diagram(position));
  for (const std::string& wrong : WrongIn(position, out_)) Check(false, wrong);
  Check(position.ply() == position_.ply() + (!first && event.has_moved() ? 1 : 0), "ply");
  rows_ = rows;
}

// Those passed over are exactly the seats between the one who acted and the one on turn that are not out.
void FollowedGame::CheckTurn(const v1::GameEvent& event, v1::Color from) {
  if (event.state() != v1::GAME_STATE_ACTIVE || from == v1::COLOR_UNSPECIFIED) return;
  const int players = event.position().discs_size();
  std::vector<int> between;
  int color = from;
  for (int i = 0; i < players; ++i) {
    color = color % players + 1;
    if (color == event.position().turn()) break;
    if (out_.count(static_cast<v1::Color>(color)) == 0) between.push_back(color);
  }
  std::vector<int> passed(event.passed().begin(), event.passed().end());
  std::sort(passed.begin(), passed.end());
  std::sort(between.begin(), between.end());
  Check(passed == between, "passed and turn disagree");
  Check(out_.count(event.position().turn()) == 0, "the turn rests on a seat that is out");
}

void FollowedGame::CheckEnd(const v1::GameEvent& event) {
  const v1::Position& position = event.position();
  const bool finished = event.state() == v1::GAME_STATE_FINISHED;
  Check(finished == event.has_result(), "state and result disagree");
  Check(!finished || position.turn() == v1::COLOR_UNSPECIFIED, "a turn after the end");
  Check(finished || position.turn() != v1::COLOR_UNSPECIFIED, "no turn before the end");
  if (!finished) return;
  Check(std::equal(position.discs().begin(), position.discs().end(), event.result().discs().begin(),
                   event.result().discs().end()),
        "discs of the result");
  Check(event.result().neutral() == position.neutral() && event.result().empty() == position.empty(),
        "neutral or empty of the result");
}

}  // namespace reversi::e2e
