#include "tests/e2e/serving_test.h"

#include <cstdlib>

#include "tests/e2e/wire_words.h"

namespace reversi::e2e {

std::unique_ptr<ServerProcess> ServingTest::server_;
std::unique_ptr<Caller> ServingTest::caller_;

void ServingTest::StartServer(Launch launch) {
  // The delay before a stop takes effect is for load balancers; these tests have none.
  launch.flags.push_back("--drain_delay=0s");
  server_ = ServerProcess::Start(std::move(launch));
  if (server_ != nullptr) caller_ = std::make_unique<Caller>(server_->address());
}

void ServingTest::TearDownTestSuite() {
  caller_.reset();
  if (server_ != nullptr) {
    EXPECT_EQ(server_->Stop(), 0) << server_->Errors();
  }
  server_.reset();
}

void ServingTest::SetUp() {
  ASSERT_NE(server_, nullptr);
  ASSERT_TRUE(server_->Running()) << server_->Errors();
  const char* wish = std::getenv("REVERSI_TEST_SEED");
  seed_ = wish != nullptr ? std::strtoull(wish, nullptr, 10) : std::random_device()();
  chance_.seed(seed_);
}

void ServingTest::TearDown() {
  if (server_ != nullptr) {
    EXPECT_TRUE(server_->Running()) << server_->Errors();
  }
  if (HasFailure()) std::cerr << "REVERSI_TEST_SEED=" << seed_ << "\n";
}

std::vector<v1::GameEvent> ServingTest::PlayRandomly(Caller& by, const TestGame& game, int plies) {
  std::vector<v1::GameEvent> events;
  const v1::Game now = by.Get(game.id);
  v1::Position position = now.position();
  uint64_t version = now.version();
  for (int i = 0; i < plies && position.legal_moves_size() > 0; ++i) {
    const std::string move = position.legal_moves(static_cast<int>(Below(position.legal_moves_size())));
    const auto answer = by.Move(game.id, game.TokenOf(position.turn()), move, version);
    EXPECT_TRUE(answer.ok()) << move << " on " << Diagram(position) << ": " << Describe(answer.status);
    if (!answer.ok()) break;
    events.push_back(answer.response.event());
    position = events.back().position();
    version = events.back().version();
  }
  return events;
}

}  // namespace reversi::e2e
