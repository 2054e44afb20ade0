// Writes positions of seeded games with their hashes as JSON lines, with what the API shows of each: the input of
// hash_test.py.
#include <cstdio>
#include <string>

#include "engine/notation.h"
#include "engine/position.h"
#include "engine/random.h"

namespace reversi {
namespace {

std::string Quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

std::string QuotedList(const std::vector<std::string>& items) {
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ",") + Quoted(item);
  return "[" + list + "]";
}

// What a client knows: rules, rows, turn, who is out, the moves with their colours.
void Write(const Rules& rules, const Position& position, const std::vector<std::string>& colors,
           const std::vector<std::string>& moves) {
  std::string out;
  for (int seat = 0; seat < rules.players; ++seat) {
    if (!out.empty()) out += ",";
    out += (position.out() >> seat & 1) != 0 ? "true" : "false";
  }
  std::printf("{\"variant\":\"%s\",\"board\":\"%s\",\"players\":%d,\"fewest\":%s,\"sides\":%s,\"rows\":%s,\"turn\":\"%s\","
              "\"out\":[%s],\"colors\":%s,\"moves\":%s,\"hash\":\"%016llx\"}\n",
              std::string(Spec(rules.variant).name).c_str(), std::string(BoardName(rules.board)).c_str(), rules.players,
              rules.objective == Objective::kFewestDiscs ? "true" : "false", rules.sides ? "true" : "false",
              QuotedList(Rows(position)).c_str(), std::string(ColorName(position.turn())).c_str(), out.c_str(),
              QuotedList(colors).c_str(), QuotedList(moves).c_str(),
              static_cast<unsigned long long>(position.Hash()));
}

// One game to its end, somebody leaving it now and then.
void WriteGame(const Rules& rules, uint64_t seed) {
  SplitMix64 random(seed);
  Position position(rules);
  std::vector<std::string> colors;
  std::vector<std::string> moves;
  Write(rules, position, colors, moves);
  while (!position.over()) {
    const auto leaver = static_cast<int>(random.Below(60));
    if (leaver < rules.players && (position.out() >> leaver & 1) == 0) {
      position = position.Leave(leaver).next;
    } else {
      const std::vector<Move> legal = position.LegalMoves();
      colors.emplace_back(ColorName(position.turn()));
      const auto played = position.Play(legal[random.Below(legal.size())]);
      moves.push_back(MoveText(std::get<Played>(played).move));
      position = std::get<Played>(played).next;
    }
    Write(rules, position, colors, moves);
  }
}

}  // namespace
}  // namespace reversi

int main() {
  using namespace reversi;
  for (const VariantSpec& spec : Variants()) {
    for (Board board : spec.boards) {
      for (int players = spec.min_players; players <= spec.max_players; ++players) {
        RulesRequest request{.variant = spec.variant, .players = static_cast<uint32_t>(players), .board = board};
        for (uint64_t seed = 0; seed < 8; ++seed) {
          if (spec.fewest_discs && seed % 2 == 1) request.objective = Objective::kFewestDiscs;
          request.random_blocked = spec.blocked_squares && seed >= 4 ? 4 : 0;
          request.free_opening = spec.free_opening && seed == 7;
          request.sides = seed >= 4 && !spec.sides_players.empty() && (players == 4 || players == 6);
          WriteGame(std::get<Rules>(MakeRules(request)), seed);
        }
      }
    }
  }
  return 0;
}
