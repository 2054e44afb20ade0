#include "tests/stores/kept_server.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/stores/etcd_cluster.h"

namespace reversi::stores {

uint64_t TestSeed() {
  const char* wish = std::getenv("REVERSI_TEST_SEED");
  const uint64_t seed = wish != nullptr ? std::strtoull(wish, nullptr, 10) : std::random_device()();
  std::cout << "REVERSI_TEST_SEED=" << seed << std::endl;
  return seed;
}

int TestRounds(int quick) {
  const char* wish = std::getenv("REVERSI_TEST_ROUNDS");
  return wish != nullptr ? std::atoi(wish) : quick;
}

KeptServer::KeptServer(std::vector<std::string> flags, std::string binary)
    : flags_(std::move(flags)), binary_(std::move(binary)), address_("127.0.0.1:" + std::to_string(FreePort())) {
  flags_.insert(flags_.end(), {"--listen=" + address_, "--drain_delay=0s"});
  Start();
}

void KeptServer::Start() {
  process_ = e2e::ServerProcess::Start(
      {.flags = flags_, .environment = {"REVERSI_TOKEN_KEY=" + std::string(40, 'k')}, .binary = binary_});
}

void KeptServer::KillAndStart() {
  if (!Runs()) return;
  process_->Signal(SIGKILL);
  process_->Wait();
  Start();
}

bool KeptServer::Runs() {
  if (process_ == nullptr) return false;
  if (process_->Running()) return true;
  const std::string log = process_->Errors();
  ADD_FAILURE() << "the server died with " << process_->Wait() << "; the end of its log:\n"
                << log.substr(log.size() - std::min<size_t>(log.size(), 4000));
  return false;
}

double Counted(e2e::ServerProcess& server, const std::string& series) {
  std::string text;
  // One that is stopped, or has little of a processor, may take its time.
  Eventually([&] { return !(text = HttpGet(server.metrics_address(), "/metrics")).empty(); });
  std::istringstream lines(text);
  double sum = 0;
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(series, 0) != 0) continue;
    found = true;
    sum += std::stod(line.substr(line.rfind(' ') + 1));
  }
  EXPECT_TRUE(found) << "no series " << series;
  return sum;
}

bool Eventually(const std::function<bool()>& come) {
  for (const auto end = std::chrono::steady_clock::now() + e2e::kPatience; std::chrono::steady_clock::now() < end;) {
    if (come()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace reversi::stores
