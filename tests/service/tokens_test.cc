// Tokens against OpenSSL's own HMAC.
#include "service/tokens.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "absl/strings/escaping.h"

namespace reversi {
namespace {

constexpr char kGame[] = "abcdefghijklmnopqrstuvwxyz";
constexpr char kNonce[] = "0123456789abcdef";

std::string ExpectedToken(const std::string& key, const std::string& game, char holder) {
  std::string text = "\x05token";
  for (size_t size = game.size(); true; size >>= 7) {
    text.push_back(static_cast<char>(size < 0x80 ? size : (size & 0x7f) | 0x80));
    if (size < 0x80) break;
  }
  text += game + "\x10" + kNonce + "\x01" + holder;
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), mac, &size);
  return holder + absl::WebSafeBase64Escape(std::string(reinterpret_cast<char*>(mac), 16));
}

TEST(TokensTest, AreHmacSha256OfGameNonceAndHolder) {
  for (size_t size : {32, 63, 64, 65, 200}) {
    std::string key;
    for (size_t i = 0; i < size; ++i) key.push_back(static_cast<char>(i * 7 + size));
    const Tokens tokens({key});
    for (const std::string& game : {std::string(kGame), std::string("four"), std::string(63, 'x'), std::string(300, 'y')}) {
      EXPECT_EQ(tokens.SeatToken(game, kNonce, 0), ExpectedToken(key, game, '1'));
      EXPECT_EQ(tokens.SeatToken(game, kNonce, 5), ExpectedToken(key, game, '6'));
      EXPECT_EQ(tokens.OwnerToken(game, kNonce), ExpectedToken(key, game, 'o'));
    }
  }
}

TEST(TokensTest, AreGoodForTheirSeatAndGameAlone) {
  const std::string old_key(32, 'a');
  const std::string new_key(32, 'b');
  const Tokens before({old_key});
  const Tokens both({new_key, old_key});
  const std::string token = before.SeatToken(kGame, kNonce, 2);
  EXPECT_EQ(both.SeatOf(token, kGame, kNonce), 2);
  EXPECT_EQ(Tokens({new_key}).SeatOf(token, kGame, kNonce), std::nullopt);
  EXPECT_EQ(before.SeatOf(token, "othergame", kNonce), std::nullopt);
  EXPECT_EQ(before.SeatOf(token, kGame, "another nonce..."), std::nullopt);
  EXPECT_EQ(before.SeatOf("2" + token.substr(1), kGame, kNonce), std::nullopt);
  EXPECT_EQ(before.SeatOf(token + "A", kGame, kNonce), std::nullopt);
  EXPECT_EQ(before.SeatOf("", kGame, kNonce), std::nullopt);
  EXPECT_FALSE(before.IsOwner(token, kGame, kNonce));
  EXPECT_TRUE(both.IsOwner(before.OwnerToken(kGame, kNonce), kGame, kNonce));
}

TEST(TokensTest, EveryChangedCharacterIsRefused) {
  const Tokens tokens({std::string(32, 'n')});
  const std::string right = tokens.SeatToken("game", "nonce", 0);
  for (size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = wrong[i] == 'x' ? 'y' : 'x';
    EXPECT_EQ(tokens.SeatOf(wrong, "game", "nonce"), std::nullopt) << i;
  }
  EXPECT_EQ(tokens.SeatOf(right.substr(0, right.size() - 1), "game", "nonce"), std::nullopt);
  EXPECT_EQ(tokens.SeatOf(right + "A", "game", "nonce"), std::nullopt);
  EXPECT_EQ(tokens.SeatOf("", "game", "nonce"), std::nullopt);
  // Another seat's letter before this seat's proof.
  EXPECT_EQ(tokens.SeatOf("2" + right.substr(1), "game", "nonce"), std::nullopt);
}

TEST(TokensTest, PartsCannotBeShiftedIntoEachOther) {
  const Tokens tokens({std::string(32, 'n')});
  EXPECT_NE(tokens.SeatToken("ab", "c", 0), tokens.SeatToken("a", "bc", 0));
  EXPECT_NE(Digest({"ab", "c"}), Digest({"a", "bc"}));
  EXPECT_EQ(Digest({"ab", "c"}), Digest({"ab", "c"}));
}

TEST(TokensTest, GameIdsFollowFromKeyAndRequest) {
  const Tokens tokens({std::string(32, 'n'), std::string(32, 'o')});
  const auto ids = tokens.GameIds("request");
  ASSERT_EQ(ids.size(), 2u);
  EXPECT_EQ(ids[1], Tokens({std::string(32, 'o')}).GameIds("request")[0]);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[0], tokens.GameIds("another")[0]);
}

TEST(TokensTest, GameIdsAreLowerCaseLettersAndDigits) {
  const Tokens tokens({std::string(32, 'n')});
  for (const std::string& id : {RandomGameId(), tokens.GameIds("request")[0]}) {
    EXPECT_GE(id.size(), 20u);
    EXPECT_LE(id.size(), 32u);
    EXPECT_TRUE(std::all_of(id.begin(), id.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    })) << id;
  }
  EXPECT_NE(RandomGameId(), RandomGameId());
}

}  // namespace
}  // namespace reversi
