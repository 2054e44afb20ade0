#include "tests/load/load_game.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "engine/notation.h"

namespace reversi::load {
namespace {

v1::Board ToApi(Board board) { return static_cast<v1::Board>(static_cast<int>(board) + 1); }
v1::Color ToApi(Color color) { return static_cast<v1::Color>(color < Color::kNeutral ? static_cast<int>(color) + 1 : 0); }

template <typename Colors>
bool SameSeats(SeatSet seats, const Colors& shown) {
  SeatSet set = 0;
  for (int color : shown) set = static_cast<SeatSet>(set | 1u << (color - 1));
  return set == seats;
}

std::string CheckResult(const Position& position, const v1::Result& result) {
  if (result.reason() != v1::RESULT_REASON_COMPLETED) return "result.reason";
  const Outcome outcome = position.outcome();
  const bool right =
      (outcome.kind == Outcome::Kind::kDraw && result.draw()) ||
      (outcome.kind == Outcome::Kind::kWinner && result.winner() == ToApi(outcome.winner)) ||
      (outcome.kind == Outcome::Kind::kWinningSide && result.winning_side() == static_cast<uint32_t>(outcome.side));
  return right ? "" : "result.outcome";
}

}  // namespace

std::vector<RulesRequest> KindsOf(std::string_view text) {
  std::vector<RulesRequest> all;
  for (const VariantSpec& spec : Variants()) {
    for (Board board : spec.boards) {
      for (int players = spec.min_players; players <= spec.max_players; ++players) {
        all.push_back({.variant = spec.variant, .players = static_cast<uint32_t>(players), .board = board});
      }
    }
  }
  if (text == "all") return all;
  std::vector<RulesRequest> kinds;
  const std::vector<std::string> names = absl::StrSplit(std::string(text), ',');
  for (const std::string& name : names) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const RulesRequest& kind) {
      const std::string players = absl::StrCat("/", kind.players);
      const std::string board = std::string(BoardName(*kind.board)) + players;
      const std::string variant = std::string(Spec(*kind.variant).name);
      return name == variant + "/" + board || name == variant + players ||
             (kind.variant == Variant::kMultiplayer && name == board);
    });
    if (found == all.end()) return {};
    kinds.push_back(*found);
  }
  return kinds;
}

void LoadGame::FillRequest(const RulesRequest& wish, v1::CreateGameRequest* request) {
  v1::Rules* rules = request->mutable_rules();
  rules->set_variant(static_cast<v1::Variant>(static_cast<int>(*wish.variant) + 1));
  rules->set_board(ToApi(*wish.board));
  rules->set_players(wish.players);
}

LoadGame::LoadGame(const RulesRequest& wish, const v1::CreateGameResponse& created, uint64_t seed, std::string* fault)
    : id_(created.game().game_id()),
      tokens_(created.seat_tokens().begin(), created.seat_tokens().end()),
      rules_(std::get<Rules>(MakeRules(wish))),
      random_(seed) {
  const Position start(rules_);
  events_.push_back({.next = start, .move = {}, .flipped = {}, .passed = start.start_passes()});
  *fault = Check(created.game());
  if (fault->empty() && tokens_.size() != static_cast<size_t>(rules_.players)) *fault = "seat_tokens";
}

void LoadGame::NextMove(v1::SubmitMoveRequest* request) {
  const Position& position = last().next;
  const std::vector<Move> moves = position.LegalMoves();
  const Move move = moves[random_.Below(moves.size())];
  request->set_game_id(id_);
  request->set_seat_token(tokens_[static_cast<size_t>(position.turn())]);
  request->set_move(MoveText(move));
  request->set_expected_version(version());
  Played played = std::get<Played>(position.Play(move));
  events_.push_back(std::move(played));
}

std::string LoadGame::CheckPosition(const Position& position, const v1::Position& shown) const {
  const std::vector<std::string> rows = Rows(position);
  if (!std::equal(rows.begin(), rows.end(), shown.rows().begin(), shown.rows().end())) return "position.rows";
  const std::vector<Move> moves = position.LegalMoves();
  if (!std::equal(moves.begin(), moves.end(), shown.legal_moves().begin(), shown.legal_moves().end(),
                  [](const Move& move, const std::string& text) { return MoveText(move) == text; })) {
    return "position.legal_moves";
  }
  if (shown.turn() != ToApi(position.turn())) return "position.turn";
  if (shown.placement() != position.placement()) return "position.placement";
  for (int seat = 0; seat < position.players(); ++seat) {
    if (static_cast<int>(shown.discs(seat)) != position.Discs(seat)) return "position.discs";
  }
  if (static_cast<int>(shown.neutral()) != position.Neutral()) return "position.neutral";
  if (static_cast<int>(shown.empty()) != position.Empty()) return "position.empty";
  if (static_cast<int>(shown.ply()) != position.ply()) return "position.ply";
  return shown.hash() == position.Hash() ? "" : "position.hash";
}

std::string LoadGame::Check(const v1::GameEvent& event) const {
  if (event.version() == 0 || event.version() > version()) return "version";
  const Played& played = events_[event.version() - 1];
  if (event.version() == 1 ? !event.has_created() : !event.has_moved()) return "what";
  if (event.has_moved()) {
    const Position& before = events_[event.version() - 2].next;
    if (event.moved().color() != ToApi(before.turn())) return "moved.color";
    if (event.moved().move() != MoveText(played.move)) return "moved.move";
    int next = 0;
    bool same = played.flipped.size() == event.moved().flipped_size();
    played.flipped.ForEach([&](Square square) { same = same && SquareName(square) == event.moved().flipped(next++); });
    if (!same) return "moved.flipped";
  }
  if (!SameSeats(played.passed, event.passed())) return "passed";
  const bool over = played.next.over();
  if (event.state() != (over ? v1::GAME_STATE_FINISHED : v1::GAME_STATE_ACTIVE)) return "state";
  std::string wrong = CheckPosition(played.next, event.position());
  if (wrong.empty() && over) wrong = CheckResult(played.next, event.result());
  return wrong;
}

std::string LoadGame::Check(const v1::Game& game) const {
  if (game.game_id() != id_) return "game_id";
  if (game.version() != version()) return "version";
  if (static_cast<int>(game.rules().players()) != rules_.players) return "rules.players";
  if (game.rules().board() != ToApi(rules_.board)) return "rules.board";
  if (game.moves_size() != static_cast<int>(version()) - 1) return "moves";
  for (int i = 0; i < game.moves_size(); ++i) {
    const Played& played = events_[static_cast<size_t>(i) + 1];
    if (game.moves(i).move() != MoveText(played.move)) return "moves.move";
    if (!SameSeats(played.passed, game.moves(i).passed())) return "moves.passed";
  }
  std::string wrong = CheckPosition(last().next, game.position());
  if (wrong.empty() && over()) wrong = CheckResult(last().next, game.result());
  return wrong;
}

std::string LoadGame::CheckWatched(uint64_t version, std::string_view bytes) {
  if (watched_.size() < version) watched_.resize(version);
  std::string& first = watched_[version - 1];
  if (!first.empty()) return first == bytes ? "" : "another watcher got other bytes";
  v1::WatchGameResponse response;
  if (!response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "does not parse";
  if (!response.has_event() || response.event().version() != version) return "is not the next event";
  std::string wrong = Check(response.event());
  if (wrong.empty()) first = bytes;
  return wrong;
}

}  // namespace reversi::load
