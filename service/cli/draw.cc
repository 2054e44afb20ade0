#include "service/cli/draw.h"

#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "engine/board.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

constexpr char kLetters[] = "-BWRGUY";

char Letter(v1::Color color) { return color >= 0 && color <= v1::COLOR_YELLOW ? kLetters[color] : '?'; }

// Escape sequence of a disc: text on a background of its colour. Empty for what is no disc.
absl::string_view DiscColors(char disc) {
  switch (disc) {
    case 'B': return "\x1b[1;97;40m";
    case 'W': return "\x1b[1;30;107m";
    case 'R': return "\x1b[1;97;41m";
    case 'G': return "\x1b[1;30;42m";
    case 'U': return "\x1b[1;97;44m";
    case 'Y': return "\x1b[1;30;103m";
    case 'N': return "\x1b[1;30;47m";
  }
  return "";
}
constexpr absl::string_view kLegal = "\x1b[1;36m";
constexpr absl::string_view kFaint = "\x1b[2m";
constexpr absl::string_view kOff = "\x1b[0m";

std::string Painted(absl::string_view colors, absl::string_view text, const Style& style) {
  return style.color && !colors.empty() ? absl::StrCat(colors, text, kOff) : std::string(text);
}

std::string ColorList(const google::protobuf::RepeatedField<int>& colors) {
  return absl::StrJoin(colors, ", ", [](std::string* out, int color) {
    absl::StrAppend(out, Word(static_cast<v1::Color>(color)));
  });
}

// The square a move sets a disc on; "jack" is on e5.
std::string MoveSquare(const std::string& move) {
  return move == "jack" ? "e5" : move.substr(0, move.find(':'));
}

std::string Cell(char square, bool legal, bool last, const Style& style) {
  if (square == '-') return legal ? Painted(kLegal, " + ", style) : Painted(kFaint, " . ", style);
  return Painted(DiscColors(square), last ? absl::StrCat("[", std::string(1, square), "]")
                                          : absl::StrCat(" ", std::string(1, square), " "), style);
}

