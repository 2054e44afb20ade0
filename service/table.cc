#include "service/table.h"

#include <array>
#include <cstring>
#include <utility>

#include "engine/packed.h"

namespace reversi {
namespace {

void Finish(Table& table, EndReason reason) {
  table.state = GameState::kFinished;
  table.reason = reason;
  table.deadline = absl::InfiniteFuture();
}

// A turn begins at the table's time.
void StartTurn(Table& table) {
  table.turn_since = table.version;
  table.deadline = table.turn_limit > absl::ZeroDuration() ? table.time + table.turn_limit : absl::InfiniteFuture();
}

void ApplyLeaving(const Table& before, Event& event) {
  Table& after = event.after;
  const int seat = event.command.seat;
  const bool on_turn = before.position.turn() == static_cast<Color>(seat);
  Played played = before.position.Leave(seat);
  event.passed = played.passed;
  after.position = std::move(played.next);
  if (after.position.over()) {
    const EndReason reason =
        event.command.kind == Command::Kind::kTimeOut ? EndReason::kTimeout : EndReason::kResignation;
    Finish(after, after.position.won_by_leaving() ? reason : EndReason::kCompleted);
  } else if (on_turn) {
    StartTurn(after);
  }
}

// What a packed table begins with; the packed position follows.
struct PackedHead {
  uint32_t version;
  uint32_t turn_since;
  int64_t time_ms;
  int64_t deadline_ms;  // 0 = none
  uint32_t turn_limit_ms;
  TimeoutAction timeout_action;
  GameState state;
  EndReason reason;
  SeatSet open;
};
constexpr size_t kHeadWords = sizeof(PackedHead) / sizeof(uint64_t);
static_assert(sizeof(PackedHead) == kHeadWords * sizeof(uint64_t));

PackedHead HeadOf(const uint64_t* words) {
  PackedHead head;
  std::memcpy(&head, words, sizeof(head));
  return head;
}

}  // namespace

PackedTable::PackedTable(const Table& table) {
  const PackedHead head = {
      .version = static_cast<uint32_t>(table.version),
      .turn_since = static_cast<uint32_t>(table.turn_since),
      .time_ms = absl::ToUnixMillis(table.time),
      .deadline_ms = table.deadline == absl::InfiniteFuture() ? 0 : absl::ToUnixMillis(table.deadline),
      .turn_limit_ms = static_cast<uint32_t>(absl::ToInt64Milliseconds(table.turn_limit)),
      .timeout_action = table.timeout_action,
      .state = table.state,
      .reason = table.reason,
      .open = table.open,
  };
  std::array<uint64_t, kHeadWords + kMostPackedWords> words;
  std::memcpy(words.data(), &head, sizeof(head));
  const size_t size = kHeadWords + Pack(table.position, words.data() + kHeadWords);
  words_.reset(new uint64_t[size]);
  std::memcpy(words_.get(), words.data(), size * sizeof(uint64_t));
}

Table PackedTable::Unpack() const {
  const PackedHead head = HeadOf(words_.get());
  return {
      .position = reversi::Unpack(words_.get() + kHeadWords),
      .version = head.version,
      .time = absl::FromUnixMillis(head.time_ms),
      .deadline = head.deadline_ms == 0 ? absl::InfiniteFuture() : absl::FromUnixMillis(head.deadline_ms),
      .turn_since = head.turn_since,
      .turn_limit = absl::Milliseconds(head.turn_limit_ms),
      .timeout_action = head.timeout_action,
      .state = head.state,
      .reason = head.reason,
      .open = head.open,
  };
}

uint64_t PackedTable::turn_since() const { return HeadOf(words_.get()).turn_since; }
int64_t PackedTable::time_ms() const { return HeadOf(words_.get()).time_ms; }

std::variant<Event, BadOpening> Begin(const Start& start) {
  Event event{.created = true, .after = {.position = Position(start.rules)}};
  Table& table = event.after;
  event.passed = table.position.start_passes();
  for (size_t i = 0; i < start.opening.size(); ++i) {
    auto result = table.position.Play(start.opening[i]);
    if (const auto* why = std::get_if<WhyIllegal>(&result)) return BadOpening{i, *why};
    Played& played = std::get<Played>(result);
    event.passed = played.passed;
    table.position = std::move(played.next);
  }
  table.version = 1;
  table.time = start.created;
  table.turn_limit = start.turn_limit;
  table.timeout_action = start.timeout_action;
  for (size_t i = 0; i < start.seats.size(); ++i) {
    if (start.seats[i].open) table.open = static_cast<SeatSet>(table.open | 1u << i);
  }
  if (table.position.over()) {
    Finish(table, EndReason::kCompleted);
  } else if (table.open != 0) {
    table.state = GameState::kWaiting;
  } else {
    StartTurn(table);
  }
  return event;
}

std::variant<Event, WhyIllegal> Apply(const Table& table, Command command) {
  Event event{.command = std::move(command), .after = table};
  Table& after = event.after;
  ++after.version;
  after.time = event.command.time;
  switch (event.command.kind) {
    case Command::Kind::kMove: {
      auto result = table.position.Play(event.command.move);
      if (const auto* why = std::get_if<WhyIllegal>(&result)) return *why;
      Played& played = std::get<Played>(result);
      event.command.seat = static_cast<int>(table.position.turn());
      event.command.move = played.move;
      event.flipped = played.flipped;
      event.passed = played.passed;
      after.position = std::move(played.next);
      if (after.position.over()) {
        Finish(after, EndReason::kCompleted);
      } else {
        StartTurn(after);
      }
      break;
    }
    case Command::Kind::kJoin:
      after.open = static_cast<SeatSet>(after.open & ~(1u << event.command.seat));
      if (after.open == 0) {
        after.state = GameState::kActive;
        StartTurn(after);
      }
      break;
    case Command::Kind::kResign:
    case Command::Kind::kTimeOut:
      ApplyLeaving(table, event);
      break;
    case Command::Kind::kAbort:
      Finish(after, EndReason::kAborted);
      break;
    case Command::Kind::kExpire:
      Finish(after, EndReason::kExpired);
      break;
  }
  return event;
}

bool Replay(const Record& record, absl::FunctionRef<bool(const Event&)> visit) {
  const Start start = record.start();
  auto begun = Begin(start);
  if (!std::holds_alternative<Event>(begun)) return false;
  Event event = std::get<Event>(std::move(begun));
  if (!visit(event)) return true;
  bool sound = true;
  const bool read = record.ForEach(start.created, [&](const Command& command) {
    const Table& table = event.after;
    const bool leaves = command.kind == Command::Kind::kResign || command.kind == Command::Kind::kTimeOut;
    // A damaged record must not reach what the engine forbids.
    sound = table.state != GameState::kFinished &&
            (!leaves || (table.state == GameState::kActive && command.seat < table.position.players() &&
                         (table.position.out() >> command.seat & 1) == 0));
    if (!sound) return false;
    auto next = Apply(table, command);
    sound = std::holds_alternative<Event>(next);
    if (!sound) return false;
    event = std::get<Event>(std::move(next));
    return visit(event);
  });
  return read && sound;
}

std::optional<Table> LastTable(const Record& record) {
  std::optional<Table> last;
  const bool sound = Replay(record, [&](const Event& event) {
    last = event.after;
    return true;
  });
  return sound ? last : std::nullopt;
}

}  // namespace reversi
