// Secrets that are computed, not stored: HMAC-SHA-256 over the game's id, a nonce of its creation, and the seat or
// the owner. The first key signs, every key verifies.
#ifndef REVERSI_SERVICE_TOKENS_H_
#define REVERSI_SERVICE_TOKENS_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rules.h"

namespace reversi {

// A key has at least this many bytes.
inline constexpr size_t kMinKeyBytes = 32;

class Tokens {
 public:
  // Requires at least one key, each of kMinKeyBytes or more.
  explicit Tokens(const std::vector<std::string>& keys);
  ~Tokens();
  Tokens(const Tokens&) = delete;
  Tokens& operator=(const Tokens&) = delete;

  std::string SeatToken(std::string_view game_id, std::string_view nonce, int seat) const;
  std::string OwnerToken(std::string_view game_id, std::string_view nonce) const;

  // The seat (0-based) that the token is good for; nullopt if it is no seat's. Constant time over equal lengths.
  std::optional<int> SeatOf(std::string_view token, std::string_view game_id, std::string_view nonce) const;
  bool IsOwner(std::string_view token, std::string_view game_id, std::string_view nonce) const;

  // The id of a game made with a request_id, from the digest of caller and request_id; one per key, the signing key's
  // first: [a-z2-7]{26}.
  std::vector<std::string> GameIds(std::string_view request) const;

 private:
  class Key;
  bool Matches(std::string_view token, std::string_view game_id, std::string_view nonce, char holder) const;
  std::vector<std::unique_ptr<Key>> keys_;
};

// Sixteen bytes of SHA-256 over the parts, each with its length.
std::string Digest(std::initializer_list<std::string_view> parts);
// Random bytes from the operating system.
std::string RandomBytes(size_t count);
// Random bits: seeds, nonces, ids of puts.
uint64_t RandomBits();
// A new game id: [a-z2-7]{26}, 128 random bits.
std::string RandomGameId();

}  // namespace reversi

#endif  // REVERSI_SERVICE_TOKENS_H_