// One string a row, the line of column letters first; all equally wide on the screen.
std::vector<std::string> BoardLines(const v1::Game& game, const Style& style) {
  const v1::Position& position = game.position();
  std::set<std::string> legal;
  for (const auto& move : position.legal_moves()) legal.insert(MoveSquare(move));
  const std::string last = game.moves().empty() ? "" : MoveSquare(game.moves().rbegin()->move());
  std::vector<std::string> lines = {"   "};
  for (int col = 0; col < position.rows_size(); ++col) lines[0] += absl::StrFormat(" %c ", 'a' + col);
  for (int row = 0; row < position.rows_size(); ++row) {
    std::string line = absl::StrFormat("%2d ", row + 1);
    for (int col = 0; col < static_cast<int>(position.rows(row).size()); ++col) {
      const std::string name = SquareName({static_cast<uint8_t>(row), static_cast<uint8_t>(col)});
      line += Cell(position.rows(row)[static_cast<size_t>(col)], legal.contains(name), name == last, style);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string SeatLine(const v1::Game& game, int seat, const Style& style) {
  const v1::Seat& who = game.seats(seat);
  const std::string letter(1, Letter(who.color()));
  const uint32_t discs = seat < game.position().discs_size() ? game.position().discs(seat) : 0;
  std::string line = absl::StrCat(
      game.position().turn() == who.color() ? "> " : "  ", Painted(DiscColors(letter[0]), letter, style),
      absl::StrFormat(" %-6s %3d", ColorTitle(who.color()), discs));
  if (game.rules().sides()) absl::StrAppend(&line, "  side ", seat % 2 + 1);
  if (!who.display_name().empty()) absl::StrAppend(&line, "  ", who.display_name());
  if (who.kind() == v1::SEAT_KIND_OPEN) line += "  (open)";
  if (who.out()) line += "  (out)";
  return line;
}

std::string Clock(absl::Duration left) {
  const int64_t seconds = std::max<int64_t>(0, absl::ToInt64Seconds(left));
  return seconds >= 3600 ? absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60)
                         : absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
}

absl::Time ToTime(const google::protobuf::Timestamp& time) {
  return absl::FromUnixSeconds(time.seconds()) + absl::Nanoseconds(time.nanos());
}

std::string TurnLine(const v1::Game& game) {
  const v1::Position& position = game.position();
  if (game.state() == v1::GAME_STATE_WAITING) return "Waiting for open seats to be joined";
  const int moves = position.legal_moves_size();
  std::string line = absl::StrFormat("%s to move: %d legal %s (+)", ColorTitle(position.turn()), moves,
                                     moves == 1 ? "move" : "moves");
  if (moves == 1 && position.legal_moves(0) == "jack") {
    return absl::StrCat(ColorTitle(position.turn()), " to move: may claim the Jack, e5 (jack)");
  }
  if (position.placement()) line += ", none flips";
  return line;
}

std::vector<std::string> PanelLines(const v1::Game& game, const Style& style) {
  const v1::Position& position = game.position();
  std::vector<std::string> lines;
  for (int seat = 0; seat < game.seats_size(); ++seat) lines.push_back(SeatLine(game, seat, style));
  if (position.neutral() > 0) {
    lines.push_back(absl::StrCat("  ", Painted(DiscColors('N'), "N", style),
                                 absl::StrFormat(" neutral%3d", position.neutral())));
  }
  lines.push_back(absl::StrFormat("    empty  %3d", position.empty()));
  if (!game.moves().empty()) {
    const v1::PlayedMove& last = *game.moves().rbegin();
    std::string line = absl::StrFormat("Move %d: %s %s", game.moves_size(), Word(last.color()), last.move());
    if (!last.passed().empty()) absl::StrAppend(&line, ", passed: ", ColorList(last.passed()));
    lines.push_back(std::move(line));
  }
  if (game.has_result()) {
    lines.push_back(ResultText(game.result()));
    return lines;
  }
  lines.push_back(TurnLine(game));
  if (style.now && game.has_turn_deadline()) {
    lines.push_back(absl::StrCat("Time left: ", TimeLeft(game, *style.now)));
  }
  return lines;
}

}  // namespace

std::string RulesText(const v1::Rules& rules) {
  std::string text = absl::StrCat(Word(rules.variant()),
                                  rules.variant() == v1::VARIANT_ROYAL ? " (a reconstruction)" : "", " for ",
                                  rules.players(), " on ", Word(rules.board()), ", ",
                                  rules.objective() == v1::OBJECTIVE_FEWEST_DISCS ? "fewest" : "most", " discs win");
  if (rules.free_opening()) text += ", free opening";
  if (rules.corner_handicap() > 0) absl::StrAppend(&text, ", corner handicap ", rules.corner_handicap());
  if (rules.blocked_squares_size() > 0) {
    absl::StrAppend(&text, ", blocked: ", absl::StrJoin(rules.blocked_squares(), " "));
  }
  if (rules.sides()) text += ", two sides";
  return text;
}

std::string TimeLeft(const v1::Game& game, absl::Time now) {
  return game.has_turn_deadline() ? Clock(ToTime(game.turn_deadline()) - now) : "";
}

std::string DrawGame(const v1::Game& game, const Style& style) {
  std::string text = absl::StrCat("Game ", game.game_id(), ", version ", game.version(), ": ",
                                  RulesText(game.rules()), "\n\n");
  const std::vector<std::string> board = BoardLines(game, style);
  const std::vector<std::string> panel = PanelLines(game, style);
  const std::string blank(static_cast<size_t>(3 + 3 * game.position().rows_size()), ' ');
  // The panel starts beside the first row, below the column letters.
  for (size_t i = 0; i < std::max(board.size(), panel.size() + 1); ++i) {
    std::string line = i < board.size() ? board[i] : blank;
    if (i > 0 && i <= panel.size()) absl::StrAppend(&line, "   ", panel[i - 1]);
    absl::StripTrailingAsciiWhitespace(&line);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

namespace {

std::string WhatText(const v1::GameEvent& event) {
  switch (event.what_case()) {
    case v1::GameEvent::kCreated: return "created";
    case v1::GameEvent::kJoined:
      return absl::StrCat(Word(event.joined().color()), " joined",
                          event.joined().display_name().empty() ? "" : ": ", event.joined().display_name());
    case v1::GameEvent::kMoved: {
      const auto& moved = event.moved();
      return absl::StrCat(Word(moved.color()), " ", moved.move(), moved.on_timeout() ? " (time ran out)" : "",
                          moved.flipped().empty() ? " turns nothing"
                                                  : absl::StrCat(" turns ", absl::StrJoin(moved.flipped(), " ")));
    }
    case v1::GameEvent::kResigned: return absl::StrCat(Word(event.resigned().color()), " resigned");
    case v1::GameEvent::kTimedOut: return absl::StrCat(Word(event.timed_out().color()), " ran out of time and is out");
    case v1::GameEvent::kAborted: return "aborted by its owner";
    case v1::GameEvent::kExpired: return "expired";
    case v1::GameEvent::WHAT_NOT_SET: return "something this client does not know";
  }
  return "";
}

}  // namespace

std::string EventLine(const v1::GameEvent& event) {
  std::string line = absl::StrFormat("%3d  %s", event.version(), WhatText(event));
  std::vector<std::string> counts;
  for (int seat = 0; seat < event.position().discs_size(); ++seat) {
    counts.push_back(absl::StrFormat("%c %d", Letter(static_cast<v1::Color>(seat + 1)), event.position().discs(seat)));
  }
  if (!counts.empty()) absl::StrAppend(&line, "; ", absl::StrJoin(counts, " "));
  if (!event.passed().empty()) absl::StrAppend(&line, "; passed: ", ColorList(event.passed()));
  if (event.has_result()) absl::StrAppend(&line, "; ", ResultText(event.result()));
  return line;
}

std::string ResultText(const v1::Result& result) {
  std::string text;
  switch (result.outcome_case()) {
    case v1::Result::kWinner: {
      const int seat = result.winner() - 1;
      text = absl::StrCat(ColorTitle(result.winner()), " wins");
      if (seat >= 0 && seat < result.discs_size()) absl::StrAppend(&text, " with ", result.discs(seat), " discs");
      break;
    }
    case v1::Result::kWinningSide: {
      uint32_t discs = 0;
      for (int seat = static_cast<int>(result.winning_side()) - 1; seat >= 0 && seat < result.discs_size(); seat += 2) {
        discs += result.discs(seat);
      }
      text = absl::StrCat("Side ", result.winning_side(), " wins with ", discs, " discs");
      break;
    }
    case v1::Result::kDraw: text = "A draw for the whole table"; break;
    case v1::Result::OUTCOME_NOT_SET: text = "Nobody wins"; break;
  }
  if (result.reason() != v1::RESULT_REASON_COMPLETED) absl::StrAppend(&text, " (", Word(result.reason()), ")");
  if (result.wof_score_size() > 0) {
    absl::StrAppend(&text, ", Othello Federation score ", absl::StrJoin(result.wof_score(), " - "));
  }
  return text;
}

std::string VariantsText(const v1::ListVariantsResponse& variants) {
  std::string text;
  for (const auto& variant : variants.variants()) {
    const auto boards = [](const google::protobuf::RepeatedField<int>& list) {
      return absl::StrJoin(list, ", ", [](std::string* out, int board) {
        absl::StrAppend(out, Word(static_cast<v1::Board>(board)));
      });
    };
    absl::StrAppend(&text, Word(variant.variant()), "  ", variant.description(), "\n  players ",
                    absl::StrJoin(variant.player_counts(), ", "), " (", variant.defaults().players(),
                    " unless told otherwise)\n  boards ", boards(variant.boards()), " (",
                    Word(variant.defaults().board()), " unless told otherwise)\n");
    std::vector<std::string> options;
    for (int objective : variant.objectives()) {
      if (objective == v1::OBJECTIVE_FEWEST_DISCS) options.push_back("fewest discs win");
    }
    if (variant.blocked_squares()) options.push_back("blocked squares");
    if (variant.free_opening()) options.push_back("free opening");
    if (variant.max_corner_handicap() > 0) {
      options.push_back(absl::StrCat("corner handicap up to ", variant.max_corner_handicap(), " (",
                                     boards(variant.corner_handicap_boards()), ")"));
    }
    if (variant.sides_player_counts_size() > 0) {
      options.push_back(absl::StrCat("two sides with ", absl::StrJoin(variant.sides_player_counts(), " or "),
                                     " players"));
    }
    absl::StrAppend(&text, "  options ", options.empty() ? "none" : absl::StrJoin(options, "; "), "\n");
  }
  return text;
}

std::string GameLine(const v1::Game& game) {
  std::string line = absl::StrFormat("%-20s  %-8s  ply %-3d  %s", game.game_id(), Word(game.state()),
                                     game.position().ply(), RulesText(game.rules()));
  if (game.has_result()) {
    absl::StrAppend(&line, "; ", ResultText(game.result()));
  } else if (game.state() == v1::GAME_STATE_WAITING) {
    std::vector<std::string> open;
    for (const auto& seat : game.seats()) {
      if (seat.kind() == v1::SEAT_KIND_OPEN) open.push_back(Word(seat.color()));
    }
    absl::StrAppend(&line, "; open: ", absl::StrJoin(open, ", "));
  } else {
    absl::StrAppend(&line, "; ", Word(game.position().turn()), " to move");
  }
  return line;
}

std::string MovesText(const v1::Game& game) {
  constexpr int kInLine = 6;
  std::string text;
  for (int i = 0; i < game.moves_size(); ++i) {
    const v1::PlayedMove& move = game.moves(i);
    absl::StrAppend(&text, i % kInLine == 0 ? (i == 0 ? "" : "\n") : "  ", i + 1, ". ", Word(move.color()), " ",
                    move.move());
    if (!move.passed().empty()) absl::StrAppend(&text, " (passed: ", ColorList(move.passed()), ")");
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace reversi::cli
