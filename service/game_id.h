// A game's id: immutable text of up to 255 bytes, shared by reference count. Whoever lists or keeps games holds a
// pointer; the text, with all that belongs to it, is one block of 32 bytes for the ids that are made here.
#ifndef REVERSI_SERVICE_GAME_ID_H_
#define REVERSI_SERVICE_GAME_ID_H_

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"

namespace reversi {

class GameId {
 public:
  // From whatever is text.
  template <typename Text>
    requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, GameId>)
  GameId(const Text& text) : block_(Block::Make(text)) {}
  GameId(const GameId& other) : block_(other.block_) { block_->references.fetch_add(1, std::memory_order_relaxed); }
  GameId(GameId&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  GameId& operator=(GameId other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~GameId() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(block_);
  }

  std::string_view text() const { return {block_->text(), block_->size}; }
  operator std::string_view() const { return text(); }

  // For hash tables that are searched by any text.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return absl::HashOf(id); }
  };
  struct Same {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };

 private:
  struct Block {
    static constexpr size_t kTextAt = sizeof(uint32_t) + sizeof(uint8_t);
    static Block* Make(std::string_view from) {
      void* memory = ::operator new(std::max(sizeof(Block), kTextAt + from.size()));
      auto* block = new (memory) Block{{1}, static_cast<uint8_t>(from.size())};
      std::memcpy(block->text(), from.data(), from.size());
      return block;
    }
    char* text() { return reinterpret_cast<char*>(this) + kTextAt; }
    std::atomic<uint32_t> references;
    uint8_t size;
  };
  Block* block_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_GAME_ID_H_
