#include "service/convert.h"

#include <utility>
#include <vector>

#include "engine/notation.h"
#include "service/wire_fields.h"

namespace reversi {
namespace {

void FillTime(absl::Time time, google::protobuf::Timestamp* message) {
  const int64_t ms = absl::ToUnixMillis(time);
  message->set_seconds(ms / 1000);
  message->set_nanos(static_cast<int32_t>(ms % 1000) * 1'000'000);
}

template <typename Colors>
void FillSeats(SeatSet seats, Colors* colors) {
  for (int seat = 0; seat < kMaxPlayers; ++seat) {
    if (seats >> seat & 1) colors->Add(ToApi(static_cast<Color>(seat)));
  }
}

void FillResult(const Table& table, v1::Result* message) {
  const Position& position = table.position;
  message->set_reason(ToApi(table.reason));
  if (position.over()) {
    const Outcome outcome = position.outcome();
    switch (outcome.kind) {
      case Outcome::Kind::kWinner:
        message->set_winner(ToApi(outcome.winner));
        break;
      case Outcome::Kind::kWinningSide:
        message->set_winning_side(static_cast<uint32_t>(outcome.side));
        break;
      case Outcome::Kind::kDraw:
        message->set_draw(true);
        break;
    }
  }
  for (int seat = 0; seat < position.players(); ++seat) {
    message->add_discs(static_cast<uint32_t>(position.Discs(seat)));
  }
  message->set_neutral(static_cast<uint32_t>(position.Neutral()));
  message->set_empty(static_cast<uint32_t>(position.Empty()));
  if (table.reason != EndReason::kCompleted) return;
  if (const auto scores = position.WofScore()) {
    for (double score : *scores) message->add_wof_score(score);
  }
}

void FillWhat(const Event& event, v1::GameEvent* message) {
  if (event.created) {
    message->mutable_created();
    return;
  }
  const Command& command = event.command;
  const v1::Color color = ToApi(static_cast<Color>(command.seat));
  switch (command.kind) {
    case Command::Kind::kMove: {
      auto* moved = message->mutable_moved();
      moved->set_color(color);
      moved->set_move(MoveText(command.move));
      event.flipped.ForEach([&](Square square) { moved->add_flipped(SquareName(square)); });
      moved->set_on_timeout(command.on_timeout);
      return;
    }
    case Command::Kind::kJoin:
      message->mutable_joined()->set_color(color);
      message->mutable_joined()->set_display_name(command.name);
      return;
    case Command::Kind::kResign:
      message->mutable_resigned()->set_color(color);
      return;
    case Command::Kind::kTimeOut:
      message->mutable_timed_out()->set_color(color);
      return;
    case Command::Kind::kAbort:
      message->mutable_aborted();
      return;
    case Command::Kind::kExpire:
      message->mutable_expired();
      return;
  }
}

// A serialized v1::Position. Protobuf's own way, one string after the other for every row and move, takes three times as
// long: a quarter of all that a move takes.
std::string PositionBytes(const Position& position, bool over) {
  WireFields fields(256);
  const BoardRows rows(position);
  for (size_t row = 0; row < rows.size(); ++row) fields.AddBytes(v1::Position::kRowsFieldNumber, rows[row]);
  if (!over) {
    fields.AddNumber(v1::Position::kTurnFieldNumber, ToApi(position.turn()));
    for (const Move& move : position.LegalMoves()) {
      fields.AddBytes(v1::Position::kLegalMovesFieldNumber, MoveText(move));
    }
    fields.AddNumber(v1::Position::kPlacementFieldNumber, position.placement());
  }
  WireFields discs(8);
  for (int seat = 0; seat < position.players(); ++seat) discs.AddVarint(static_cast<uint64_t>(position.Discs(seat)));
  fields.AddBytes(v1::Position::kDiscsFieldNumber, discs.Take());
  fields.AddNumber(v1::Position::kNeutralFieldNumber, static_cast<uint64_t>(position.Neutral()));
  fields.AddNumber(v1::Position::kEmptyFieldNumber, static_cast<uint64_t>(position.Empty()));
  fields.AddNumber(v1::Position::kPlyFieldNumber, static_cast<uint64_t>(position.ply()));
  fields.AddFixed64(v1::Position::kHashFieldNumber, position.Hash());
  return fields.Take();
}

v1::VariantInfo InfoOf(const VariantSpec& spec) {
  v1::VariantInfo info;
  info.set_variant(ToApi(spec.variant));
  info.set_name(std::string(spec.name));
  info.set_description(std::string(spec.description));
  for (int players = spec.min_players; players <= spec.max_players; ++players) {
    info.add_player_counts(static_cast<uint32_t>(players));
  }
  for (Board board : spec.boards) {
    info.add_boards(ToApi(board));
    if (spec.max_corner_handicap > 0 && board != Board::kOctagon) info.add_corner_handicap_boards(ToApi(board));
  }
  info.add_objectives(v1::OBJECTIVE_MOST_DISCS);
  if (spec.fewest_discs) info.add_objectives(v1::OBJECTIVE_FEWEST_DISCS);
  info.set_blocked_squares(spec.blocked_squares);
  info.set_free_opening(spec.free_opening);
  info.set_max_corner_handicap(static_cast<uint32_t>(spec.max_corner_handicap));
  for (int players : spec.sides_players) info.add_sides_player_counts(static_cast<uint32_t>(players));
  RulesRequest request;
  request.variant = spec.variant;
  const auto rules = MakeRules(request);
  if (const auto* defaults = std::get_if<Rules>(&rules)) FillRules(*defaults, info.mutable_defaults());
  return info;
}

}  // namespace

v1::Variant ToApi(Variant variant) {
  switch (variant) {
    case Variant::kMultiplayer: return v1::VARIANT_MULTIPLAYER;
    case Variant::kStandard: return v1::VARIANT_STANDARD;
    case Variant::kRolit: return v1::VARIANT_ROLIT;
    case Variant::kRoyal: return v1::VARIANT_ROYAL;
  }
  return v1::VARIANT_UNSPECIFIED;
}

v1::Board ToApi(Board board) {
  switch (board) {
    case Board::k6x6: return v1::BOARD_6X6;
    case Board::k8x8: return v1::BOARD_8X8;
    case Board::k9x9: return v1::BOARD_9X9;
    case Board::k10x10: return v1::BOARD_10X10;
    case Board::kOctagon: return v1::BOARD_OCTAGON;
  }
  return v1::BOARD_UNSPECIFIED;
}

v1::Objective ToApi(Objective objective) {
  switch (objective) {
    case Objective::kMostDiscs: return v1::OBJECTIVE_MOST_DISCS;
    case Objective::kFewestDiscs: return v1::OBJECTIVE_FEWEST_DISCS;
  }
  return v1::OBJECTIVE_UNSPECIFIED;
}

v1::Color ToApi(Color color) {
  switch (color) {
    case Color::kBlack: return v1::COLOR_BLACK;
    case Color::kWhite: return v1::COLOR_WHITE;
    case Color::kRed: return v1::COLOR_RED;
    case Color::kGreen: return v1::COLOR_GREEN;
    case Color::kBlue: return v1::COLOR_BLUE;
    case Color::kYellow: return v1::COLOR_YELLOW;
    case Color::kNeutral:
    case Color::kNone: break;
  }
  return v1::COLOR_UNSPECIFIED;
}

v1::GameState ToApi(GameState state) {
  switch (state) {
    case GameState::kWaiting: return v1::GAME_STATE_WAITING;
    case GameState::kActive: return v1::GAME_STATE_ACTIVE;
    case GameState::kFinished: return v1::GAME_STATE_FINISHED;
  }
  return v1::GAME_STATE_UNSPECIFIED;
}

v1::ResultReason ToApi(EndReason reason) {
  switch (reason) {
    case EndReason::kCompleted: return v1::RESULT_REASON_COMPLETED;
    case EndReason::kResignation: return v1::RESULT_REASON_RESIGNATION;
    case EndReason::kTimeout: return v1::RESULT_REASON_TIMEOUT;
    case EndReason::kAborted: return v1::RESULT_REASON_ABORTED;
    case EndReason::kExpired: return v1::RESULT_REASON_EXPIRED;
  }
  return v1::RESULT_REASON_UNSPECIFIED;
}

v1::TimeoutAction ToApi(TimeoutAction action) {
  switch (action) {
    case TimeoutAction::kLeave: return v1::TIMEOUT_ACTION_LEAVE;
    case TimeoutAction::kPlay: return v1::TIMEOUT_ACTION_PLAY;
  }
  return v1::TIMEOUT_ACTION_UNSPECIFIED;
}

void FillRules(const Rules& rules, v1::Rules* message) {
  message->set_variant(ToApi(rules.variant));
  message->set_players(static_cast<uint32_t>(rules.players));
  message->set_board(ToApi(rules.board));
  message->set_objective(ToApi(rules.objective));
  message->set_free_opening(rules.free_opening);
  message->set_corner_handicap(static_cast<uint32_t>(rules.corner_handicap));
  for (Square square : rules.blocked) message->add_blocked_squares(SquareName(square));
  message->set_random_blocked(static_cast<uint32_t>(rules.random_blocked));
  message->set_blocked_seed(rules.blocked_seed);
  message->set_sides(rules.sides);
}

void FillPosition(const Position& position, bool over, v1::Position* message) {
  message->ParseFromString(PositionBytes(position, over));
}

void FillEvent(const Event& event, v1::GameEvent* message) {
  const Table& after = event.after;
  const bool over = after.state == GameState::kFinished;
  message->set_version(after.version);
  FillTime(after.time, message->mutable_time());
  FillWhat(event, message);
  FillSeats(event.passed, message->mutable_passed());
  message->set_state(ToApi(after.state));
  auto* unparsed = message->GetReflection()->MutableUnknownFields(message);
  *unparsed->AddLengthDelimited(v1::GameEvent::kPositionFieldNumber) = PositionBytes(after.position, over);
  if (after.deadline != absl::InfiniteFuture()) FillTime(after.deadline, message->mutable_turn_deadline());
  if (over) FillResult(after, message->mutable_result());
}

void FillGame(std::string_view game_id, const Record& record, const Table& table, absl::Time expires,
              bool with_moves, v1::Game* message) {
  const Start start = record.start();
  message->set_game_id(std::string(game_id));
  message->set_version(table.version);
  message->set_state(ToApi(table.state));
  FillRules(start.rules, message->mutable_rules());
  for (size_t i = 0; i < start.seats.size(); ++i) {
    v1::Seat* seat = message->add_seats();
    seat->set_color(ToApi(static_cast<Color>(i)));
    seat->set_kind((table.open >> i & 1) != 0 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
    seat->set_display_name(start.seats[i].name);
    seat->set_out((table.position.out() >> i & 1) != 0);
  }
  record.ForEach(start.created, [&](const Command& command) {
    if (command.kind == Command::Kind::kJoin) message->mutable_seats(command.seat)->set_display_name(command.name);
    return true;
  });
  const bool over = table.state == GameState::kFinished;
  FillPosition(table.position, over, message->mutable_position());
  if (with_moves) {
    const auto add = [&](Color color, const Move& move, SeatSet passed) {
      v1::PlayedMove* played = message->add_moves();
      played->set_color(ToApi(color));
      played->set_move(MoveText(move));
      FillSeats(passed, played->mutable_passed());
    };
    Position position(start.rules);
    for (const Move& move : start.opening) {
      auto result = position.Play(move);
      if (!std::holds_alternative<Played>(result)) break;  // cannot be: the creation was checked
      Played& played = std::get<Played>(result);
      add(position.turn(), played.move, played.passed);
      position = std::move(played.next);
    }
    Replay(record, [&](const Event& event) {
      if (event.created || event.command.kind != Command::Kind::kMove) return true;
      add(static_cast<Color>(event.command.seat), event.command.move, event.passed);
      return true;
    });
  }
  if (over) FillResult(table, message->mutable_result());
  if (start.turn_limit > absl::ZeroDuration()) {
    const int64_t ms = absl::ToInt64Milliseconds(start.turn_limit);
    message->mutable_turn_limit()->set_seconds(ms / 1000);
    message->mutable_turn_limit()->set_nanos(static_cast<int32_t>(ms % 1000) * 1'000'000);
  }
  message->set_timeout_action(ToApi(start.timeout_action));
  message->set_unlisted(start.unlisted);
  FillTime(start.created, message->mutable_create_time());
  FillTime(table.time, message->mutable_update_time());
  if (table.deadline != absl::InfiniteFuture()) FillTime(table.deadline, message->mutable_turn_deadline());
  if (expires != absl::InfiniteFuture()) FillTime(expires, message->mutable_expire_time());
}

void FillVariants(v1::ListVariantsResponse* message) {
  for (const VariantSpec& spec : Variants()) *message->add_variants() = InfoOf(spec);
}

Bytes SerializeForWatchers(const Event& event) {
  v1::WatchGameResponse message;
  FillEvent(event, message.mutable_event());
  return Bytes(message.SerializeAsString());
}

}  // namespace reversi
