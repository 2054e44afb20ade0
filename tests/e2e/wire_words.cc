#include "tests/e2e/wire_words.h"

#include <map>

namespace reversi::e2e {
namespace {

std::string StateInWords(v1::GameState state, const v1::Position& position) {
  std::string words = v1::GameState_Name(state) + " ply " + std::to_string(position.ply()) + " " + Diagram(position);
  for (const std::string& move : position.legal_moves()) words += " " + move;
  return words;
}

}  // namespace

char Letter(v1::Color color) { return "-BWRGUY"[color]; }

v1::Color ColorNamed(const std::string& name) {
  for (int color = v1::COLOR_BLACK; color <= v1::COLOR_YELLOW; ++color) {
    if (twin::ColourName(Letter(static_cast<v1::Color>(color))) == name) return static_cast<v1::Color>(color);
  }
  return v1::COLOR_UNSPECIFIED;
}

std::string Diagram(const v1::Position& position) {
  std::string diagram;
  for (const std::string& row : position.rows()) diagram += (diagram.empty() ? "" : "/") + row;
  return diagram;
}

v1::Rules ToRules(const twin::TwinRules& rules) {
  static const std::map<std::string, v1::Variant> variants = {{"multiplayer", v1::VARIANT_MULTIPLAYER},
                                                              {"standard", v1::VARIANT_STANDARD},
                                                              {"rolit", v1::VARIANT_ROLIT},
                                                              {"royal", v1::VARIANT_ROYAL}};
  static const std::map<std::string, v1::Board> boards = {{"6x6", v1::BOARD_6X6},
                                                          {"8x8", v1::BOARD_8X8},
                                                          {"9x9", v1::BOARD_9X9},
                                                          {"10x10", v1::BOARD_10X10},
                                                          {"octagon", v1::BOARD_OCTAGON}};
  v1::Rules wire;
  wire.set_variant(variants.at(rules.variant));
  wire.set_players(static_cast<uint32_t>(rules.players));
  wire.set_board(boards.at(rules.board));
  wire.set_objective(rules.fewest ? v1::OBJECTIVE_FEWEST_DISCS : v1::OBJECTIVE_MOST_DISCS);
  wire.set_free_opening(rules.free_opening);
  wire.set_corner_handicap(static_cast<uint32_t>(rules.corner_handicap));
  for (const std::string& square : rules.blocked) wire.add_blocked_squares(square);
  wire.set_sides(rules.sides);
  return wire;
}

std::string Winner(const v1::Result& result) {
  switch (result.outcome_case()) {
    case v1::Result::kWinner:
      return twin::ColourName(Letter(result.winner()));
    case v1::Result::kWinningSide:
      return "side" + std::to_string(result.winning_side());
    case v1::Result::kDraw:
      return result.draw() ? "draw" : "a draw that is none";
    case v1::Result::OUTCOME_NOT_SET:
      return "nobody";
  }
  return "?";
}

std::string InWords(const v1::GameEvent& event) {
  switch (event.what_case()) {
    case v1::GameEvent::kCreated:
      return "created";
    case v1::GameEvent::kJoined:
      return std::string("joined ") + Letter(event.joined().color());
    case v1::GameEvent::kMoved:
      return std::string("moved ") + Letter(event.moved().color()) + " " + event.moved().move();
    case v1::GameEvent::kResigned:
      return std::string("resigned ") + Letter(event.resigned().color());
    case v1::GameEvent::kTimedOut:
      return std::string("timed out ") + Letter(event.timed_out().color());
    case v1::GameEvent::kAborted:
      return "aborted";
    case v1::GameEvent::kExpired:
      return "expired";
    case v1::GameEvent::WHAT_NOT_SET:
      return "nothing";
  }
  return "?";
}

std::string StateInWords(const v1::Game& game) { return StateInWords(game.state(), game.position()); }

std::string StateInWords(const v1::GameEvent& event) { return StateInWords(event.state(), event.position()); }

}  // namespace reversi::e2e
