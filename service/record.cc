#include "service/record.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "reversi/store/v1/record.pb.h"

// The log, one event after the other:
//   event   = what elapsed          elapsed: varint, ms since the event before
//   what    = [102] move | 103 seat wanted+1 name request | 104 seat (resigned) | 105 seat (timed out)
//           | 106 (aborted) | 107 (expired)          102 in front of a move: made because the time ran out
//   move    = square | 100 (Jack) | 101 square rows         square: row * 10 + column
//   name, request = length bytes
// Every number but a length and `elapsed` is one byte.

namespace reversi {
namespace {

constexpr uint32_t kFormat = 1;
// Where put_id's eight bytes stand: after format (tag, one byte) and its own tag.
constexpr size_t kPutIdAt = 3;
constexpr size_t kAfterPutId = kPutIdAt + 8;
constexpr char kFormatTag = 0x08;
constexpr char kPutIdTag = 0x11;
constexpr char kNonceTag = 0x1a;
constexpr char kStartTag = 0x22;
constexpr char kLogTag = 0x2a;

enum Code : uint8_t {
  kJack = 100,
  kRows = 101,
  kOnTimeout = 102,
  kJoined = 103,
  kResigned = 104,
  kTimedOut = 105,
  kAborted = 106,
  kExpired = 107,
};

void PutByte(std::string& to, int value) { to.push_back(static_cast<char>(value)); }

void PutVarint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) PutByte(to, static_cast<int>(value & 0x7f) | 0x80);
  PutByte(to, static_cast<int>(value));
}

void PutText(std::string& to, std::string_view text) {
  PutVarint(to, text.size());
  to.append(text);
}

void PutMove(std::string& to, const Move& move) {
  switch (move.kind) {
    case Move::Kind::kPlace:
      PutByte(to, move.square.row * 10 + move.square.col);
      return;
    case Move::Kind::kPlaceRows:
      PutByte(to, kRows);
      PutByte(to, move.square.row * 10 + move.square.col);
      PutByte(to, move.rows);
      return;
    case Move::Kind::kJack:
      PutByte(to, kJack);
      return;
  }
}

void PutWhat(std::string& to, const Command& command) {
  switch (command.kind) {
    case Command::Kind::kMove:
      if (command.on_timeout) PutByte(to, kOnTimeout);
      PutMove(to, command.move);
      return;
    case Command::Kind::kJoin:
      PutByte(to, kJoined);
      PutByte(to, command.seat);
      PutByte(to, command.wanted + 1);
      PutText(to, command.name);
      PutText(to, command.request);
      return;
    case Command::Kind::kResign:
      PutByte(to, kResigned);
      PutByte(to, command.seat);
      return;
    case Command::Kind::kTimeOut:
      PutByte(to, kTimedOut);
      PutByte(to, command.seat);
      return;
    case Command::Kind::kAbort:
      PutByte(to, kAborted);
      return;
    case Command::Kind::kExpire:
      PutByte(to, kExpired);
      return;
  }
}

// Takes bytes from the front; once something is missing or wrong, ok() is false for good.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  bool done() const { return text_.empty() || !ok_; }
  std::string_view rest() const { return text_; }

  int Byte() { return static_cast<uint8_t>(Take(1).empty() ? 0 : taken_[0]); }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const int byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view Text() { return Take(Varint()); }
  std::string_view Take(uint64_t size) {
    if (size > text_.size()) ok_ = false;
    taken_ = ok_ ? text_.substr(0, size) : std::string_view();
    text_.remove_prefix(taken_.size());
    return taken_;
  }
  void Expect(char tag) { ok_ = ok_ && Byte() == static_cast<uint8_t>(tag) && ok_; }
  int Below(int limit) {
    const int value = Byte();
    if (value >= limit) ok_ = false;
    return ok_ ? value : 0;
  }
  Square TakeSquare() { return SquareOf(Below(100)); }
  static Square SquareOf(int index) {
    return {static_cast<uint8_t>(index / 10), static_cast<uint8_t>(index % 10)};
  }
  Move TakeMove(int code) {
    if (code < kJack) return {Move::Kind::kPlace, SquareOf(code), 0};
    if (code == kJack) return {Move::Kind::kJack, {}, 0};
    if (code != kRows) ok_ = false;
    const Square square = TakeSquare();
    return {Move::Kind::kPlaceRows, square, static_cast<RowMask>(Byte())};
  }

 private:
  std::string_view text_;
  std::string_view taken_;
  bool ok_ = true;
};

