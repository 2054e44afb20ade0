// Words of the public API as letters and lines, and the golden data in the API's terms.
#ifndef REVERSI_TESTS_E2E_WIRE_WORDS_H_
#define REVERSI_TESTS_E2E_WIRE_WORDS_H_

#include <string>

#include "reversi/v1/reversi.pb.h"
#include "tests/engine/twin.h"

namespace reversi::e2e {

// 'B' for COLOR_BLACK, …, '-' for none.
char Letter(v1::Color color);
// The colour of "white"; unspecified for anything else.
v1::Color ColorNamed(const std::string& name);
// Rows joined by '/', as the diagrams of tests/data are written.
std::string Diagram(const v1::Position& position);
v1::Rules ToRules(const twin::TwinRules& rules);
// "black" … "yellow", "side1", "side2", "draw", "nobody".
std::string Winner(const v1::Result& result);
// An event in a few words: "moved W d3", "joined R", "created".
std::string InWords(const v1::GameEvent& event);
// The state that a game, or an event, shows, told apart from any other of the game's that a move or an end made.
std::string StateInWords(const v1::Game& game);
std::string StateInWords(const v1::GameEvent& event);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_WIRE_WORDS_H_
