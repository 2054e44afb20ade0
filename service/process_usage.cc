#include "service/process_usage.h"

#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace reversi {
namespace {

std::string Contents(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

uint64_t Number(const std::string& text) {
  uint64_t value = 0;
  return absl::SimpleAtoi(text, &value) ? value : 0;
}

// When the machine was started, in seconds since 1970.
double BootSeconds() {
  const std::string stat = Contents("/proc/stat");
  for (const absl::string_view line : absl::StrSplit(stat, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() == 2 && words[0] == "btime") return static_cast<double>(Number(words[1]));
  }
  return 0;
}

}  // namespace

ProcessUsage ReadProcessUsage() {
  ProcessUsage usage;
  // The name in the second field may hold anything; all that is wanted stands behind it. proc(5) counts from 1, and
  // the first one behind the name is its third.
  const std::string stat = Contents("/proc/self/stat");
  const size_t name_end = stat.rfind(')');
  if (name_end != std::string::npos) {
    const std::vector<std::string> fields = absl::StrSplit(stat.substr(name_end + 1), ' ', absl::SkipEmpty());
    const auto field = [&](size_t number) { return number - 3 < fields.size() ? Number(fields[number - 3]) : 0; };
    const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    usage.cpu_seconds = static_cast<double>(field(14) + field(15)) / ticks;
    usage.threads = field(20);
    usage.start_seconds = BootSeconds() + static_cast<double>(field(22)) / ticks;
    usage.virtual_bytes = field(23);
    usage.resident_bytes = field(24) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  std::error_code ignored;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", ignored), end; !ignored && entry != end;
       entry.increment(ignored)) {
    ++usage.open_fds;
  }
  if (rlimit limit{}; getrlimit(RLIMIT_NOFILE, &limit) == 0) usage.max_fds = limit.rlim_cur;
  return usage;
}

uint64_t ReadMemoryLimit() {
  struct sysinfo machine {};
  uint64_t limit = sysinfo(&machine) == 0 ? static_cast<uint64_t>(machine.totalram) * machine.mem_unit : 0;
  // Version 2 and version 1 of control groups; "max" and absent files are no number.
  for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::string text = Contents(path);
    if (!text.empty() && text.back() == '\n') text.pop_back();
    if (const uint64_t own = Number(text); own != 0) limit = limit == 0 ? own : std::min(limit, own);
  }
  return limit;
}

}  // namespace reversi
