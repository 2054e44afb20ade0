#include "engine/rules.h"

#include <algorithm>
#include <array>

#include "engine/blocked.h"

namespace reversi {
namespace {

constexpr Board kMultiplayerBoards[] = {Board::k8x8, Board::k10x10, Board::kOctagon};
constexpr Board kStandardBoards[] = {Board::k8x8, Board::k6x6, Board::k10x10, Board::kOctagon};
constexpr Board kRolitBoards[] = {Board::k8x8};
constexpr Board kRoyalBoards[] = {Board::k9x9};
constexpr int kRoyalSides[] = {4, 6};

constexpr std::array<VariantSpec, 4> kVariants = {{
    {.variant = Variant::kMultiplayer,
     .name = "multiplayer",
     .description = "Reversi for three or four players, each for themselves. Who cannot flip a disc places one beside "
                    "any other; nobody passes.",
     .min_players = 3, .max_players = 4, .default_players = 4,
     .boards = kMultiplayerBoards,
     .fewest_discs = true, .blocked_squares = true, .free_opening = false, .max_corner_handicap = 0,
     .sides_players = {}, .places_without_flip = true},
    {.variant = Variant::kStandard,
     .name = "standard",
     .description = "Reversi for two by the World Othello Federation's rules. Who cannot flip a disc passes.",
     .min_players = 2, .max_players = 2, .default_players = 2,
     .boards = kStandardBoards,
     .fewest_discs = true, .blocked_squares = true, .free_opening = true, .max_corner_handicap = 4,
     .sides_players = {}, .places_without_flip = false},
    {.variant = Variant::kRolit,
     .name = "rolit",
     .description = "The four-colour game published in 1997, for two to four players: all four colours start on the "
                    "centre, those that nobody plays are neutral.",
     .min_players = 2, .max_players = 4, .default_players = 4,
     .boards = kRolitBoards,
     .fewest_discs = false, .blocked_squares = false, .free_opening = false, .max_corner_handicap = 0,
     .sides_players = {}, .places_without_flip = true},
    {.variant = Variant::kRoyal,
     .name = "royal",
     .description = "Royal Reversi of 1890, a reconstruction: cubes round a central Jack, the mover chooses which "
                    "outflanked rows to turn, four or six players may play as two sides.",
     .min_players = 2, .max_players = 6, .default_players = 2,
     .boards = kRoyalBoards,
     .fewest_discs = false, .blocked_squares = false, .free_opening = false, .max_corner_handicap = 0,
     .sides_players = kRoyalSides, .places_without_flip = false},
}};

using Error = std::optional<RulesError>;

Error Unsupported(std::string field, std::string message) {
  return RulesError{RulesError::Kind::kUnsupported, std::move(field), std::move(message)};
}

// "multiplayer is played on 8x8, 10x10 and octagon".
template <typename Items, typename Text>
std::string Listed(const Items& items, std::string_view last_word, Text text) {
  std::string list;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) list += i + 1 == items.size() ? " " + std::string(last_word) + " " : std::string(", ");
    list += text(items[i]);
  }
  return list;
}

// Names of the options that the variant offers beside players and board, for refusals.
std::string OptionsOffered(const VariantSpec& spec) {
  std::vector<std::string> options;
  if (spec.fewest_discs) options.push_back("objective fewest discs");
  if (spec.blocked_squares) options.push_back("blocked squares");
  if (spec.free_opening) options.push_back("free opening");
  if (spec.max_corner_handicap > 0) {
    options.push_back("corner handicap 1-" + std::to_string(spec.max_corner_handicap));
  }
  if (!spec.sides_players.empty()) {
    options.push_back("sides with " + Listed(spec.sides_players, "or", [](int n) { return std::to_string(n); }) +
                      " players");
  }
  if (options.empty()) return std::string(spec.name) + " offers no options";
  return std::string(spec.name) + " offers: " + Listed(options, "and", [](const std::string& s) { return s; });
}

