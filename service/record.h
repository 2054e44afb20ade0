// A game's record: how it began and its log of commands, a few bytes each, in one block of shared bytes. It is what
// stores keep and what a game is; everything else is computed from it.
#ifndef REVERSI_SERVICE_RECORD_H_
#define REVERSI_SERVICE_RECORD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "engine/position.h"
#include "engine/rules.h"
#include "service/bytes.h"

namespace reversi {

enum class TimeoutAction : uint8_t { kLeave, kPlay };

// How a game began: event 1. Times and durations are whole milliseconds.
struct Start {
  struct Seat {
    bool open = false;
    std::string name;
  };
  Rules rules;
  std::vector<Seat> seats;  // one per player
  std::vector<Move> opening;
  absl::Duration turn_limit = absl::ZeroDuration();  // zero = none
  TimeoutAction timeout_action = TimeoutAction::kLeave;
  bool unlisted = false;
  absl::Time created;
  std::string nonce;    // what the tokens are computed over
  std::string request;  // digest of caller and request_id; empty = no deduplication
  std::string body;     // digest of the rest of that request
};

// One accepted command after the creation: what becomes an event.
struct Command {
  enum class Kind : uint8_t { kMove, kJoin, kResign, kTimeOut, kAbort, kExpire };
  Kind kind = Kind::kMove;
  int seat = 0;             // all but kAbort and kExpire; of a move it is the turn's and not in the log
  Move move = {};           // kMove, canonical
  bool on_timeout = false;  // kMove made by the server
  std::string name = {};    // kJoin
  std::string request = {};  // kJoin: digest of its request_id; empty = no deduplication
  int wanted = -1;           // kJoin: the seat asked for; -1 = any
  absl::Time time = {};
};

class Record {
 public:
  Record() = default;

  static Record Begin(const Start& start, uint64_t put_id);
  // Takes bytes from a store. Returns what is wrong with them: damaged, or of a format that this build does not know.
  static std::variant<Record, std::string> Read(Bytes bytes);

  // This record and one command more; `previous` is the time of the event before it.
  Record With(const Command& command, absl::Time previous, uint64_t put_id) const;

  // Whether this is `earlier` or a later record of the same game that has all of it.
  bool Continues(const Record& earlier) const;

  const Bytes& bytes() const { return bytes_; }
  uint64_t put_id() const;
  std::string_view nonce() const;
  Start start() const;
  // Calls visit(command) for every command in order until it returns false. False = the log is damaged.
  bool ForEach(absl::Time created, absl::FunctionRef<bool(const Command&)> visit) const;

 private:
  explicit Record(Bytes bytes) : bytes_(std::move(bytes)) {}
  Bytes bytes_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_RECORD_H_
