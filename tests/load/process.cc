#include "tests/load/process.h"

#include <ctime>
#include <fstream>

#include <unistd.h>

namespace reversi::load {
namespace {

int64_t Read(clockid_t clock) {
  timespec time;
  if (clock_gettime(clock, &time) != 0) return 0;
  return time.tv_sec * int64_t{1'000'000'000} + time.tv_nsec;
}

}  // namespace

int64_t Now() { return Read(CLOCK_MONOTONIC); }

int64_t CpuTime(pid_t pid) {
  // The kernel's own sum, in nanoseconds; the one in /proc/<pid>/stat is in hundredths of a second.
  clockid_t clock;
  return clock_getcpuclockid(pid, &clock) == 0 ? Read(clock) : 0;
}

int64_t ResidentBytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  int64_t size = 0;
  int64_t resident = 0;
  return file >> size >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace reversi::load
