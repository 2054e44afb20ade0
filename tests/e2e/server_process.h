// A reversi_server of the test's own: started on free ports, watched, stopped.
#ifndef REVERSI_TESTS_E2E_SERVER_PROCESS_H_
#define REVERSI_TESTS_E2E_SERVER_PROCESS_H_

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reversi::e2e {

// The server under test, and the same with a fault built in (see CMakeLists.txt).
inline constexpr char kServerBinary[] = REVERSI_SERVER_BINARY;

// Patience for what must happen: far longer than it ever takes, so that only a hang meets it.
inline constexpr std::chrono::seconds kPatience{60};

struct Launch {
  std::vector<std::string> flags = {};
  std::vector<std::string> environment = {};  // "NAME=value", beside the test's own
  std::string binary = kServerBinary;
};

// How a process ended: its exit code, or minus the signal that killed it.
struct Ended {
  int code = 0;
  std::string out;
  std::string err;
};

// Runs the binary to its end, for calls that must not start a server. Killed after kPatience.
Ended RunToEnd(const Launch& launch);

class ServerProcess {
 public:
  // Starts the server on loopback with free ports (flags may say otherwise) and waits for the line that names
  // them. On failure returns null after adding a test failure with the server's stderr.
  static std::unique_ptr<ServerProcess> Start(Launch launch = {});
  // Kills what still runs.
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  const std::string& address() const { return address_; }          // gRPC, host:port
  const std::string& metrics_address() const { return metrics_; }  // HTTP, host:port
  const std::string& line() const { return line_; }                // the line itself
  pid_t pid() const { return pid_; }

  bool Running();
  void Signal(int signal);
  // Waits for its end; kills it after `patience` (code -9 then).
  int Wait(std::chrono::seconds patience = kPatience);
  // SIGTERM and Wait.
  int Stop(std::chrono::seconds patience = kPatience);
  // Everything that it has written to stderr (and to stdout after its line).
  std::string Errors();

 private:
  ServerProcess() = default;

  pid_t pid_ = -1;
  bool ended_ = false;
  int code_ = 0;
  int out_ = -1;  // the server's stdout, read end of a pipe
  int err_ = -1;  // an unlinked file
  std::string line_;
  std::string address_;
  std::string metrics_;
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_SERVER_PROCESS_H_
