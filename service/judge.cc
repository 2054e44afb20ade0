#include "service/judge.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/notation.h"
#include "service/text.h"

namespace reversi {
namespace {

Error StaleVersion(uint64_t current, uint64_t expected) {
  return {.reason = Reason::kStaleVersion,
          .message = absl::StrCat("the game is at version ", current, ", not ", expected),
          .metadata = {{"current_version", absl::StrCat(current)}}};
}

Error NotStarted() {
  return {.reason = Reason::kGameNotStarted, .message = "a seat of the game is still open"};
}

Error NotYourTurn(Color turn) {
  return {.reason = Reason::kNotYourTurn,
          .message = absl::StrCat("it is the turn of ", ToAbsl(ColorName(turn))),
          .metadata = {{"turn", std::string(ApiColorName(turn))}}};
}

Error SeatTaken(int wanted) {
  return {.reason = Reason::kSeatTaken,
          .message = wanted < 0 ? "no seat of the game is open"
                                : absl::StrCat("the seat of ", ToAbsl(ColorName(static_cast<Color>(wanted))), " is taken")};
}

// Whether event `version` is this seat's move; bare Royal squares are read in the position before it.
bool IsSameMove(const Record& record, uint64_t version, int seat, const Move& move) {
  std::optional<Move> canonical;
  bool same = false;
  Replay(record, [&](const Event& event) {
    if (event.after.version + 1 == version) {
      const auto played = event.after.position.Play(move);
      if (const auto* legal = std::get_if<Played>(&played)) canonical = legal->move;
    }
    if (event.after.version != version) return true;
    same = !event.created && event.command.kind == Command::Kind::kMove && event.command.seat == seat &&
           canonical == event.command.move;
    return false;
  });
  return same;
}

Ruling JudgeWish(const MoveWish& wish, const Committed& game, const Tokens& tokens) {
  const Table& table = *game.table;
  const std::optional<int> seat = tokens.SeatOf(wish.token, game.game_id, game.record.nonce());
  if (!seat.has_value()) return BadToken();
  const uint64_t expected = wish.expected_version;
  if (expected != 0 && expected < table.version && IsSameMove(game.record, expected + 1, *seat, wish.move)) {
    return Again{expected + 1};
  }
  if (table.state == GameState::kFinished) return GameOver();
  if (expected != 0 && expected != table.version) return StaleVersion(table.version, expected);
  if (table.state == GameState::kWaiting) return NotStarted();
  const Color turn = table.position.turn();
  if (static_cast<Color>(*seat) != turn) return NotYourTurn(turn);
  const auto played = table.position.Play(wish.move);
  if (const auto* why = std::get_if<WhyIllegal>(&played)) return IllegalMove("move", wish.move, *why);
  return Command{.kind = Command::Kind::kMove, .seat = *seat, .move = std::get<Played>(played).move};
}

// The version of the first event that `is` says yes to; 0 = none.
uint64_t FindEvent(const Record& record, absl::FunctionRef<bool(const Command&)> is) {
  uint64_t version = 1;
  bool found = false;
  record.ForEach(absl::UnixEpoch(), [&](const Command& command) {
    ++version;
    found = is(command);
    return !found;
  });
  return found ? version : 0;
}

Ruling JudgeWish(const ResignWish& wish, const Committed& game, const Tokens& tokens) {
  const Table& table = *game.table;
  const std::optional<int> seat = tokens.SeatOf(wish.token, game.game_id, game.record.nonce());
  if (!seat.has_value()) return BadToken();
  const uint64_t left = FindEvent(game.record, [&](const Command& command) {
    return (command.kind == Command::Kind::kResign || command.kind == Command::Kind::kTimeOut) &&
           command.seat == *seat;
  });
  if (left != 0) return Again{left};
  if (table.state == GameState::kFinished) return GameOver();
  if (table.state == GameState::kWaiting) return NotStarted();
  return Command{.kind = Command::Kind::kResign, .seat = *seat};
}

Ruling JudgeWish(const AbortWish& wish, const Committed& game, const Tokens& tokens) {
  if (!tokens.IsOwner(wish.token, game.game_id, game.record.nonce())) return BadToken();
  if (game.table->state != GameState::kFinished) return Command{.kind = Command::Kind::kAbort};
  if (game.table->reason == EndReason::kAborted) return Again{game.table->version};
  return GameOver();
}

Ruling JudgeWish(const JoinWish& wish, const Committed& game, const Tokens&) {
  const Table& table = *game.table;
  uint64_t before = 0;
  bool same = false;
  if (!wish.request.empty()) {
    before = FindEvent(game.record, [&](const Command& command) {
      if (command.kind != Command::Kind::kJoin || command.request != wish.request) return false;
      same = command.wanted == wish.wanted && command.name == wish.name;
      return true;
    });
  }
  if (before != 0 && !same) return Malformed("request_id", "was used with another request");
  if (wish.wanted >= table.position.players()) return Malformed("color", "the game has no seat of this color");
  if (before != 0) return Again{before};
  if (table.state == GameState::kFinished) return GameOver();
  int seat = wish.wanted;
  if (seat < 0 && table.open != 0) seat = __builtin_ctz(table.open);
  if (seat < 0 || (table.open >> seat & 1) == 0) return SeatTaken(wish.wanted);
  return Command{.kind = Command::Kind::kJoin,
                 .seat = seat,
                 .name = wish.name,
                 .request = wish.request,
                 .wanted = wish.wanted};
}

Ruling JudgeWish(const ExpireWish& wish, const Committed& game, const Tokens&) {
  if (game.table->state == GameState::kFinished) return GameOver();
  if (game.table->version != wish.version) return StaleVersion(game.table->version, wish.version);
  return Command{.kind = Command::Kind::kExpire};
}

Ruling JudgeWish(const CreateWish& wish, const Committed& game, const Tokens&) {
  return JudgeCreation(wish, game);
}

}  // namespace

Ruling Judge(const Wish& wish, const Committed& game, const Tokens& tokens) {
  if (game.table == nullptr) return GameNotFound(game.game_id);
  return std::visit([&](const auto& one) { return JudgeWish(one, game, tokens); }, wish);
}

Ruling JudgeCreation(const CreateWish& wish, const Committed& game) {
  const Start start = game.record.start();
  if (!wish.start.request.empty() && wish.start.request == start.request) {
    if (wish.start.body == start.body) return Again{1};
    return Malformed("request_id", "was used with another request");
  }
  return Error{.reason = Reason::kGameIdTaken,
               .message = absl::StrCat("there is a game ", ToAbsl(game.game_id), " already"),
               .field = "game_id"};
}

Command OnTimeout(const Table& table) {
  const Position& position = table.position;
  const int seat = static_cast<int>(position.turn());
  if (table.timeout_action == TimeoutAction::kLeave) return {.kind = Command::Kind::kTimeOut, .seat = seat};
  // Any legal move will do; the hash spreads the choice and every replica makes the same one.
  const std::vector<Move> moves = position.LegalMoves();
  return {.kind = Command::Kind::kMove,
          .seat = seat,
          .move = moves[position.Hash() % moves.size()],
          .on_timeout = true};
}

Error IllegalMove(std::string_view field, const Move& move, WhyIllegal why) {
  const std::string text = MoveText(move);
  return {.reason = Reason::kIllegalMove,
          .message = absl::StrCat(text, " is no legal move here: ", ToAbsl(WhyName(why))),
          .field = std::string(field),
          .metadata = {{"move", text}, {"why", std::string(WhyName(why))}}};
}

Error IllegalOpening(const Start& start, const BadOpening& bad) {
  const std::string field = absl::StrCat("opening_moves[", bad.index, "]");
  if (bad.why != WhyIllegal::kGameOver) return IllegalMove(field, start.opening[bad.index], bad.why);
  Error error = GameOver();
  error.message = absl::StrCat(field, ": the game is over before this move");
  error.field = field;
  return error;
}

Error GameOver() {
  return {.reason = Reason::kGameOver,
          .message = "the game is over",
          .metadata = {{"state", "GAME_STATE_FINISHED"}}};
}

std::string_view ApiColorName(Color color) {
  switch (color) {
    case Color::kBlack: return "COLOR_BLACK";
    case Color::kWhite: return "COLOR_WHITE";
    case Color::kRed: return "COLOR_RED";
    case Color::kGreen: return "COLOR_GREEN";
    case Color::kBlue: return "COLOR_BLUE";
    case Color::kYellow: return "COLOR_YELLOW";
    case Color::kNeutral:
    case Color::kNone: break;
  }
  return "COLOR_UNSPECIFIED";
}

}  // namespace reversi
