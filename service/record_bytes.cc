#include "service/record_bytes.h"

namespace reversi {
namespace {

constexpr char kFormatTag = 0x08;
constexpr char kPutIdTag = 0x11;
constexpr char kNonceTag = 0x1a;
constexpr char kStartTag = 0x22;
constexpr char kLogTag = 0x2a;

enum Code : uint8_t {
  kJack = kSquareCodes,
  kRows = 101,
  kOnTimeout = 102,
  kJoined = 103,
  kResigned = 104,
  kTimedOut = 105,
  kAborted = 106,
  kExpired = 107,
};

}  // namespace

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

Move RecordReader::TakeMove(int code) {
  if (code < kSquareCodes) return {Move::Kind::kPlace, SquareOf(code), 0};
  if (code == kJack) return {Move::Kind::kJack, {}, 0};
  if (code != kRows) ok_ = false;
  const Square square = TakeSquare();
  return {Move::Kind::kPlaceRows, square, static_cast<RowMask>(Byte())};
}

Command TakeCommand(RecordReader& reader) {
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

std::optional<RecordParts> SplitRecord(std::string_view bytes) {
  RecordReader reader(bytes);
  reader.Expect(kFormatTag);
  if (reader.Byte() != static_cast<int>(kRecordFormat)) return std::nullopt;
  reader.Expect(kPutIdTag);
  reader.Take(8);
  RecordParts parts;
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

std::string RecordHead(uint64_t put_id, std::string_view nonce, std::string_view start) {
  std::string head;
  PutByte(head, kFormatTag);
  AppendVarint(head, kRecordFormat);
  PutByte(head, kPutIdTag);
  head += PutIdBytes(put_id);
  PutByte(head, kNonceTag);
  PutText(head, nonce);
  PutByte(head, kStartTag);
  PutText(head, start);
  return head;
}

void PutLogSize(std::string& to, size_t size) {
  PutByte(to, kLogTag);
  AppendVarint(to, size);
}

}  // namespace reversi
