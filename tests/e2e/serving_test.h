// The frame of suites that share one server.
#ifndef REVERSI_TESTS_E2E_SERVING_TEST_H_
#define REVERSI_TESTS_E2E_SERVING_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watcher.h"

namespace reversi::e2e {

// One server for the whole suite; after every test it must still run, at the end of the suite it must stop cleanly.
class ServingTest : public testing::Test {
 protected:
  // Suites with flags of their own call StartServer from a SetUpTestSuite of theirs.
  static void SetUpTestSuite() { StartServer({}); }
  static void TearDownTestSuite();
  static void StartServer(Launch launch);

  void SetUp() override;
  void TearDown() override;

  static ServerProcess& server() { return *server_; }
  static Caller& caller() { return *caller_; }

  // The test's own chance, from a seed that a failure prints; REVERSI_TEST_SEED repeats one.
  std::mt19937_64& chance() { return chance_; }
  size_t Below(size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(chance_); }

  // Plays random legal moves for whoever is on turn, until the end or for `plies`; returns the answers' events.
  std::vector<v1::GameEvent> PlayRandomly(Caller& by, const TestGame& game, int plies = 10000);

 private:
  static std::unique_ptr<ServerProcess> server_;
  static std::unique_ptr<Caller> caller_;
  uint64_t seed_ = 0;
  std::mt19937_64 chance_;
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_SERVING_TEST_H_
