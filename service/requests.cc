#include "service/requests.h"

#include <algorithm>
#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "absl/strings/str_cat.h"
#include "engine/notation.h"

// The first thing wrong ends a check.
#define REVERSI_CHECK_FIELD(expression) \
  if (std::optional<Error> wrong = (expression); wrong.has_value()) return *std::move(wrong)

namespace reversi {
namespace {

constexpr size_t kMaxToken = 256;
constexpr int kMaxOpeningMoves = 256;

using MaybeError = std::optional<Error>;

MaybeError CheckGameId(const std::string& id) {
  if (id.empty()) return Malformed("game_id", "is missing");
  const bool right = id.size() >= 4 && id.size() <= 63 && std::all_of(id.begin(), id.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                     });
  if (!right) return Malformed("game_id", "is not of the form [a-z0-9-]{4,63}");
  return std::nullopt;
}

MaybeError CheckRequestId(const std::string& id) {
  if (id.empty()) return std::nullopt;
  const bool right = id.size() >= 16 && id.size() <= 64 &&
                     std::all_of(id.begin(), id.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!right) return Malformed("request_id", "is not 16-64 printable ASCII characters");
  return std::nullopt;
}

MaybeError CheckName(const std::string& field, const std::string& name) {
  if (name.size() > kMaxDisplayName) return Malformed(field, absl::StrCat("has more than ", kMaxDisplayName, " bytes"));
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<uint8_t>(name[i]);
    // C0, DEL, and C1, which UTF-8 writes as c2 80 to c2 9f.
    const bool c1 = byte == 0xc2 && i + 1 < name.size() && static_cast<uint8_t>(name[i + 1]) < 0xa0;
    if (byte < 0x20 || byte == 0x7f || c1) return Malformed(field, "has control characters");
  }
  return std::nullopt;
}

MaybeError CheckToken(const std::string& field, const std::string& token) {
  if (token.empty()) return Malformed(field, "is missing");
  if (token.size() > kMaxToken) return Malformed(field, "is too long for a token");
  return std::nullopt;
}

MaybeError CheckMoveText(const std::string& field, const std::string& text) {
  if (text.empty()) return Malformed(field, "is missing");
  if (text.size() > kMaxMoveText) return Malformed(field, absl::StrCat("has more than ", kMaxMoveText, " bytes"));
  return std::nullopt;
}

OrError<Move> ReadMove(const std::string& field, const std::string& text) {
  if (const auto move = ParseMove(text)) return *move;
  return Error{.reason = Reason::kBadSquare,
               .message = absl::StrCat(field, ": '", text, "' is no move of any variant: d3, d3:n,ne or jack"),
               .field = field};
}

template <typename Enum>
MaybeError CheckEnum(const std::string& field, Enum value, bool (*known)(int)) {
  if (known(value)) return std::nullopt;
  return Malformed(field, absl::StrCat(static_cast<int>(value), " is no value of this enum"));
}

// nullopt = within the range.
MaybeError ReadDuration(const std::string& field, const google::protobuf::Duration& message, absl::Duration least,
                        absl::Duration most, absl::Duration* duration) {
  const int64_t seconds = message.seconds();
  const int32_t nanos = message.nanos();
  constexpr int64_t kMost = 315'576'000'000;  // ten thousand years, as the message type has it
  const bool valid = seconds >= -kMost && seconds <= kMost && nanos > -1'000'000'000 && nanos < 1'000'000'000 &&
                     !(seconds > 0 && nanos < 0) && !(seconds < 0 && nanos > 0);
  *duration = valid ? absl::Seconds(seconds) + absl::Nanoseconds(nanos) : absl::ZeroDuration();
  if (valid && *duration >= least && *duration <= most) return std::nullopt;
  return Malformed(field, absl::StrCat("is not from ", absl::FormatDuration(least), " to ",
                                       absl::FormatDuration(most)));
}

MaybeError CheckRulesEnums(const v1::Rules& rules) {
  REVERSI_CHECK_FIELD(CheckEnum("rules.variant", rules.variant(), v1::Variant_IsValid));
  REVERSI_CHECK_FIELD(CheckEnum("rules.board", rules.board(), v1::Board_IsValid));
  REVERSI_CHECK_FIELD(CheckEnum("rules.objective", rules.objective(), v1::Objective_IsValid));
  return std::nullopt;
}

