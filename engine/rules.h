// The rule systems as one table of named options, and the check of a wish against it.
#ifndef REVERSI_ENGINE_RULES_H_
#define REVERSI_ENGINE_RULES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/board.h"

namespace reversi {

enum class Variant : uint8_t { kMultiplayer, kStandard, kRolit, kRoyal };
enum class Objective : uint8_t { kMostDiscs, kFewestDiscs };

// Colours in turn order; seat i has colour i. kNeutral discs belong to nobody; kNone = no colour at all
// (the turn of a finished game).
enum class Color : uint8_t { kBlack, kWhite, kRed, kGreen, kBlue, kYellow, kNeutral, kNone };
inline constexpr int kMaxPlayers = 6;

// A set of seats (= colours) as bits 0..5.
using SeatSet = uint8_t;

// One entry of the table of variants: what it offers, its limits and its defaults.
struct VariantSpec {
  Variant variant;
  std::string_view name;         // "multiplayer", … (stable, lower case)
  std::string_view description;  // one or two sentences for people
  int min_players;
  int max_players;
  int default_players;
  std::span<const Board> boards;  // the first is the default
  bool fewest_discs;              // offers Objective::kFewestDiscs
  bool blocked_squares;
  bool free_opening;
  int max_corner_handicap;        // 0 = not offered
  std::span<const int> sides_players;  // numbers of players that may play as two sides; empty = not offered
  bool places_without_flip;       // true: who cannot flip places beside any disc; false: who cannot flip passes
};

// All variants, in the order of the enum.
std::span<const VariantSpec> Variants();
const VariantSpec& Spec(Variant variant);
std::optional<Variant> ParseVariant(std::string_view name);

// What somebody asks for; absent or zero = the variant's default.
struct RulesRequest {
  std::optional<Variant> variant = std::nullopt;
  uint32_t players = 0;
  std::optional<Board> board = std::nullopt;
  std::optional<Objective> objective = std::nullopt;
  bool free_opening = false;
  uint32_t corner_handicap = 0;
  std::vector<std::string> blocked_squares = {};
  uint32_t random_blocked = 0;
  // Seed of the random placement; used only with random_blocked and no list. The engine has no source of
  // chance: a caller that lets the server choose puts a random non-zero number here.
  uint64_t blocked_seed = 0;
  bool sides = false;
};

// Effective rules: complete, checked, the blocked squares listed and sorted. Made by MakeRules alone.
struct Rules {
  Variant variant = Variant::kMultiplayer;
  int players = 4;
  Board board = Board::k8x8;
  Objective objective = Objective::kMostDiscs;
  bool free_opening = false;
  int corner_handicap = 0;
  std::vector<Square> blocked = {};
  int random_blocked = 0;
  uint64_t blocked_seed = 0;
  bool sides = false;
  friend bool operator==(const Rules&, const Rules&) = default;
};

struct RulesError {
  enum class Kind : uint8_t { kUnsupported, kBadSquare };
  Kind kind;
  std::string field;    // path within the rules: "players", "blocked_squares[2]"
  std::string message;  // what is wrong and what is offered
};

// Checks a wish against the table (unsupported options rank before bad squares) and completes it.
std::variant<Rules, RulesError> MakeRules(const RulesRequest& request);

// The effective rules as a request: MakeRules(ToRequest(r)) == r.
RulesRequest ToRequest(const Rules& rules);

// "black" … "yellow", "neutral", "none"; and the letter of diagrams: B W R G U Y, N, - for kNone.
std::string_view ColorName(Color color);
char ColorLetter(Color color);

}  // namespace reversi

#endif  // REVERSI_ENGINE_RULES_H_
