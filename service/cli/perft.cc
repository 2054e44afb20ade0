#include "engine/perft.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "engine/notation.h"
#include "service/cli/commands.h"

namespace reversi::cli {
namespace {

// The engine's enums are the API's without the zero value, in the same order.
template <typename Engine, typename Api>
std::optional<Engine> FromApi(Api value) {
  return value == 0 ? std::nullopt : std::optional(static_cast<Engine>(value - 1));
}

RulesRequest EngineRules(const v1::Rules& rules) {
  RulesRequest request;
  request.variant = FromApi<Variant>(rules.variant());
  request.players = rules.players();
  request.board = FromApi<Board>(rules.board());
  request.objective = FromApi<Objective>(rules.objective());
  request.free_opening = rules.free_opening();
  request.corner_handicap = rules.corner_handicap();
  request.blocked_squares.assign(rules.blocked_squares().begin(), rules.blocked_squares().end());
  request.random_blocked = rules.random_blocked();
  // Nobody is there to pick a seed: the same command counts the same.
  request.blocked_seed = rules.blocked_seed() == 0 && rules.random_blocked() > 0 ? 1 : rules.blocked_seed();
  request.sides = rules.sides();
  return request;
}

}  // namespace

int PerftCommand(const Session& session) {
  const Options& o = session.options;
  const auto made = MakeRules(EngineRules(o.game.rules()));
  if (const auto* error = std::get_if<RulesError>(&made)) {
    return session.Fail(kRefused, absl::StrCat(error->field, ": ", error->message));
  }
  const Position start(std::get<Rules>(made));
  if (o.split && o.depth > 0 && !start.over()) {
    if (start.start_passes() != 0) return session.Fail(kRefused, "a start with passes has no first move to split by");
    for (const auto& [move, leaves] : PerftByMove(start, static_cast<int>(o.depth))) {
      session.out << (o.json ? absl::StrFormat("{\"move\":\"%s\",\"leaves\":\"%d\"}", MoveText(move), leaves)
                             : absl::StrFormat("%-12s %d", MoveText(move), leaves))
                  << std::endl;
    }
  }
  for (uint32_t depth = 1; depth <= o.depth; ++depth) {
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t leaves = Perft(start, static_cast<int>(depth));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double rate = static_cast<double>(leaves) / std::max(seconds, 1e-9);
    const std::string line =
        o.json ? absl::StrFormat("{\"depth\":%d,\"leaves\":\"%d\",\"seconds\":%.6f}", depth, leaves, seconds)
               : absl::StrFormat("depth %2d  %d leaves  %.3f s  %.0f leaves/s", depth, leaves, seconds, rate);
    session.out << line << std::endl;
  }
  return kDone;
}

}  // namespace reversi::cli
