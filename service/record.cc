#include "service/record.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "reversi/store/v1/record.pb.h"
#include "service/record_bytes.h"

namespace reversi {
namespace {

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
  for (char index : stored.blocked()) rules.blocked.push_back(RecordReader::SquareOf(static_cast<uint8_t>(index)));
  rules.random_blocked = static_cast<int>(stored.random_blocked());
  rules.blocked_seed = stored.blocked_seed();
  rules.sides = stored.sides();
  start.seats.resize(stored.players());
  for (int i = 0; i < stored.seats_size(); ++i) {
    start.seats[static_cast<size_t>(i)] = {stored.seats(i).open(), stored.seats(i).name()};
  }
  for (RecordReader reader(stored.opening()); !reader.done();) start.opening.push_back(reader.TakeMove(reader.Byte()));
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
  std::string head = RecordHead(put_id, start.nonce, ToStored(start).SerializeAsString());
  PutLogSize(head, 0);
  return Record(Bytes(head));
}

std::variant<Record, std::string> Record::Read(Bytes bytes) {
  store::v1::Record head;
  const std::string_view view = bytes.view();
  if (view.empty() || !head.ParseFromArray(view.data(), static_cast<int>(view.size()))) {
    return "the record is damaged";
  }
  if (head.format() > kRecordFormat) {
    return absl::StrCat("the record has format ", head.format(), "; this build reads up to ", kRecordFormat);
  }
  if (!SplitRecord(view).has_value() || !InRange(head.start())) return "the record is damaged";
  // Rules that the engine would not have made are not for its eyes.
  const Rules rules = FromStored(head.start(), {}).rules;
  const auto made = MakeRules(ToRequest(rules));
  if (!std::holds_alternative<Rules>(made) || std::get<Rules>(made) != rules) return "the record is damaged";
  return Record(std::move(bytes));
}

Record Record::With(const Command& command, absl::Time previous, uint64_t put_id) const {
  const std::string_view view = bytes_.view();
  const RecordParts parts = *SplitRecord(view);
  std::string event;
  PutWhat(event, command);
  AppendVarint(event, static_cast<uint64_t>(absl::ToInt64Milliseconds(command.time - previous)));
  std::string head(view.substr(0, kPutIdAt));
  head += PutIdBytes(put_id);
  const size_t middle = static_cast<size_t>(parts.start.data() - view.data()) + parts.start.size();
  head.append(view.substr(kAfterPutId, middle - kAfterPutId));
  PutLogSize(head, parts.log.size() + event.size());
  return Record(Bytes(head, parts.log, event));
}

bool Record::Continues(const Record& earlier) const {
  const RecordParts mine = *SplitRecord(bytes_.view());
  const RecordParts theirs = *SplitRecord(earlier.bytes_.view());
  return mine.nonce == theirs.nonce && mine.start == theirs.start && mine.log.starts_with(theirs.log);
}

uint64_t Record::put_id() const {
  uint64_t id = 0;
  for (size_t i = 0; i < 8; ++i) id |= uint64_t{static_cast<uint8_t>(bytes_.view()[kPutIdAt + i])} << (8 * i);
  return id;
}

std::string_view Record::nonce() const { return SplitRecord(bytes_.view())->nonce; }

Start Record::start() const {
  const RecordParts parts = *SplitRecord(bytes_.view());
  store::v1::Start stored;
  stored.ParseFromArray(parts.start.data(), static_cast<int>(parts.start.size()));
  return FromStored(stored, parts.nonce);
}

bool Record::ForEach(absl::Time created, absl::FunctionRef<bool(const Command&)> visit) const {
  RecordReader reader(SplitRecord(bytes_.view())->log);
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
