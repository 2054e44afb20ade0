#include "tests/load/tally.h"

#include <algorithm>
#include <bit>

namespace reversi::load {
namespace {

constexpr int kBits = 6;  // 64 buckets a power of two
constexpr size_t kShownFaults = 10;

// Exact below 128, then by the seven highest bits.
size_t BucketOf(uint64_t value) {
  if (value < (2u << kBits)) return value;
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kBits;
  return (static_cast<size_t>(shift) << kBits) + (value >> shift);
}

// The largest value of the bucket.
uint64_t LastOf(size_t bucket) {
  if (bucket < (2u << kBits)) return bucket;
  const size_t shift = (bucket >> kBits) - 1;
  return ((bucket - (shift << kBits) + 1) << shift) - 1;
}

}  // namespace

void Latency::Add(int64_t nanoseconds) {
  const size_t bucket = BucketOf(static_cast<uint64_t>(std::max<int64_t>(nanoseconds, 0)));
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  max_ = std::max(max_, nanoseconds);
}

int64_t Latency::At(double quantile) const {
  const auto wanted = static_cast<uint64_t>(quantile * static_cast<double>(count_));
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen > wanted || seen == count_) return std::min(static_cast<int64_t>(LastOf(bucket)), max_);
  }
  return 0;
}

void Tally::Fault(const std::string& text) {
  ++faults;
  if (fault_texts.size() < kShownFaults) fault_texts.push_back(text);
}

uint64_t Tally::Count(const std::string& method) const {
  const auto found = methods.find(method);
  return found == methods.end() ? 0 : found->second.latency.count();
}

}  // namespace reversi::load
