// What the operating system says about a process and this machine.
#ifndef REVERSI_TESTS_LOAD_PROCESS_H_
#define REVERSI_TESTS_LOAD_PROCESS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace reversi::load {

// Steady time in ns.
int64_t Now();
// CPU time of all threads of a process so far, in ns; pid 0 = this process. 0 if it cannot be seen.
int64_t CpuTime(pid_t pid);
// Resident memory in bytes, from /proc; 0 if it cannot be seen.
int64_t ResidentBytes(pid_t pid);

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_PROCESS_H_