Command TakeCommand(Reader& reader) {
  Command command;
  int code = reader.Byte();
  if (code == kOnTimeout) {
    command.on_timeout = true;
    code = reader.Byte();
    if (code > kRows) code = 0xff;  // only a move follows
  }
  switch (code) {
    case kJoined:
      command.kind = Command::Kind::kJoin;
      command.seat = reader.Below(kMaxPlayers);
      command.wanted = reader.Below(kMaxPlayers + 1) - 1;
      command.name = std::string(reader.Text());
      command.request = std::string(reader.Text());
      break;
    case kResigned:
      command.kind = Command::Kind::kResign;
      command.seat = reader.Below(kMaxPlayers);
      break;
    case kTimedOut:
      command.kind = Command::Kind::kTimeOut;
      command.seat = reader.Below(kMaxPlayers);
      break;
    case kAborted:
      command.kind = Command::Kind::kAbort;
      break;
    case kExpired:
      command.kind = Command::Kind::kExpire;
      break;
    default:  // a byte from outside, not an enum: squares, moves and nonsense
      command.move = reader.TakeMove(code);
      break;
  }
  return command;
}

// The three parts after format and put_id.
struct Parts {
  std::string_view nonce;
  std::string_view start;
  std::string_view log;
};

std::optional<Parts> Split(std::string_view bytes) {
  Reader reader(bytes);
  reader.Expect(kFormatTag);
  if (reader.Byte() != static_cast<int>(kFormat)) return std::nullopt;
  reader.Expect(kPutIdTag);
  reader.Take(8);
  Parts parts;
  reader.Expect(kNonceTag);
  parts.nonce = reader.Text();
  reader.Expect(kStartTag);
  parts.start = reader.Text();
  reader.Expect(kLogTag);
  parts.log = reader.Text();
  if (!reader.ok() || !reader.done()) return std::nullopt;
  return parts;
}

std::string PutIdBytes(uint64_t put_id) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) PutByte(bytes, static_cast<int>(put_id >> shift & 0xff));
  return bytes;
}

store::v1::Start ToStored(const Start& start) {
  store::v1::Start stored;
  const Rules& rules = start.rules;
  stored.set_variant(static_cast<uint32_t>(rules.variant) + 1);
  stored.set_players(static_cast<uint32_t>(rules.players));
  stored.set_board(static_cast<uint32_t>(rules.board) + 1);
  stored.set_fewest_discs(rules.objective == Objective::kFewestDiscs);
  stored.set_free_opening(rules.free_opening);
  stored.set_corner_handicap(static_cast<uint32_t>(rules.corner_handicap));
  for (Square square : rules.blocked) PutByte(*stored.mutable_blocked(), square.row * 10 + square.col);
  stored.set_random_blocked(static_cast<uint32_t>(rules.random_blocked));
  stored.set_blocked_seed(rules.blocked_seed);
  stored.set_sides(rules.sides);
  bool plain = true;
  for (const Start::Seat& seat : start.seats) plain = plain && !seat.open && seat.name.empty();
  if (!plain) {
    for (const Start::Seat& seat : start.seats) {
      auto* to = stored.add_seats();
      to->set_open(seat.open);
      to->set_name(seat.name);
    }
  }
  for (const Move& move : start.opening) PutMove(*stored.mutable_opening(), move);
  stored.set_turn_limit_ms(static_cast<uint32_t>(absl::ToInt64Milliseconds(start.turn_limit)));
  stored.set_timeout_plays(start.timeout_action == TimeoutAction::kPlay);
  stored.set_unlisted(start.unlisted);
  stored.set_create_time_ms(absl::ToUnixMillis(start.created));
  stored.set_request(start.request);
  stored.set_body(start.body);
  return stored;
}

bool InRange(const store::v1::Start& stored) {
  return stored.variant() >= 1 && stored.variant() <= Variants().size() && stored.board() >= 1 &&
         stored.board() <= static_cast<uint32_t>(kBoards) && stored.players() >= 2 &&
         stored.players() <= static_cast<uint32_t>(kMaxPlayers) &&
         (stored.seats().empty() || stored.seats_size() == static_cast<int>(stored.players()));
}

