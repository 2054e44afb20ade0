// Every setting of the server in one place: flag, environment variable, unit, default, range.
#ifndef REVERSI_SERVICE_CONFIG_H_
#define REVERSI_SERVICE_CONFIG_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/time/time.h"

namespace reversi {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError, kOff };

enum class StoreKind : uint8_t { kMemory, kDisk, kEtcd };

// The meaning, unit and range of each member stand beside its flag in config.cc and in `--help`.
struct Config {
  std::string listen = "127.0.0.1:50051";
  std::string metrics_listen = "127.0.0.1:9464";
  std::string health_listen;

  absl::Duration drain_delay = absl::Seconds(5);
  absl::Duration drain_grace = absl::Seconds(20);

  std::vector<std::string> token_key_file;

  StoreKind store = StoreKind::kMemory;
  std::string data_dir;
  absl::Duration store_wait = absl::Seconds(5);
  std::vector<std::string> etcd_endpoints;
  std::string etcd_prefix = "reversi/";
  std::string etcd_ca_file;
  std::string etcd_cert_file;
  std::string etcd_key_file;
  std::string etcd_user;
  std::string etcd_password_file;

  std::string export_to;
  std::string import_from;

  absl::Duration keep_finished = absl::Hours(1);
  absl::Duration keep_waiting = absl::Hours(24);
  absl::Duration keep_idle = absl::Hours(24 * 31);

  uint64_t max_games = 1'000'000;
  uint64_t max_watchers = 100'000;
  uint64_t max_watchers_per_game = 10'000;
  uint64_t command_queue = 256;
  uint64_t max_message_bytes = 4 << 20;
  double rate_limit = 0;
  uint64_t rate_burst = 100;

  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_client_ca_file;
  std::vector<std::string> tls_allowed_names;

  absl::Duration keepalive_time = absl::Minutes(1);
  absl::Duration keepalive_timeout = absl::Seconds(20);
  absl::Duration keepalive_min_interval = absl::Seconds(10);
  absl::Duration connection_age = absl::Minutes(30);
  absl::Duration connection_age_grace = absl::Minutes(5);
  absl::Duration watch_stall_limit = absl::Minutes(5);
  uint64_t memory_quota_bytes = 0;

  LogLevel log_level = LogLevel::kInfo;
};

// Exit codes: 0 after `--help` and `--version`, 1 for what failed while running, 2 for what cannot be used.
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;

// Reads flags, then environment variables for flags that are absent. Returns the exit code when there is nothing
// to run: after --help or --version (written to `out`) or a wrong value (explained on `err`).
std::variant<Config, int> ReadConfig(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

// Whether the text is "host:port" with a port of 0-65535; an IPv6 host stands in brackets.
bool IsAddress(std::string_view text);

// The keys of the token files, in order, and of the environment variable REVERSI_TOKEN_KEY, which ranks first.
// A file's key is all of it without one trailing newline. Returns what is wrong where a key cannot be used.
std::variant<std::vector<std::string>, std::string> ReadTokenKeys(const Config& config);

}  // namespace reversi

#endif  // REVERSI_SERVICE_CONFIG_H_
