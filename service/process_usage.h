// What this process takes from the machine, as Linux tells it in /proc.
#ifndef REVERSI_SERVICE_PROCESS_USAGE_H_
#define REVERSI_SERVICE_PROCESS_USAGE_H_

#include <cstdint>

namespace reversi {

// What cannot be read is zero.
struct ProcessUsage {
  double cpu_seconds = 0;    // user and system, all threads
  double start_seconds = 0;  // since 1970
  uint64_t resident_bytes = 0;
  uint64_t virtual_bytes = 0;
  uint64_t threads = 0;
  uint64_t open_fds = 0;
  uint64_t max_fds = 0;
};
ProcessUsage ReadProcessUsage();

// The memory that the process may take: its control group's limit, or else the machine's memory.
uint64_t ReadMemoryLimit();

}  // namespace reversi

#endif  // REVERSI_SERVICE_PROCESS_USAGE_H_
