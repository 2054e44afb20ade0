#include "service/log.h"

#include <atomic>
#include <cstdint>
#include <cstdio>

#include <grpc/support/log.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "service/text.h"

namespace reversi {
namespace {

std::atomic<LogLevel> least = LogLevel::kInfo;

std::string_view LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return "debug";
    case LogLevel::kInfo: return "info";
    case LogLevel::kWarning: return "warning";
    case LogLevel::kError: return "error";
    case LogLevel::kOff: return "off";
  }
  return "unknown";
}

void AppendQuoted(std::string& line, std::string_view text) {
  line.push_back('"');
  for (char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      line.push_back('\\');
      line.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      absl::StrAppendFormat(&line, "\\u%04x", byte);
    } else {
      line.push_back(c);
    }
  }
  line.push_back('"');
}

}  // namespace

void StartLog(LogLevel level) {
  least.store(level, std::memory_order_relaxed);
  gpr_set_log_function([](gpr_log_func_args* line) {
    const LogLevel as = line->severity == GPR_LOG_SEVERITY_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
    Log(as, line->message, {{"source", "grpc"}});
  });
}

bool Logs(LogLevel level) {
  return level != LogLevel::kOff && level >= least.load(std::memory_order_relaxed);
}

void Log(LogLevel level, std::string_view message,
         std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
  if (!Logs(level)) return;
  std::string line = absl::StrCat(
      "{\"time\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone()), "\",\"level\":\"",
      ToAbsl(LevelName(level)), "\",\"message\":");
  AppendQuoted(line, message);
  for (const auto& [key, value] : fields) {
    line.push_back(',');
    AppendQuoted(line, key);
    line.push_back(':');
    AppendQuoted(line, value);
  }
  line += "}\n";
  // One write a line: lines of several threads do not mix.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace reversi