// Enum numbers have been checked: all known and, less one, those of the engine.
template <typename To>
std::optional<To> FromApi(int value) {
  if (value == 0) return std::nullopt;
  return static_cast<To>(value - 1);
}
static_assert(static_cast<int>(Variant::kRoyal) + 1 == v1::VARIANT_ROYAL);
static_assert(static_cast<int>(Board::kOctagon) + 1 == v1::BOARD_OCTAGON);
static_assert(static_cast<int>(Objective::kFewestDiscs) + 1 == v1::OBJECTIVE_FEWEST_DISCS);
static_assert(static_cast<int>(Color::kYellow) + 1 == v1::COLOR_YELLOW);
static_assert(static_cast<int>(GameState::kFinished) + 1 == v1::GAME_STATE_FINISHED);

RulesRequest ToRulesRequest(const v1::Rules& rules, uint64_t seed) {
  RulesRequest request;
  request.variant = FromApi<Variant>(rules.variant());
  request.players = rules.players();
  request.board = FromApi<Board>(rules.board());
  request.objective = FromApi<Objective>(rules.objective());
  request.free_opening = rules.free_opening();
  request.corner_handicap = rules.corner_handicap();
  request.blocked_squares.assign(rules.blocked_squares().begin(), rules.blocked_squares().end());
  request.random_blocked = rules.random_blocked();
  request.blocked_seed = rules.blocked_seed();
  const bool server_chooses = request.random_blocked != 0 && request.blocked_squares.empty();
  if (server_chooses && request.blocked_seed == 0) request.blocked_seed = seed == 0 ? 1 : seed;
  request.sides = rules.sides();
  return request;
}

MaybeError CheckSeats(const v1::CreateGameRequest& request, uint32_t players) {
  if (request.seats().empty()) return std::nullopt;
  for (int i = 0; i < request.seats_size(); ++i) {
    const v1::Seat& seat = request.seats(i);
    const std::string path = absl::StrCat("seats[", i, "]");
    REVERSI_CHECK_FIELD(CheckEnum(path + ".color", seat.color(), v1::Color_IsValid));
    REVERSI_CHECK_FIELD(CheckEnum(path + ".kind", seat.kind(), v1::SeatKind_IsValid));
    REVERSI_CHECK_FIELD(CheckName(path + ".display_name", seat.display_name()));
    if (seat.color() != v1::COLOR_UNSPECIFIED && seat.color() != i + 1) {
      return Malformed(path + ".color", "is not the color of this place in the turn order");
    }
  }
  if (static_cast<uint32_t>(request.seats_size()) != players) {
    return Malformed("seats", absl::StrCat("has ", request.seats_size(), " seats for ", players, " players"));
  }
  return std::nullopt;
}

MaybeError CheckForm(const v1::CreateGameRequest& request, Start* start) {
  REVERSI_CHECK_FIELD(CheckRulesEnums(request.rules()));
  const auto variant = FromApi<Variant>(request.rules().variant()).value_or(Variant::kMultiplayer);
  const uint32_t players = request.rules().players() != 0
                               ? request.rules().players()
                               : static_cast<uint32_t>(Spec(variant).default_players);
  REVERSI_CHECK_FIELD(CheckSeats(request, players));
  REVERSI_CHECK_FIELD(CheckRequestId(request.request_id()));
  if (!request.game_id().empty()) REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  if (request.opening_moves_size() > kMaxOpeningMoves) {
    return Malformed("opening_moves", absl::StrCat("has more than ", kMaxOpeningMoves, " moves"));
  }
  for (int i = 0; i < request.opening_moves_size(); ++i) {
    REVERSI_CHECK_FIELD(CheckMoveText(absl::StrCat("opening_moves[", i, "]"), request.opening_moves(i)));
  }
  if (request.has_turn_limit()) {
    absl::Duration limit;
    REVERSI_CHECK_FIELD(ReadDuration("turn_limit", request.turn_limit(), kMinTurnLimit, kMaxTurnLimit, &limit));
    start->turn_limit = absl::Floor(limit, absl::Milliseconds(1));
  }
  REVERSI_CHECK_FIELD(CheckEnum("timeout_action", request.timeout_action(), v1::TimeoutAction_IsValid));
  return std::nullopt;
}

// The request without its request_id, the same bytes for equal requests.
std::string BodyDigest(v1::CreateGameRequest request) {
  request.clear_request_id();
  std::string text;
  {
    google::protobuf::io::StringOutputStream stream(&text);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    request.SerializeToCodedStream(&coded);
  }
  return Digest({"body", text});
}

}  // namespace

