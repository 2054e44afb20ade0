// Immutable bytes shared by reference count: one allocation, cheap copies. Records are shared by game and store,
// serialized events by all watchers.
#ifndef REVERSI_SERVICE_BYTES_H_
#define REVERSI_SERVICE_BYTES_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace reversi {

class Bytes {
 public:
  Bytes() = default;
  // The concatenation of the parts.
  explicit Bytes(std::string_view a, std::string_view b = {}, std::string_view c = {}) {
    const size_t size = a.size() + b.size() + c.size();
    block_ = new (::operator new(sizeof(Block) + size)) Block{{1}, static_cast<uint32_t>(size)};
    char* to = data();
    for (std::string_view part : {a, b, c}) {
      if (!part.empty()) std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
  }
  Bytes(const Bytes& other) : block_(other.block_) {
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  Bytes(Bytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Bytes& operator=(Bytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Bytes() {
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block_->~Block();
      ::operator delete(block_);
    }
  }

  bool empty() const { return block_ == nullptr || block_->size == 0; }
  std::string_view view() const {
    return block_ == nullptr ? std::string_view() : std::string_view(data(), block_->size);
  }

 private:
  struct Block {
    std::atomic<uint32_t> references;
    uint32_t size;
  };
  char* data() const { return reinterpret_cast<char*>(block_ + 1); }
  Block* block_ = nullptr;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_BYTES_H_
