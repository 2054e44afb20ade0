// A fuzzer's input, taken byte by byte; past its end every byte is 0.
#ifndef REVERSI_TESTS_FUZZ_INPUT_H_
#define REVERSI_TESTS_FUZZ_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace reversi {

class Input {
 public:
  explicit Input(std::span<const uint8_t> data) : data_(data) {}
  bool empty() const { return data_.empty(); }
  uint8_t Next() {
    if (data_.empty()) return 0;
    const uint8_t byte = data_.front();
    data_ = data_.subspan(1);
    return byte;
  }
  // The next bytes, at most so many.
  std::string Take(size_t most) {
    const auto piece = data_.first(std::min(most, data_.size()));
    data_ = data_.subspan(piece.size());
    return std::string(piece.begin(), piece.end());
  }

 private:
  std::span<const uint8_t> data_;
};

}  // namespace reversi

#endif  // REVERSI_TESTS_FUZZ_INPUT_H_
