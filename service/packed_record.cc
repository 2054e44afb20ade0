#include "service/packed_record.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "service/record_bytes.h"

// packed  = nonce start events bits         nonce, start: length bytes; events: their number; lengths, numbers: varints
// bits    = code_bits:3 elapsed_bits:6, then for each event code:code_bits [length bytes] elapsed
//   code    = the first byte of the event in the log, squares renumbered; if it is no square, its other bytes follow
//   elapsed = elapsed_bits; all of them set: a varint follows
// Bits fill each byte from the lowest up.

namespace reversi {
namespace {

constexpr int kVarintBits = 8;  // each seven of them and whether more follow
constexpr int kCodeBitsBits = 3;
constexpr int kElapsedBitsBits = 6;
constexpr int kMostElapsedBits = 32;

// Squares of the top left 8x8 first, so that a game on it needs six bits for each; other codes stay what they are.
int SmallCode(int code) {
  if (code >= kSquareCodes) return code;
  const int row = code / 10;
  const int col = code % 10;
  if (row >= 8) return code;
  return col < 8 ? row * 8 + col : 64 + row * 2 + col - 8;
}

int CodeOf(int small) {
  if (small < 64) return small / 8 * 10 + small % 8;
  return small < 80 ? (small - 64) / 2 * 10 + 8 + small % 2 : small;
}

class BitWriter {
 public:
  explicit BitWriter(std::string& to) : to_(to) {}
  void Put(uint64_t value, int bits) {
    for (; bits > 0; --bits, value >>= 1, ++used_) {
      if (used_ % 8 == 0) to_.push_back(0);
      to_.back() = static_cast<char>(to_.back() | static_cast<char>((value & 1) << used_ % 8));
    }
  }
  void AppendVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) Put(value | 0x80, kVarintBits);
    Put(value, kVarintBits);
  }

 private:
  std::string& to_;
  size_t used_ = 0;
};

class BitReader {
 public:
  explicit BitReader(std::string_view from) : from_(from) {}
  uint64_t Take(int bits) {
    uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++used_) {
      value |= static_cast<uint64_t>(from_[used_ / 8] >> used_ % 8 & 1) << i;
    }
    return value;
  }
  uint64_t TakeVarint() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint64_t byte = Take(kVarintBits);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  const std::string_view from_;
  size_t used_ = 0;
};

struct LoggedEvent {
  int code() const { return static_cast<uint8_t>(what[0]); }
  std::string_view what;
  uint64_t elapsed;
};

// nullopt = the log is damaged.
std::optional<std::vector<LoggedEvent>> EventsOf(std::string_view log) {
  std::vector<LoggedEvent> events;
  for (RecordReader reader(log); !reader.done();) {
    const std::string_view from = reader.rest();
    TakeCommand(reader);
    const std::string_view what = from.substr(0, from.size() - reader.rest().size());
    events.push_back({what, reader.Varint()});
    if (!reader.ok()) return std::nullopt;
  }
  return events;
}

size_t VarintBits(uint64_t value) { return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7 * kVarintBits; }

// What says that the time did not fit in so many bits.
uint64_t Longer(int elapsed_bits) { return (uint64_t{1} << elapsed_bits) - 1; }

// The width that takes the fewest bits over all: a long pause does not widen every time.
int ElapsedBits(const std::vector<LoggedEvent>& events) {
  int best = 0;
  size_t fewest = SIZE_MAX;
  for (int bits = 0; bits <= kMostElapsedBits; ++bits) {
    size_t sum = 0;
    for (const LoggedEvent& event : events) {
      sum += static_cast<size_t>(bits);
      if (event.elapsed >= Longer(bits)) sum += VarintBits(event.elapsed);
    }
    if (sum < fewest) {
      fewest = sum;
      best = bits;
    }
  }
  return best;
}

}  // namespace

std::string PackRecord(std::string_view record) {
  const auto parts = SplitRecord(record);
  const auto events = parts.has_value() ? EventsOf(parts->log) : std::nullopt;
  if (!events.has_value()) return {};
  int largest = 0;
  for (const LoggedEvent& event : *events) largest = std::max(largest, SmallCode(event.code()));
  const int code_bits = std::bit_width(static_cast<unsigned>(largest));
  const int elapsed_bits = ElapsedBits(*events);
  std::string packed;
  PutText(packed, parts->nonce);
  PutText(packed, parts->start);
  AppendVarint(packed, events->size());
  BitWriter bits(packed);
  bits.Put(static_cast<uint64_t>(code_bits), kCodeBitsBits);
  bits.Put(static_cast<uint64_t>(elapsed_bits), kElapsedBitsBits);
  for (const LoggedEvent& event : *events) {
    bits.Put(static_cast<uint64_t>(SmallCode(event.code())), code_bits);
    if (event.code() >= kSquareCodes) {
      bits.AppendVarint(event.what.size() - 1);
      for (char byte : event.what.substr(1)) bits.Put(static_cast<uint8_t>(byte), 8);
    }
    bits.Put(std::min(event.elapsed, Longer(elapsed_bits)), elapsed_bits);
    if (event.elapsed >= Longer(elapsed_bits)) bits.AppendVarint(event.elapsed);
  }
  return packed;
}

Bytes UnpackRecord(std::string_view packed) {
  RecordReader reader(packed);
  const std::string_view nonce = reader.Text();
  const std::string_view start = reader.Text();
  const uint64_t events = reader.Varint();
  BitReader bits(reader.rest());
  const int code_bits = static_cast<int>(bits.Take(kCodeBitsBits));
  const int elapsed_bits = static_cast<int>(bits.Take(kElapsedBitsBits));
  std::string log;
  for (uint64_t i = 0; i < events; ++i) {
    const int code = CodeOf(static_cast<int>(bits.Take(code_bits)));
    PutByte(log, code);
    if (code >= kSquareCodes) {
      for (uint64_t more = bits.TakeVarint(); more > 0; --more) PutByte(log, static_cast<int>(bits.Take(8)));
    }
    const uint64_t elapsed = bits.Take(elapsed_bits);
    AppendVarint(log, elapsed == Longer(elapsed_bits) ? bits.TakeVarint() : elapsed);
  }
  std::string head = RecordHead(0, nonce, start);
  PutLogSize(head, log.size());
  return Bytes(head, log);
}

}  // namespace reversi