Error NotOffered(const VariantSpec& spec, std::string field, std::string_view what) {
  return Unsupported(std::move(field), std::string(spec.name) + " has no " + std::string(what) + "; " +
                                           OptionsOffered(spec));
}

Error CompletePlayersAndBoard(const VariantSpec& spec, const RulesRequest& request, Rules& rules) {
  rules.players = spec.default_players;
  if (request.players != 0) {
    if (request.players < static_cast<uint32_t>(spec.min_players) ||
        request.players > static_cast<uint32_t>(spec.max_players)) {
      const std::string range = spec.min_players == spec.max_players
                                    ? std::to_string(spec.min_players)
                                    : std::to_string(spec.min_players) + " to " + std::to_string(spec.max_players);
      return Unsupported("players", std::string(spec.name) + " is played by " + range + " players");
    }
    rules.players = static_cast<int>(request.players);
  }
  rules.board = request.board.value_or(spec.boards.front());
  if (std::find(spec.boards.begin(), spec.boards.end(), rules.board) == spec.boards.end()) {
    return Unsupported("board", std::string(spec.name) + " is played on " + Listed(spec.boards, "or", BoardName));
  }
  return std::nullopt;
}

Error CompleteOptions(const VariantSpec& spec, const RulesRequest& request, Rules& rules) {
  rules.objective = request.objective.value_or(Objective::kMostDiscs);
  if (rules.objective == Objective::kFewestDiscs && !spec.fewest_discs) {
    return NotOffered(spec, "objective", "objective fewest discs");
  }
  if (request.free_opening && !spec.free_opening) return NotOffered(spec, "free_opening", "free opening");
  rules.free_opening = request.free_opening;
  if (request.corner_handicap > 0) {
    if (spec.max_corner_handicap == 0) return NotOffered(spec, "corner_handicap", "corner handicap");
    if (request.corner_handicap > static_cast<uint32_t>(spec.max_corner_handicap)) {
      return Unsupported("corner_handicap", "a corner handicap is 1 to " + std::to_string(spec.max_corner_handicap));
    }
    if (rules.board == Board::kOctagon) {
      return Unsupported("corner_handicap", "the octagon has no corners; a corner handicap is offered on the other "
                                            "boards");
    }
    if (request.free_opening) {
      return Unsupported("corner_handicap", "a corner handicap is not offered together with free opening");
    }
  }
  rules.corner_handicap = static_cast<int>(request.corner_handicap);
  rules.sides = request.sides;
  if (request.sides) {
    if (spec.sides_players.empty()) return NotOffered(spec, "sides", "sides");
    if (std::find(spec.sides_players.begin(), spec.sides_players.end(), rules.players) == spec.sides_players.end()) {
      return Unsupported("sides", std::string(spec.name) + " offers sides with " +
                                      Listed(spec.sides_players, "or", [](int n) { return std::to_string(n); }) +
                                      " players");
    }
  }
  return std::nullopt;
}

Error CheckBlockedCount(const VariantSpec& spec, const RulesRequest& request, const Rules& rules) {
  if (!spec.blocked_squares) {
    if (!request.blocked_squares.empty()) return NotOffered(spec, "blocked_squares", "blocked squares");
    if (request.random_blocked != 0) return NotOffered(spec, "random_blocked", "blocked squares");
    if (request.blocked_seed != 0) return NotOffered(spec, "blocked_seed", "blocked squares");
  }
  const int most = MaxRandomBlocked(rules.board);
  if (request.random_blocked % 2 != 0 || request.random_blocked > static_cast<uint32_t>(most)) {
    return Unsupported("random_blocked", "a random count of blocked squares is even and at most " +
                                             std::to_string(most) + " on " + std::string(BoardName(rules.board)));
  }
  if (request.random_blocked != 0 && !request.blocked_squares.empty() &&
      request.random_blocked != request.blocked_squares.size()) {
    return Unsupported("random_blocked", "random_blocked together with blocked_squares must be their number, " +
                                             std::to_string(request.blocked_squares.size()));
  }
  return std::nullopt;
}

