#include "service/config.h"

#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "service/small_file.h"
#include "service/text.h"
#include "service/tokens.h"
#include "service/version.h"

namespace reversi {
namespace {

constexpr char kTokenKeyVariable[] = "REVERSI_TOKEN_KEY";

// Declares flags; each is also set by the environment variable REVERSI_<NAME IN UPPER CASE>.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) {}

  void Group(std::string name) { group_ = std::move(name); }

  void Address(const std::string& name, std::string* target, const std::string& help, bool may_be_empty = false) {
    Add(name, "HOST:PORT", *target, help, [=](const std::string& text) -> std::string {
      if (!IsAddress(text) && !(may_be_empty && text.empty())) return "is not HOST:PORT with a port of 0-65535";
      *target = text;
      return {};
    });
  }

  void Duration(const std::string& name, absl::Duration* target, absl::Duration least, absl::Duration most,
                const std::string& help) {
    Add(name, "DURATION", absl::FormatDuration(*target), help, [=](const std::string& text) -> std::string {
      absl::Duration value;
      if (!absl::ParseDuration(text, &value)) return "is not a duration such as 500ms, 30s or 1h";
      if (value < least || value > most) {
        return absl::StrCat("is not from ", absl::FormatDuration(least), " to ", absl::FormatDuration(most));
      }
      *target = value;
      return {};
    });
  }

  void Count(const std::string& name, uint64_t* target, uint64_t least, uint64_t most, const std::string& help) {
    Add(name, "NUMBER", absl::StrCat(*target), help, [=](const std::string& text) -> std::string {
      uint64_t value = 0;
      if (!absl::SimpleAtoi(text, &value) || value < least || value > most) {
        return absl::StrCat("is not a whole number from ", least, " to ", most);
      }
      *target = value;
      return {};
    });
  }

  void Rate(const std::string& name, double* target, double most, const std::string& help) {
    Add(name, "NUMBER", absl::StrCat(*target), help, [=](const std::string& text) -> std::string {
      double value = 0;
      if (!absl::SimpleAtod(text, &value) || !(value >= 0 && value <= most)) {
        return absl::StrCat("is not a number from 0 to ", most);
      }
      *target = value;
      return {};
    });
  }

  void Text(const std::string& name, const std::string& type, std::string* target, const std::string& help) {
    Add(name, type, *target, help, [=](const std::string& text) -> std::string {
      *target = text;
      return {};
    });
  }

  void List(const std::string& name, const std::string& type, std::vector<std::string>* target,
            const std::string& help) {
    Add(name, type, absl::StrJoin(*target, ","), help, [=](const std::string& text) -> std::string {
      *target = absl::StrSplit(text, ',', absl::SkipEmpty());
      return {};
    });
  }

  void Store(const std::string& name, StoreKind* target, const std::string& help) {
    Add(name, "STORE", "memory", help, [=](const std::string& text) -> std::string {
      constexpr std::string_view kNames[] = {"memory", "disk", "etcd"};
      for (size_t i = 0; i < std::size(kNames); ++i) {
        if (text != kNames[i]) continue;
        *target = static_cast<StoreKind>(i);
        return {};
      }
      return "is not memory, disk or etcd";
    });
  }

  void Level(const std::string& name, LogLevel* target, const std::string& help) {
    Add(name, "LEVEL", "info", help, [=](const std::string& text) -> std::string {
      constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};
      for (size_t i = 0; i < std::size(kNames); ++i) {
        if (text != kNames[i]) continue;
        *target = static_cast<LogLevel>(i);
        return {};
      }
      return "is not debug, info, warning, error or off";
    });
  }

 private:
  // `read` takes the value over, or says what is wrong with it.
  void Add(const std::string& name, const std::string& type, const std::string& default_text,
           const std::string& help, std::function<std::string(const std::string&)> read) {
    const std::string flag = "--" + name;
    app_.add_option_function<std::string>(
            flag,
            [flag, read = std::move(read)](const std::string& text) {
              const std::string wrong = read(text);
              if (!wrong.empty()) throw CLI::ValidationError(flag, "'" + text + "' " + wrong);
            },
            help)
        ->type_name(type)
        ->default_str(default_text)
        ->envname("REVERSI_" + absl::AsciiStrToUpper(name))
        ->group(group_)
        ->take_last();
  }

  CLI::App& app_;
  std::string group_;
};

