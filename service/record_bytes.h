// The bytes of a record: its parts and the encoding of its log, for the files that read and write them.
//
// The log, one event after the other:
//   event   = what elapsed          elapsed: varint, ms since the event before
//   what    = [102] move | 103 seat wanted+1 name request | 104 seat (resigned) | 105 seat (timed out)
//           | 106 (aborted) | 107 (expired)          102 in front of a move: made because the time ran out
//   move    = square | 100 (Jack) | 101 square rows         square: row * 10 + column
//   name, request = length bytes
// Every number but a length and `elapsed` is one byte.
#ifndef REVERSI_SERVICE_RECORD_BYTES_H_
#define REVERSI_SERVICE_RECORD_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/position.h"
#include "service/checked_bytes.h"
#include "service/record.h"

namespace reversi {

inline constexpr uint32_t kRecordFormat = 1;
// Where put_id's eight bytes stand: after format (tag, one byte) and its own tag.
inline constexpr size_t kPutIdAt = 3;
inline constexpr size_t kAfterPutId = kPutIdAt + 8;

// An event's first byte: what is below is the square of a move.
inline constexpr int kSquareCodes = 100;

inline void PutByte(std::string& to, int value) { to.push_back(static_cast<char>(value)); }

inline void PutText(std::string& to, std::string_view text) {
  AppendVarint(to, text.size());
  to.append(text);
}

void PutMove(std::string& to, const Move& move);
void PutWhat(std::string& to, const Command& command);
// Eight bytes, the lowest first.
std::string PutIdBytes(uint64_t put_id);

// Takes bytes from the front; once something is missing or wrong, ok() is false for good.
class RecordReader {
 public:
  explicit RecordReader(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  bool done() const { return text_.empty() || !ok_; }
  std::string_view rest() const { return text_; }

  int Byte() { return static_cast<uint8_t>(Take(1).empty() ? 0 : taken_[0]); }
  uint64_t Varint() {
    const auto value = ok_ ? TakeVarint(text_) : std::nullopt;
    ok_ = value.has_value();
    return value.value_or(0);
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
  Square TakeSquare() { return SquareOf(Below(kSquareCodes)); }
  static Square SquareOf(int index) {
    return {static_cast<uint8_t>(index / 10), static_cast<uint8_t>(index % 10)};
  }
  Move TakeMove(int code);

 private:
  std::string_view text_;
  std::string_view taken_;
  bool ok_ = true;
};

Command TakeCommand(RecordReader& reader);

// The three parts after format and put_id.
struct RecordParts {
  std::string_view nonce;
  std::string_view start;
  std::string_view log;
};

// nullopt = these are not a record's bytes.
std::optional<RecordParts> SplitRecord(std::string_view bytes);
// The first three parts; what follows is PutLogSize and the log.
std::string RecordHead(uint64_t put_id, std::string_view nonce, std::string_view start);
void PutLogSize(std::string& to, size_t size);

}  // namespace reversi

#endif  // REVERSI_SERVICE_RECORD_BYTES_H_