OrError<CreateCall> Check(const v1::CreateGameRequest& request, std::string_view caller, uint64_t seed) {
  CreateCall call;
  call.game_id = request.game_id();
  call.request_id = request.request_id();
  Start& start = call.wish.start;
  REVERSI_CHECK_FIELD(CheckForm(request, &start));
  auto rules = MakeRules(ToRulesRequest(request.rules(), seed));
  if (auto* wrong = std::get_if<RulesError>(&rules)) {
    const std::string path = "rules." + wrong->field;
    const bool square = wrong->kind == RulesError::Kind::kBadSquare;
    return Error{.reason = square ? Reason::kBadSquare : Reason::kUnsupportedRules,
                 .message = absl::StrCat(path, ": ", wrong->message),
                 .field = path};
  }
  start.rules = std::get<Rules>(std::move(rules));
  for (int i = 0; i < request.opening_moves_size(); ++i) {
    auto move = ReadMove(absl::StrCat("opening_moves[", i, "]"), request.opening_moves(i));
    if (auto* wrong = std::get_if<Error>(&move)) return std::move(*wrong);
    start.opening.push_back(std::get<Move>(move));
  }
  start.seats.resize(static_cast<size_t>(start.rules.players));
  for (int i = 0; i < request.seats_size(); ++i) {
    const v1::Seat& seat = request.seats(i);
    start.seats[static_cast<size_t>(i)] = {seat.kind() == v1::SEAT_KIND_OPEN, seat.display_name()};
  }
  const bool plays = request.timeout_action() == v1::TIMEOUT_ACTION_PLAY;
  start.timeout_action = plays ? TimeoutAction::kPlay : TimeoutAction::kLeave;
  start.unlisted = request.unlisted();
  if (!call.request_id.empty()) {
    start.request = Digest({"create", caller, call.request_id});
    start.body = BodyDigest(request);
  }
  return call;
}

OrError<JoinWish> Check(const v1::JoinGameRequest& request) {
  REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  REVERSI_CHECK_FIELD(CheckRequestId(request.request_id()));
  REVERSI_CHECK_FIELD(CheckEnum("color", request.color(), v1::Color_IsValid));
  REVERSI_CHECK_FIELD(CheckName("display_name", request.display_name()));
  JoinWish wish{.wanted = request.color() - 1, .name = request.display_name()};
  if (!request.request_id().empty()) wish.request = Digest({"join", request.request_id()});
  return wish;
}

OrError<MoveWish> Check(const v1::SubmitMoveRequest& request) {
  REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  REVERSI_CHECK_FIELD(CheckToken("seat_token", request.seat_token()));
  REVERSI_CHECK_FIELD(CheckMoveText("move", request.move()));
  auto move = ReadMove("move", request.move());
  if (auto* wrong = std::get_if<Error>(&move)) return std::move(*wrong);
  return MoveWish{request.seat_token(), std::get<Move>(move), request.expected_version()};
}

OrError<ResignWish> Check(const v1::ResignGameRequest& request) {
  REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  REVERSI_CHECK_FIELD(CheckToken("seat_token", request.seat_token()));
  return ResignWish{request.seat_token()};
}

OrError<AbortWish> Check(const v1::AbortGameRequest& request) {
  REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  REVERSI_CHECK_FIELD(CheckToken("owner_token", request.owner_token()));
  return AbortWish{request.owner_token()};
}

OrError<WatchCall> Check(const v1::WatchGameRequest& request) {
  REVERSI_CHECK_FIELD(CheckGameId(request.game_id()));
  WatchCall call;
  if (request.has_after_version()) call.after_version = request.after_version();
  if (request.has_heartbeat_interval()) {
    REVERSI_CHECK_FIELD(ReadDuration("heartbeat_interval", request.heartbeat_interval(), kMinHeartbeat,
                                     kMaxHeartbeat, &call.heartbeat));
  }
  return call;
}

OrError<ListCall> Check(const v1::ListGamesRequest& request) {
  if (request.page_size() < 0) return Malformed("page_size", "is negative");
  REVERSI_CHECK_FIELD(CheckEnum("state", request.state(), v1::GameState_IsValid));
  REVERSI_CHECK_FIELD(CheckEnum("variant", request.variant(), v1::Variant_IsValid));
  ListCall call;
  if (request.page_size() != 0) call.page_size = std::min(request.page_size(), kMaxPageSize);
  call.page_token = request.page_token();
  call.state = FromApi<GameState>(request.state());
  call.variant = FromApi<Variant>(request.variant());
  return call;
}

std::optional<Error> Check(const v1::GetGameRequest& request) { return CheckGameId(request.game_id()); }

}  // namespace reversi