void Declare(Flags& flags, Config& config) {
  const absl::Duration zero = absl::ZeroDuration();
  const absl::Duration year = absl::Hours(24 * 366);

  flags.Group("Addresses (port 0 = the system chooses; the start line on stdout tells)");
  flags.Address("listen", &config.listen, "gRPC");
  flags.Address("metrics_listen", &config.metrics_listen, "Prometheus metrics over HTTP, path /metrics");
  flags.Address("health_listen", &config.health_listen,
                "a second, plaintext gRPC port that serves health only, for probes when TLS is on; empty = none", true);

  flags.Group("Stopping (SIGTERM or SIGINT; a second signal skips the delay)");
  flags.Duration("drain_delay", &config.drain_delay, zero, absl::Hours(1),
                 "how long everything is still served after health turned NOT_SERVING; 0s = not at all");
  flags.Duration("drain_grace", &config.drain_grace, absl::Milliseconds(100), absl::Hours(1),
                 "how long after that calls in flight may take to finish");

  flags.Group("Tokens");
  flags.List("token_key_file", "FILES", &config.token_key_file,
             "comma-separated files with a key of at least 32 bytes each (the whole file without a trailing newline); "
             "the first signs, all verify; none = a key is made at start and tokens die with the process");

  flags.Group("Store (disk and etcd need a token key)");
  flags.Store("store", &config.store,
              "memory: a restart loses all games; disk: games outlive this machine's crash; etcd: games outlive the loss "
              "of a minority of etcd's nodes, and any number of servers serve the same games");
  flags.Text("data_dir", "FOLDER", &config.data_dir, "where the disk store keeps games; made if missing");
  flags.Duration("store_wait", &config.store_wait, absl::Milliseconds(100), absl::Minutes(10),
                 "how long a call waits for etcd before it is answered STORE_UNAVAILABLE");
  flags.List("etcd_endpoints", "HOST:PORTS", &config.etcd_endpoints, "comma-separated client addresses of etcd's nodes");
  flags.Text("etcd_prefix", "TEXT", &config.etcd_prefix, "begins every key in etcd");
  flags.Text("etcd_ca_file", "FILE", &config.etcd_ca_file,
             "authorities of etcd's certificates, PEM; empty = plaintext, or the system's with etcd_cert_file");
  flags.Text("etcd_cert_file", "FILE", &config.etcd_cert_file, "own certificate chain for etcd, PEM; empty = none");
  flags.Text("etcd_key_file", "FILE", &config.etcd_key_file, "its private key, PEM");
  flags.Text("etcd_user", "NAME", &config.etcd_user, "user in etcd; empty = no authentication");
  flags.Text("etcd_password_file", "FILE", &config.etcd_password_file,
             "its password: the whole file without a trailing newline");

  flags.Group("Moving games between stores (instead of serving)");
  flags.Text("export_to", "FILE", &config.export_to,
             "write every game of the store into this file and exit; empty = none");
  flags.Text("import_from", "FILE", &config.import_from,
             "put every game of such a file into the store and exit, best while no server uses it; "
             "run again after a failure, it goes on; empty = none");

  flags.Group("Retention (0s = for ever)");
  flags.Duration("keep_finished", &config.keep_finished, zero, year, "how long finished games are kept");
  flags.Duration("keep_waiting", &config.keep_waiting, zero, year,
                 "how long a game waits to be joined after the last join before it expires");
  flags.Duration("keep_idle", &config.keep_idle, zero, year,
                 "how long a game without a running turn limit lasts without a move before it expires");

  flags.Group("Limits");
  flags.Count("max_games", &config.max_games, 1, 1'000'000'000, "games held at a time");
  flags.Count("max_watchers", &config.max_watchers, 1, 10'000'000, "open watches in all");
  flags.Count("max_watchers_per_game", &config.max_watchers_per_game, 1, 10'000'000, "open watches of one game");
  flags.Count("command_queue", &config.command_queue, 1, 1'000'000,
              "commands that may wait in one game while the store takes the one before");
  flags.Count("max_message_bytes", &config.max_message_bytes, 1024, 64 << 20,
              "size of a request; one made to do harm takes 30 times its size while it is read, an honest one has less "
              "than 32768");
  flags.Rate("rate_limit", &config.rate_limit, 1e9,
             "calls a second of one caller identity (certificate name, else all callers together); 0 = no limit");
  flags.Count("rate_burst", &config.rate_burst, 1, 1'000'000'000, "calls that may come at once under rate_limit");
  flags.Duration("watch_stall_limit", &config.watch_stall_limit, absl::Seconds(1), absl::Hours(24),
                 "how long a reader that takes nothing may hold on to a game that is no longer kept");
  flags.Count("memory_quota_bytes", &config.memory_quota_bytes, 0, uint64_t{1} << 50,
              "memory of gRPC's buffers, roughly; 0 = no quota");

  flags.Group("Connections");
  flags.Duration("keepalive_time", &config.keepalive_time, zero, year,
                 "silence after which a connection is pinged; 0s = never");
  flags.Duration("keepalive_timeout", &config.keepalive_timeout, absl::Milliseconds(100), absl::Hours(1),
                 "how long its answer may take before the connection is cut");
  flags.Duration("keepalive_min_interval", &config.keepalive_min_interval, zero, absl::Hours(1),
                 "clients that ping more often are cut");
  flags.Duration("connection_age", &config.connection_age, zero, year,
                 "age at which clients are asked to reconnect, so that added replicas get traffic; 0s = never");
  flags.Duration("connection_age_grace", &config.connection_age_grace, absl::Milliseconds(100), year,
                 "how long calls on such a connection may still take");

  flags.Group("TLS (files are read again when they change)");
  flags.Text("tls_cert_file", "FILE", &config.tls_cert_file, "certificate chain, PEM; empty = plaintext");
  flags.Text("tls_key_file", "FILE", &config.tls_key_file, "its private key, PEM");
  flags.Text("tls_client_ca_file", "FILE", &config.tls_client_ca_file,
             "authorities of client certificates, PEM: clients must show one; empty = clients show none");
  flags.List("tls_allowed_names", "NAMES", &config.tls_allowed_names,
             "comma-separated subject alternative names of the clients that may call; empty = every verified one");

  flags.Group("Logs");
  flags.Level("log_level", &config.log_level,
              "debug, info, warning, error or off: JSON lines on stderr; a line for every call at debug, for failed "
              "ones that are the server's fault at warning");
}

// What is wrong with the settings together; empty = nothing.
std::string Conflict(const Config& config) {
  if (config.tls_cert_file.empty() != config.tls_key_file.empty()) {
    return "--tls_cert_file and --tls_key_file go together";
  }
  if ((config.store == StoreKind::kDisk) != !config.data_dir.empty()) return "--store=disk and --data_dir go together";
  if ((config.store == StoreKind::kEtcd) != !config.etcd_endpoints.empty()) {
    return "--store=etcd and --etcd_endpoints go together";
  }
  for (const std::string& endpoint : config.etcd_endpoints) {
    if (!IsAddress(endpoint)) return absl::StrCat("--etcd_endpoints: '", endpoint, "' is not HOST:PORT");
  }
  if (config.etcd_cert_file.empty() != config.etcd_key_file.empty()) {
    return "--etcd_cert_file and --etcd_key_file go together";
  }
  if (config.etcd_user.empty() != config.etcd_password_file.empty()) {
    return "--etcd_user and --etcd_password_file go together";
  }
  if (!config.export_to.empty() && !config.import_from.empty()) {
    return "--export_to and --import_from do not go together";
  }
  if (config.store == StoreKind::kMemory && (!config.export_to.empty() || !config.import_from.empty())) {
    return "--export_to and --import_from need --store=disk or --store=etcd";
  }
  if (!config.tls_client_ca_file.empty() && config.tls_cert_file.empty()) {
    return "--tls_client_ca_file needs --tls_cert_file";
  }
  if (!config.tls_allowed_names.empty() && config.tls_client_ca_file.empty()) {
    return "--tls_allowed_names needs --tls_client_ca_file";
  }
  return {};
}

}  // namespace

std::variant<Config, int> ReadConfig(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  Config config;
  CLI::App app{"Hosts games of the Reversi family for other services, over gRPC.", "reversi_server"};
  app.set_version_flag("--version", std::string("reversi_server ") + kVersion);
  app.get_formatter()->column_width(44);
  app.footer(absl::StrCat(
      "Every flag can also be set by the environment variable in its line; a flag wins.\n", kTokenKeyVariable,
      " holds a token key itself and ranks before the files.\n"
      "A file of a key, a certificate or a password is a regular one of at most ", kMaxSmallFileBytes, " bytes.\n\n"
      "One line on stdout tells the ports: reversi_server listening grpc=HOST:PORT metrics=HOST:PORT "
      "[health=HOST:PORT]\n"
      "Exit codes: 0 stopped cleanly, 1 failed while running, 2 wrong settings, a port taken or a file unreadable."));
  Flags flags(app);
  Declare(flags, config);
  // "--flag=" is that flag with nothing; the parser would give it the next argument.
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) {  // the parser wants them from the last
    const std::string argument = argv[i];
    const bool empty = absl::StartsWith(argument, "--") && argument.find('=') == argument.size() - 1;
    if (empty) arguments.emplace_back();
    arguments.push_back(empty ? argument.substr(0, argument.size() - 1) : argument);
  }
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? 0 : kExitUsage;
  }
  const std::string conflict = Conflict(config);
  if (!conflict.empty()) {
    err << conflict << "\nRun with --help for more information.\n";
    return kExitUsage;
  }
  return config;
}

