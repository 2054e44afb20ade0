// reversi_server: reads the settings, serves until SIGTERM or SIGINT, stops cleanly.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "service/config.h"
#include "service/log.h"
#include "service/open_store.h"
#include "service/server.h"
#include "service/transfer.h"
#include "service/version.h"

namespace reversi {
namespace {

// Whether a signal came before the time was over.
bool WaitForSignal(const sigset_t& signals, absl::Duration time) {
  const timespec wait = absl::ToTimespec(time);
  while (true) {
    if (sigtimedwait(&signals, nullptr, &wait) > 0) return true;
    if (errno != EINTR) return false;
  }
}

// Moves games between the store and a file. Returns the exit code.
int Transfer(const Config& config) {
  auto store = OpenStore(config);
  if (const auto* wrong = std::get_if<std::string>(&store)) {
    std::cerr << "reversi_server: " << *wrong << "\n";
    return kExitUsage;
  }
  Store& games = *std::get<std::unique_ptr<Store>>(store);
  const bool out = !config.export_to.empty();
  const auto done = out ? ExportGames(games, config.export_to) : ImportGames(games, config.import_from);
  if (const auto* wrong = std::get_if<std::string>(&done)) {
    std::cerr << "reversi_server: " << *wrong << "\n";
    return kExitFailed;
  }
  std::cout << (out ? "exported " : "imported ") << std::get<uint64_t>(done) << " games" << std::endl;
  return 0;
}

int Run(int argc, char** argv) {
  // Only this thread takes the signals; all others inherit the mask. A peer that vanishes is no reason to die.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // Debian's Abseil searches for deadlocks at every lock: 5 % of a call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);

  const auto read = ReadConfig(argc, argv, std::cout, std::cerr);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const Config& config = std::get<Config>(read);
  StartLog(config.log_level);
  if (!config.export_to.empty() || !config.import_from.empty()) {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // it may be broken off at any time
    return Transfer(config);
  }
  const auto keys = ReadTokenKeys(config);
  if (const auto* wrong = std::get_if<std::string>(&keys)) {
    std::cerr << "reversi_server: " << *wrong << "\n";
    return kExitUsage;
  }
  const auto& token_keys = std::get<std::vector<std::string>>(keys);
  auto started = Server::Start(config, token_keys);
  if (const auto* wrong = std::get_if<std::string>(&started)) {
    std::cerr << "reversi_server: " << *wrong << "\n";
    return kExitUsage;
  }
  Server& server = *std::get<std::unique_ptr<Server>>(started);
  if (token_keys.empty()) {
    Log(LogLevel::kWarning, "no token key is set: one was made, and all tokens die with this process");
  }
  if (config.store == StoreKind::kMemory) Log(LogLevel::kInfo, "store is memory: a restart loses all games");
  std::string line =
      absl::StrCat("reversi_server listening grpc=", server.grpc_address(), " metrics=", server.metrics_address());
  if (!server.health_address().empty()) absl::StrAppend(&line, " health=", server.health_address());
  std::cout << line << std::endl;

  int signal = 0;
  while (sigwait(&signals, &signal) != 0) {
  }
  Log(LogLevel::kInfo, "stopping: health is NOT_SERVING",
      {{"version", kVersion}, {"drain_delay", absl::FormatDuration(config.drain_delay)}});
  server.Announce();
  WaitForSignal(signals, config.drain_delay);
  server.Stop(config.drain_grace);
  Log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace
}  // namespace reversi

int main(int argc, char** argv) { return reversi::Run(argc, argv); }
