// What a run counted: latencies, answers and refusals by method, faults.
#ifndef REVERSI_TESTS_LOAD_TALLY_H_
#define REVERSI_TESTS_LOAD_TALLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace reversi::load {

// A histogram of times: buckets of 1/64 of a power of two, so that a percentile is right within 1.6 %.
class Latency {
 public:
  void Add(int64_t nanoseconds);
  uint64_t count() const { return count_; }
  int64_t max() const { return max_; }
  // The time, in ns, that the share `quantile` (0 to 1) of all does not exceed; 0 if there is none.
  int64_t At(double quantile) const;

 private:
  std::vector<uint64_t> buckets_;
  uint64_t count_ = 0;
  int64_t max_ = 0;
};

struct OfMethod {
  Latency latency;
  uint64_t request_bytes = 0;
  uint64_t response_bytes = 0;
  std::map<std::string, uint64_t> errors;  // by the reason of the ErrorInfo, or the code where there is none
};

struct Tally {
  std::map<std::string, OfMethod> methods;
  // Answers that are not what the rules say, the first few in words.
  uint64_t faults = 0;
  std::vector<std::string> fault_texts;

  void Fault(const std::string& text);
  uint64_t Count(const std::string& method) const;
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_TALLY_H_