// The listed squares, checked one by one; the error names the first bad one.
Error CompleteBlockedList(const RulesRequest& request, Rules& rules) {
  const SquareSet centre = CentreSquares(rules.board);
  const SquareSet corners = HandicapCorners(rules.board, rules.corner_handicap);
  SquareSet taken;
  for (size_t i = 0; i < request.blocked_squares.size(); ++i) {
    const std::string& text = request.blocked_squares[i];
    const std::optional<Square> square = ParseSquare(text);
    std::string_view fault;
    if (!square) {
      fault = "is no square; squares are a1 to j10";
    } else if (!OnBoard(rules.board, *square)) {
      fault = "is not on this board";
    } else if (centre.Has(*square)) {
      fault = "is a centre square, which cannot be blocked";
    } else if (corners.Has(*square)) {
      fault = "is a corner of the handicap, which cannot be blocked";
    } else if (taken.Has(*square)) {
      fault = "is listed twice";
    } else {
      taken.Add(*square);
      continue;
    }
    // What is no square is not repeated: it may be of any length and content.
    const std::string name = square ? SquareName(*square) : "the text";
    return RulesError{RulesError::Kind::kBadSquare, "blocked_squares[" + std::to_string(i) + "]",
                      name + " " + std::string(fault)};
  }
  taken.ForEach([&](Square square) { rules.blocked.push_back(square); });
  return std::nullopt;
}

}  // namespace

std::span<const VariantSpec> Variants() { return kVariants; }

const VariantSpec& Spec(Variant variant) { return kVariants[static_cast<size_t>(variant)]; }

std::optional<Variant> ParseVariant(std::string_view name) {
  for (const VariantSpec& spec : kVariants) {
    if (spec.name == name) return spec.variant;
  }
  return std::nullopt;
}

std::variant<Rules, RulesError> MakeRules(const RulesRequest& request) {
  Rules rules;
  rules.variant = request.variant.value_or(Variant::kMultiplayer);
  const VariantSpec& spec = Spec(rules.variant);
  if (Error error = CompletePlayersAndBoard(spec, request, rules)) return *error;
  if (Error error = CompleteOptions(spec, request, rules)) return *error;
  if (Error error = CheckBlockedCount(spec, request, rules)) return *error;
  if (Error error = CompleteBlockedList(request, rules)) return *error;
  if (request.random_blocked != 0) {
    rules.random_blocked = static_cast<int>(request.random_blocked);
    rules.blocked_seed = request.blocked_seed;
    if (rules.blocked.empty()) {
      rules.blocked = PlaceBlocked(rules.board, rules.corner_handicap, rules.random_blocked, rules.blocked_seed);
    }
    if (rules.blocked.size() != request.random_blocked) {
      return *Unsupported("random_blocked", "this seed finds no place for so many blocked squares");
    }
  }
  return rules;
}

RulesRequest ToRequest(const Rules& rules) {
  RulesRequest request;
  request.variant = rules.variant;
  request.players = static_cast<uint32_t>(rules.players);
  request.board = rules.board;
  request.objective = rules.objective;
  request.free_opening = rules.free_opening;
  request.corner_handicap = static_cast<uint32_t>(rules.corner_handicap);
  for (Square square : rules.blocked) request.blocked_squares.push_back(SquareName(square));
  request.random_blocked = static_cast<uint32_t>(rules.random_blocked);
  request.blocked_seed = rules.blocked_seed;
  request.sides = rules.sides;
  return request;
}

std::string_view ColorName(Color color) {
  constexpr std::string_view kNames[] = {"black", "white", "red", "green", "blue", "yellow", "neutral", "none"};
  return kNames[static_cast<size_t>(color)];
}

char ColorLetter(Color color) { return "BWRGUYN-"[static_cast<size_t>(color)]; }

}  // namespace reversi