bool IsAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  uint32_t number = 0;
  if (port.empty() || port.size() > 5 || !absl::c_all_of(port, absl::ascii_isdigit)) return false;
  if (!absl::SimpleAtoi(ToAbsl(port), &number) || number > 65535) return false;
  if (host.front() == '[') return host.back() == ']' && host.size() > 2;
  return host.find_first_of(": /") == std::string_view::npos;
}

std::variant<std::vector<std::string>, std::string> ReadTokenKeys(const Config& config) {
  std::vector<std::string> keys;
  const auto too_short = [](std::string_view name) {
    return absl::StrCat(ToAbsl(name), " holds fewer than ", kMinKeyBytes, " bytes: no token key");
  };
  if (const char* key = std::getenv(kTokenKeyVariable); key != nullptr && *key != '\0') {
    keys.emplace_back(key);
    if (keys.back().size() < kMinKeyBytes) return too_short(kTokenKeyVariable);
  }
  for (const std::string& name : config.token_key_file) {
    std::string key;
    const std::string wrong = ReadSmallFile(name, &key);
    if (!wrong.empty()) return absl::StrCat("--token_key_file=", wrong);
    if (absl::EndsWith(key, "\n")) key.pop_back();
    if (key.size() < kMinKeyBytes) return too_short(absl::StrCat("--token_key_file=", name));
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace reversi
