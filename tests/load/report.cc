#include "tests/load/report.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace reversi::load {
namespace {

double Micros(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1000; }

// Calls answered; deliveries are counted beside them.
uint64_t Calls(const Report& report) {
  uint64_t calls = 0;
  for (const auto& [name, of] : report.tally.methods) {
    if (name != "delivery" && name != "last delivery") calls += of.latency.count();
  }
  return calls;
}

double Per(int64_t total, uint64_t count) {
  return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count);
}

}  // namespace

std::string ToText(const Options& options, const Report& report) {
  std::string text = absl::StrFormat("%-14s %10s %10s %9s %9s %9s %9s %7s %7s\n", "method", "count", "per second",
                                     "p50 us", "p99 us", "p99.9 us", "max us", "req B", "resp B");
  for (const auto& [name, of] : report.tally.methods) {
    const Latency& latency = of.latency;
    absl::StrAppend(&text, absl::StrFormat("%-14s %10d %10.0f %9.0f %9.0f %9.0f %9.0f %7.0f %7.0f\n", name,
                                           latency.count(), static_cast<double>(latency.count()) / report.seconds,
                                           Micros(latency.At(0.5)), Micros(latency.At(0.99)),
                                           Micros(latency.At(0.999)), Micros(latency.max()),
                                           Per(static_cast<int64_t>(of.request_bytes), latency.count()),
                                           Per(static_cast<int64_t>(of.response_bytes), latency.count())));
    for (const auto& [reason, count] : of.errors) absl::StrAppend(&text, "  refused ", count, ": ", reason, "\n");
  }
  const uint64_t calls = Calls(report);
  const uint64_t deliveries = report.tally.Count("delivery");
  absl::StrAppend(&text, absl::StrFormat("%s loop, %d connections x %d in flight, %.2f s\n",
                                         options.rate > 0 ? "open" : "closed", options.connections,
                                         options.in_flight, report.seconds));
  absl::StrAppend(&text, absl::StrFormat("CPU of the generator: %.2f us a call, %.0f %% of a core\n",
                                         Per(report.generator_cpu, calls) / 1000,
                                         static_cast<double>(report.generator_cpu) / report.seconds / 1e7));
  if (options.server_pid != 0) {
    absl::StrAppend(&text, absl::StrFormat("CPU of the server: %.2f us a call", Per(report.server_cpu, calls) / 1000));
    if (deliveries > 0) {
      absl::StrAppend(&text, absl::StrFormat(", %.2f us a delivery", Per(report.server_cpu, deliveries) / 1000));
    }
    absl::StrAppend(&text, absl::StrFormat(", %.0f %% of a core\nmemory of the server: %.1f MB, at the beginning %.1f MB\n",
                                           static_cast<double>(report.server_cpu) / report.seconds / 1e7,
                                           static_cast<double>(report.resident_after) / 1e6,
                                           static_cast<double>(report.resident_before) / 1e6));
    if (options.workload == Workload::kHold) {
      absl::StrAppend(&text, absl::StrFormat("bytes a game: %.0f, bytes a watcher: %.0f\n",
                                             Per(report.resident_games - report.resident_before, report.games_made),
                                             Per(report.resident_after - report.resident_games, report.watchers)));
    }
  }
  absl::StrAppend(&text, "answers against the rules: ", report.tally.faults, " faults\n");
  for (const std::string& fault : report.tally.fault_texts) absl::StrAppend(&text, "  ", fault, "\n");
  return text;
}

std::string ToJson(const Options& options, const Report& report) {
  nlohmann::json methods = nlohmann::json::object();
  for (const auto& [name, of] : report.tally.methods) {
    const Latency& latency = of.latency;
    methods[name] = {{"count", latency.count()},
                     {"p50_us", Micros(latency.At(0.5))},
                     {"p99_us", Micros(latency.At(0.99))},
                     {"p999_us", Micros(latency.At(0.999))},
                     {"max_us", Micros(latency.max())},
                     {"request_bytes", Per(static_cast<int64_t>(of.request_bytes), latency.count())},
                     {"response_bytes", Per(static_cast<int64_t>(of.response_bytes), latency.count())},
                     {"errors", of.errors}};
  }
  const nlohmann::json json = {{"methods", methods},
                               {"seconds", report.seconds},
                               {"calls", Calls(report)},
                               {"deliveries", report.tally.Count("delivery")},
                               {"server_cpu_us", Micros(report.server_cpu)},
                               {"generator_cpu_us", Micros(report.generator_cpu)},
                               {"resident_before", report.resident_before},
                               {"resident_games", report.resident_games},
                               {"resident_after", report.resident_after},
                               {"games_made", report.games_made},
                               {"watchers", report.watchers},
                               {"bare", options.bare},
                               {"faults", report.tally.faults},
                               {"fault_texts", report.tally.fault_texts}};
  return json.dump() + "\n";
}

}  // namespace reversi::load
