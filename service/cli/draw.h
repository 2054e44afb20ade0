// Games as text. Pure: what goes in decides what comes out; no terminal, no clock, no network.
#ifndef REVERSI_SERVICE_CLI_DRAW_H_
#define REVERSI_SERVICE_CLI_DRAW_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::cli {

struct Style {
  bool color = false;              // escape sequences; the letters are there with and without
  std::optional<absl::Time> now;   // shows the time left of a turn with a deadline
};

// The board with columns and rows named, legal moves "+", the last move in brackets; beside it the seats with their
// discs, whose turn it is, the last move and, at the end, the result. Ends with a newline.
std::string DrawGame(const v1::Game& game, const Style& style);

// "multiplayer for 4 on octagon, most discs win". Royal is called a reconstruction.
std::string RulesText(const v1::Rules& rules);

// "5 red d3 turns c3 d4; B 4 W 5 R 6 G 3; passed: green". No newline.
std::string EventLine(const v1::GameEvent& event);

// "0:25" until the turn's deadline; empty when there is none.
std::string TimeLeft(const v1::Game& game, absl::Time now);

// "Red wins with 30 discs".
std::string ResultText(const v1::Result& result);

// One line a variant and what it offers.
std::string VariantsText(const v1::ListVariantsResponse& variants);

// One line a game, as `list` shows it. No newline.
std::string GameLine(const v1::Game& game);

// "1. black d3  2. white c3 …": the moves so far, in lines of a few each; passes in brackets.
std::string MovesText(const v1::Game& game);

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_DRAW_H_