Start FromStored(const store::v1::Start& stored, std::string_view nonce) {
  Start start;
  Rules& rules = start.rules;
  rules.variant = static_cast<Variant>(stored.variant() - 1);
  rules.players = static_cast<int>(stored.players());
  rules.board = static_cast<Board>(stored.board() - 1);
  rules.objective = stored.fewest_discs() ? Objective::kFewestDiscs : Objective::kMostDiscs;
  rules.free_opening = stored.free_opening();
  rules.corner_handicap = static_cast<int>(stored.corner_handicap());
  for (char index : stored.blocked()) rules.blocked.push_back(Reader::SquareOf(static_cast<uint8_t>(index)));
  rules.random_blocked = static_cast<int>(stored.random_blocked());
  rules.blocked_seed = stored.blocked_seed();
  rules.sides = stored.sides();
  start.seats.resize(stored.players());
  for (int i = 0; i < stored.seats_size(); ++i) {
    start.seats[static_cast<size_t>(i)] = {stored.seats(i).open(), stored.seats(i).name()};
  }
  for (Reader reader(stored.opening()); !reader.done();) start.opening.push_back(reader.TakeMove(reader.Byte()));
  start.turn_limit = absl::Milliseconds(stored.turn_limit_ms());
  start.timeout_action = stored.timeout_plays() ? TimeoutAction::kPlay : TimeoutAction::kLeave;
  start.unlisted = stored.unlisted();
  start.created = absl::FromUnixMillis(stored.create_time_ms());
  start.nonce = std::string(nonce);
  start.request = stored.request();
  start.body = stored.body();
  return start;
}

}  // namespace

Record Record::Begin(const Start& start, uint64_t put_id) {
  std::string head;
  PutByte(head, kFormatTag);
  PutVarint(head, kFormat);
  PutByte(head, kPutIdTag);
  head += PutIdBytes(put_id);
  PutByte(head, kNonceTag);
  PutText(head, start.nonce);
  PutByte(head, kStartTag);
  PutText(head, ToStored(start).SerializeAsString());
  PutByte(head, kLogTag);
  PutVarint(head, 0);
  return Record(Bytes(head));
}

std::variant<Record, std::string> Record::Read(Bytes bytes) {
  store::v1::Record head;
  const std::string_view view = bytes.view();
  if (view.empty() || !head.ParseFromArray(view.data(), static_cast<int>(view.size()))) {
    return "the record is damaged";
  }
  if (head.format() > kFormat) {
    return absl::StrCat("the record has format ", head.format(), "; this build reads up to ", kFormat);
  }
  if (!Split(view).has_value() || !InRange(head.start())) return "the record is damaged";
  // Rules that the engine would not have made are not for its eyes.
  const Rules rules = FromStored(head.start(), {}).rules;
  const auto made = MakeRules(ToRequest(rules));
  if (!std::holds_alternative<Rules>(made) || std::get<Rules>(made) != rules) return "the record is damaged";
  return Record(std::move(bytes));
}

Record Record::With(const Command& command, absl::Time previous, uint64_t put_id) const {
  const std::string_view view = bytes_.view();
  const Parts parts = *Split(view);
  std::string event;
  PutWhat(event, command);
  PutVarint(event, static_cast<uint64_t>(absl::ToInt64Milliseconds(command.time - previous)));
  std::string head(view.substr(0, kPutIdAt));
  head += PutIdBytes(put_id);
  const size_t middle = static_cast<size_t>(parts.start.data() - view.data()) + parts.start.size();
  head.append(view.substr(kAfterPutId, middle - kAfterPutId));
  PutByte(head, kLogTag);
  PutVarint(head, parts.log.size() + event.size());
  return Record(Bytes(head, parts.log, event));
}

bool Record::Continues(const Record& earlier) const {
  const Parts mine = *Split(bytes_.view());
  const Parts theirs = *Split(earlier.bytes_.view());
  return mine.nonce == theirs.nonce && mine.start == theirs.start && mine.log.starts_with(theirs.log);
}

uint64_t Record::put_id() const {
  uint64_t id = 0;
  for (size_t i = 0; i < 8; ++i) id |= uint64_t{static_cast<uint8_t>(bytes_.view()[kPutIdAt + i])} << (8 * i);
  return id;
}

std::string_view Record::nonce() const { return Split(bytes_.view())->nonce; }

Start Record::start() const {
  const Parts parts = *Split(bytes_.view());
  store::v1::Start stored;
  stored.ParseFromArray(parts.start.data(), static_cast<int>(parts.start.size()));
  return FromStored(stored, parts.nonce);
}

bool Record::ForEach(absl::Time created, absl::FunctionRef<bool(const Command&)> visit) const {
  Reader reader(Split(bytes_.view())->log);
  absl::Time time = created;
  while (!reader.done()) {
    Command command = TakeCommand(reader);
    time += absl::Milliseconds(static_cast<int64_t>(reader.Varint()));
    command.time = time;
    if (!reader.ok()) return false;
    if (!visit(command)) return true;
  }
  return reader.ok();
}

}  // namespace reversi
