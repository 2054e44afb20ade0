// A server that keeps its address, its keys and its store over kills.
#ifndef REVERSI_TESTS_STORES_KEPT_SERVER_H_
#define REVERSI_TESTS_STORES_KEPT_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/server_process.h"

namespace reversi::stores {

// Of chance, or from the environment's REVERSI_TEST_SEED; printed.
uint64_t TestSeed();
// So many, or as many as the environment's REVERSI_TEST_ROUNDS says.
int TestRounds(int quick);

// Used by one thread.
class KeptServer {
 public:
  // Starts it. `flags` name the store.
  explicit KeptServer(std::vector<std::string> flags, std::string binary = e2e::kServerBinary);

  const std::string& address() const { return address_; }
  e2e::ServerProcess& process() { return *process_; }
  // SIGKILL, and a new process. A test failure when the old one had died already.
  void KillAndStart();
  // Whether it is alive; a test failure with the end of its log when it is not.
  bool Runs();

 private:
  void Start();

  std::vector<std::string> flags_;
  const std::string binary_;
  const std::string address_;
  std::unique_ptr<e2e::ServerProcess> process_;
};

// What a server counts under this series ("name" or "name{label=\"value\"}", to the end of the labels), summed over all
// series that begin so; from /metrics.
double Counted(e2e::ServerProcess& server, const std::string& series);

// Waits for what must come; false after a minute.
bool Eventually(const std::function<bool()>& come);

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_KEPT_SERVER_H_
