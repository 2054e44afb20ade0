// What kept bytes are made of: numbers as little-endian bytes or as varints, and CRC-32C over bytes.
#ifndef REVERSI_SERVICE_CHECKED_BYTES_H_
#define REVERSI_SERVICE_CHECKED_BYTES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reversi {

inline constexpr std::array<uint32_t, 256> kCrcTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    table[i] = crc;
  }
  return table;
}();

// The checksum of what `crc` is the checksum of (0 = nothing) and then these bytes.
inline uint32_t Crc(uint32_t crc, std::string_view bytes) {
  crc = ~crc;
  for (char byte : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff];
  return ~crc;
}

inline void AppendNumber(std::string& to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

inline uint64_t NumberAt(std::string_view text, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(text[at + static_cast<size_t>(i)])} << (8 * i);
  return value;
}

// Seven bits a byte, the lowest first, and whether more follow.
inline void AppendVarint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

// Takes it from the front; nullopt = there is none.
inline std::optional<uint64_t> TakeVarint(std::string_view& from) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

}  // namespace reversi

#endif  // REVERSI_SERVICE_CHECKED_BYTES_H_
