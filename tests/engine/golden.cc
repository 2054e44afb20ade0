#include "tests/engine/golden.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace reversi::twin {
namespace {

using Json = nlohmann::json;

std::vector<Json> Lines(const std::string& name) {
  const std::string path = std::string(REVERSI_TEST_DATA) + "/" + name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  if (lines.empty()) throw std::runtime_error(path + " is empty");
  return lines;
}

TwinRules ReadRules(const Json& json) {
  TwinRules rules;
  rules.variant = json.at("variant");
  rules.players = json.at("players");
  rules.board = json.at("board");
  rules.fewest = json.value("objective", "most") == "fewest";
  rules.free_opening = json.value("free_opening", false);
  rules.corner_handicap = json.value("corner_handicap", 0);
  rules.blocked = json.value("blocked", std::vector<std::string>());
  rules.sides = json.value("sides", false);
  return rules;
}

GoldenGame ReadGame(const Json& json) {
  GoldenGame game;
  game.id = json.at("id");
  game.rules = ReadRules(json.at("rules"));
  game.moves = json.at("moves");
  game.turns = json.at("turns");
  game.legal_counts = json.at("legal_counts").get<std::vector<int>>();
  game.flip_counts = json.value("flip_counts", std::vector<int>());
  for (const Json& look : json.at("looks")) {
    game.looks.push_back({look.at("ply"), look.at("turn"), look.at("legal"), look.at("diagram"),
                          look.at("discs").get<std::vector<int>>()});
  }
  const Json& end = json.at("final");
  game.final_diagram = end.at("diagram");
  game.discs = end.at("discs").get<std::vector<int>>();
  game.neutral = end.value("neutral", -1);
  game.empty = end.value("empty", -1);
  game.winner = end.at("winner").is_null() ? "draw" : end.at("winner").get<std::string>();
  game.moves_with_passes = json.at("has").value("passes", 0);
  return game;
}

}  // namespace

std::vector<GoldenGame> GoldenGames() {
  std::vector<GoldenGame> games;
  for (const char* name : {"games.jsonl", "royal.jsonl"}) {
    for (const Json& line : Lines(name)) games.push_back(ReadGame(line));
  }
  return games;
}

std::vector<PerftRow> PerftRows() {
  std::vector<PerftRow> rows;
  for (const Json& line : Lines("perft.jsonl")) {
    const char* key = line.contains("plies") ? "plies" : "placements";
    rows.push_back({ReadRules(line.at("rules")), line.at(key).get<std::vector<uint64_t>>()});
  }
  return rows;
}

std::vector<DeepPerftRow> DeepPerftRows() {
  std::vector<DeepPerftRow> rows;
  for (const Json& line : Lines("perft_deep.jsonl")) {
    rows.push_back({ReadRules(line.at("rules")), line.at("first_depth"),
                    line.at("leaves").get<std::vector<uint64_t>>()});
  }
  return rows;
}

std::string Describe(const TwinRules& rules) {
  std::string text = rules.variant + " " + std::to_string(rules.players) + " " + rules.board;
  if (rules.fewest) text += " fewest";
  if (rules.free_opening) text += " free_opening";
  if (rules.corner_handicap > 0) text += " handicap=" + std::to_string(rules.corner_handicap);
  if (rules.sides) text += " sides";
  if (!rules.blocked.empty()) text += " blocked=" + Join(rules.blocked, ",");
  return text;
}

std::string Join(const std::vector<std::string>& rows, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) text += (i == 0 ? "" : between) + rows[i];
  return text;
}

}  // namespace reversi::twin
