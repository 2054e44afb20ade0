// SHA256_CTX is a plain value, which EVP has none of.
#define OPENSSL_SUPPRESS_DEPRECATED

#include "service/tokens.h"

#include <cstdlib>
#include <cstring>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/text.h"

namespace reversi {
namespace {

constexpr size_t kMacBytes = 16;
constexpr char kOwner = 'o';

char SeatLetter(int seat) { return static_cast<char>('1' + seat); }

// Lengths keep the parts apart: no two lists of parts give the same text. One byte for a usual length, so that what
// a token is computed over fits one block of SHA-256.
std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  text.reserve(64);
  for (std::string_view part : parts) {
    size_t size = part.size();
    for (; size >= 0x80; size >>= 7) text.push_back(static_cast<char>((size & 0x7f) | 0x80));
    text.push_back(static_cast<char>(size));
    text.append(part);
  }
  return text;
}

std::string Base32(std::string_view bytes) {
  static constexpr char kAlphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (count += 8; count >= 5; count -= 5) text.push_back(kAlphabet[bits >> (count - 5) & 31]);
  }
  if (count > 0) text.push_back(kAlphabet[bits << (5 - count) & 31]);
  return text;
}

}  // namespace

// One key of HMAC-SHA-256 (RFC 2104). Both hashes have taken their block of the key already; each computation starts
// from copies. OpenSSL's EVP does the same with a dozen allocations: a third of all that a move costs.
class Tokens::Key {
 public:
  explicit Key(std::string_view key) {
    unsigned char block[SHA256_CBLOCK] = {};
    if (key.size() > sizeof(block)) {
      SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), block);
    } else {
      std::memcpy(block, key.data(), key.size());
    }
    for (unsigned char& byte : block) byte ^= 0x36;
    SHA256_Init(&inner_);
    SHA256_Update(&inner_, block, sizeof(block));
    for (unsigned char& byte : block) byte ^= 0x36 ^ 0x5c;
    SHA256_Init(&outer_);
    SHA256_Update(&outer_, block, sizeof(block));
    OPENSSL_cleanse(block, sizeof(block));
  }
  ~Key() {
    OPENSSL_cleanse(&inner_, sizeof(inner_));
    OPENSSL_cleanse(&outer_, sizeof(outer_));
  }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;

  std::string Mac(std::initializer_list<std::string_view> parts) const {
    const std::string text = Joined(parts);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256_CTX hash = inner_;
    SHA256_Update(&hash, text.data(), text.size());
    SHA256_Final(digest, &hash);
    hash = outer_;
    SHA256_Update(&hash, digest, sizeof(digest));
    SHA256_Final(digest, &hash);
    return std::string(reinterpret_cast<char*>(digest), kMacBytes);
  }

  // What the holder of a seat, or the owner, is given: who, and the proof.
  std::string Token(std::string_view game_id, std::string_view nonce, char holder) const {
    const std::string_view who(&holder, 1);
    return absl::StrCat(ToAbsl(who), absl::WebSafeBase64Escape(Mac({"token", game_id, nonce, who})));
  }

 private:
  SHA256_CTX inner_;
  SHA256_CTX outer_;
};

Tokens::Tokens(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) keys_.push_back(std::make_unique<Key>(key));
}
Tokens::~Tokens() = default;

std::string Tokens::SeatToken(std::string_view game_id, std::string_view nonce, int seat) const {
  return keys_.front()->Token(game_id, nonce, SeatLetter(seat));
}

std::string Tokens::OwnerToken(std::string_view game_id, std::string_view nonce) const {
  return keys_.front()->Token(game_id, nonce, kOwner);
}

bool Tokens::Matches(std::string_view token, std::string_view game_id, std::string_view nonce,
                     char holder) const {
  for (const auto& key : keys_) {
    const std::string right = key->Token(game_id, nonce, holder);
    if (token.size() == right.size() && CRYPTO_memcmp(token.data(), right.data(), right.size()) == 0) return true;
  }
  return false;
}

std::optional<int> Tokens::SeatOf(std::string_view token, std::string_view game_id,
                                  std::string_view nonce) const {
  // The first letter is no secret: it says which seat the rest must prove.
  if (token.empty()) return std::nullopt;
  const int seat = token[0] - '1';
  if (seat < 0 || seat >= kMaxPlayers || !Matches(token, game_id, nonce, token[0])) return std::nullopt;
  return seat;
}

bool Tokens::IsOwner(std::string_view token, std::string_view game_id, std::string_view nonce) const {
  return Matches(token, game_id, nonce, kOwner);
}

std::vector<std::string> Tokens::GameIds(std::string_view request) const {
  std::vector<std::string> ids;
  for (const auto& key : keys_) ids.push_back(Base32(key->Mac({"game", request})));
  return ids;
}

std::string Digest(std::initializer_list<std::string_view> parts) {
  const std::string text = Joined(parts);
  unsigned char out[EVP_MAX_MD_SIZE];
  size_t size = 0;
  if (EVP_Q_digest(nullptr, "SHA256", nullptr, text.data(), text.size(), out, &size) != 1) std::abort();
  return std::string(reinterpret_cast<char*>(out), kMacBytes);
}

std::string RandomBytes(size_t count) {
  std::string bytes(count, '\0');
  // Without randomness tokens could be guessed: better no service.
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) std::abort();
  return bytes;
}

uint64_t RandomBits() {
  uint64_t bits = 0;
  std::memcpy(&bits, RandomBytes(sizeof(bits)).data(), sizeof(bits));
  return bits;
}

std::string RandomGameId() { return Base32(RandomBytes(16)); }

}  // namespace reversi
