// Fields of a protobuf message, written without the message: for what is made at every move.
#ifndef REVERSI_SERVICE_WIRE_FIELDS_H_
#define REVERSI_SERVICE_WIRE_FIELDS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace reversi {

// In the order in which they are added. A number that is zero is left out, as proto3 does.
class WireFields {
 public:
  explicit WireFields(size_t likely_bytes) { bytes_.reserve(likely_bytes); }

  // Any integer, bool or enum that is not signed, fixed or zigzag.
  void AddNumber(int field, uint64_t value) {
    if (value == 0) return;
    AddTag(field, kVarint);
    AddVarint(value);
  }
  void AddFixed64(int field, uint64_t value) {
    if (value == 0) return;
    AddTag(field, kFixed64);
    for (int bit = 0; bit < 64; bit += 8) bytes_.push_back(static_cast<char>(value >> bit));
  }
  // A string, bytes, a message or a packed list: also an empty one.
  void AddBytes(int field, std::string_view bytes) {
    AddTag(field, kLengthDelimited);
    AddVarint(bytes.size());
    bytes_.append(bytes);
  }
  // An element of a packed list.
  void AddVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  // Once, at the end.
  std::string Take() { return std::move(bytes_); }

 private:
  enum Type : uint8_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };
  void AddTag(int field, Type type) { AddVarint(static_cast<uint64_t>(field) << 3 | type); }

  std::string bytes_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_WIRE_FIELDS_H_
