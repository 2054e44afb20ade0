// What a record means: the state of a game after each of its events. Pure values; no clock, no lock.
#ifndef REVERSI_SERVICE_TABLE_H_
#define REVERSI_SERVICE_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "engine/position.h"
#include "service/record.h"

namespace reversi {

enum class GameState : uint8_t { kWaiting, kActive, kFinished };
enum class EndReason : uint8_t { kCompleted, kResignation, kTimeout, kAborted, kExpired };

// A game after some event.
struct Table {
  Position position;
  uint64_t version = 0;
  absl::Time time = {};                          // of that event
  absl::Time deadline = absl::InfiniteFuture();  // when the turn limit of the seat on turn runs out
  uint64_t turn_since = 0;                       // version of the event that began this turn
  absl::Duration turn_limit = absl::ZeroDuration();
  TimeoutAction timeout_action = TimeoutAction::kLeave;
  GameState state = GameState::kActive;
  EndReason reason = EndReason::kCompleted;  // kFinished only
  SeatSet open = 0;                          // seats to be joined
};

// A table of a game that goes on, in as few bytes as it needs: 80 in the middle of a game of four on 8x8.
class PackedTable {
 public:
  PackedTable() = default;
  // The table's times are whole milliseconds.
  explicit PackedTable(const Table& table);
  // False = there is none; the other methods require one.
  explicit operator bool() const { return words_ != nullptr; }
  Table Unpack() const;
  uint64_t turn_since() const;
  // Time of the last event, ms since 1970.
  int64_t time_ms() const;

 private:
  std::unique_ptr<uint64_t[]> words_;
};

// One event, with what it did and the table after it.
struct Event {
  // kCreated has no command.
  bool created = false;
  Command command = {};
  SquareSet flipped = {};
  SeatSet passed = 0;
  Table after;
};

// An opening move that is none.
struct BadOpening {
  size_t index;
  WhyIllegal why;
};

// Event 1.
std::variant<Event, BadOpening> Begin(const Start& start);

// The event that the command becomes. Only moves can be refused; that everything else fits the state is the
// caller's part. Bare Royal squares become canonical.
std::variant<Event, WhyIllegal> Apply(const Table& table, Command command);

// The table after the record's last event; nullopt = the record makes no sense.
std::optional<Table> LastTable(const Record& record);

// Calls visit(event) for every event from the first until it returns false. False = the record makes no sense.
bool Replay(const Record& record, absl::FunctionRef<bool(const Event&)> visit);

}  // namespace reversi

#endif  // REVERSI_SERVICE_TABLE_H_
