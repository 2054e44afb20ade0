// The whole service in this process, on ports that the system chooses: watches, health, the clean stop.
#include "service/server.h"

#include <grpc/impl/codegen/grpc_types.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/service/first_moves.h"

namespace reversi {
namespace {

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (!details.ParseFromString(status.error_details()) || details.details().empty()) return "";
  details.details(0).UnpackTo(&info);
  return info.reason();
}

// An open watch, read when the test reads it.
struct Watch {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReader<v1::WatchGameResponse>> reader;
  v1::WatchGameResponse last;
  bool Next() { return reader->Read(&last); }
};

class ServerTest : public testing::Test {
 protected:
  void StartServer(Config config = {}) {
    config.listen = "127.0.0.1:0";
    config.metrics_listen = "127.0.0.1:0";
    auto started = Server::Start(config, {std::string(32, 'k')});
    ASSERT_TRUE(std::holds_alternative<std::unique_ptr<Server>>(started)) << std::get<std::string>(started);
    server_ = std::get<std::unique_ptr<Server>>(std::move(started));
    stub_ = v1::GameService::NewStub(NewChannel());
  }

  std::shared_ptr<grpc::Channel> NewChannel(int window = 0) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (window != 0) {
      arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, window);
      arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    }
    return grpc::CreateCustomChannel(server_->grpc_address(), grpc::InsecureChannelCredentials(), arguments);
  }

  v1::CreateGameResponse CreateGame(const v1::CreateGameRequest& request = {}) {
    grpc::ClientContext context;
    v1::CreateGameResponse response;
    const grpc::Status status = stub_->CreateGame(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  // Until one more watch is no longer refused for being too many.
  void AwaitPlace(const std::string& game_id) {
    const absl::Time patience = absl::Now() + absl::Seconds(60);
    for (;;) {
      auto next = Open(game_id);
      if (next->Next()) {
        next->context.TryCancel();
        return;
      }
      ASSERT_EQ(ReasonOf(next->reader->Finish()), "TOO_MANY_WATCHERS");
      ASSERT_LT(absl::Now(), patience);
      absl::SleepFor(absl::Milliseconds(5));
    }
  }

  // From the position of `game` on, so many moves or to the end.
  void Play(v1::CreateGameResponse game, int plies = 1000) {
    PlayFirstMoves(*stub_, game, plies);
  }

  std::unique_ptr<Watch> Open(v1::GameService::Stub& stub, const std::string& game_id,
                              std::optional<uint64_t> after_version = std::nullopt) {
    auto watch = std::make_unique<Watch>();
    v1::WatchGameRequest request;
    request.set_game_id(game_id);
    if (after_version.has_value()) request.set_after_version(*after_version);
    watch->reader = stub.WatchGame(&watch->context, request);
    return watch;
  }
  std::unique_ptr<Watch> Open(const std::string& game_id, std::optional<uint64_t> after_version = std::nullopt) {
    return Open(*stub_, game_id, after_version);
  }

  grpc::health::v1::HealthCheckResponse::ServingStatus Health(const std::string& service) {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    const auto health = grpc::health::v1::Health::NewStub(NewChannel());
    EXPECT_TRUE(health->Check(&context, request, &response).ok());
    return response.status();
  }

  std::unique_ptr<Server> server_;
  std::unique_ptr<v1::GameService::Stub> stub_;
};

TEST_F(ServerTest, AWatchFromAnyVersionIsOrderedAndWhole) {
  StartServer();
  const v1::CreateGameResponse game = CreateGame();
  Play(game, 10);
  std::vector<std::unique_ptr<Watch>> watches;
  for (uint64_t after = 0; after <= 11; ++after) watches.push_back(Open(game.game().game_id(), after));
  auto snapshot = Open(game.game().game_id());
  ASSERT_TRUE(snapshot->Next());
  EXPECT_EQ(snapshot->last.snapshot().version(), 11u);
  std::thread player([&] {
    v1::CreateGameResponse rest = game;
    *rest.mutable_game() = snapshot->last.snapshot();
    Play(rest);
  });
  player.join();
  const auto expect_rest = [](Watch& watch, uint64_t version) {
    while (watch.Next()) {
      ASSERT_TRUE(watch.last.has_event());
      EXPECT_EQ(watch.last.event().version(), ++version);
    }
    EXPECT_TRUE(watch.reader->Finish().ok());
    EXPECT_EQ(version, 61u);
    EXPECT_EQ(watch.last.event().state(), v1::GAME_STATE_FINISHED);
  };
  for (uint64_t after = 0; after <= 11; ++after) expect_rest(*watches[after], after);
  expect_rest(*snapshot, 11);
}

TEST_F(ServerTest, ARetriedCreationIsTheSameGameUnderItsOwnIdOrAChosenOne) {
  StartServer();
  v1::CreateGameRequest request;
  request.set_request_id(std::string(16, 'r'));
  EXPECT_EQ(CreateGame(request).SerializeAsString(), CreateGame(request).SerializeAsString());
  request.set_request_id(std::string(16, 's'));
  request.set_game_id("chosen");
  EXPECT_EQ(CreateGame(request).SerializeAsString(), CreateGame(request).SerializeAsString());
  request.set_game_id("another");
  grpc::ClientContext context;
  v1::CreateGameResponse response;
  EXPECT_EQ(ReasonOf(stub_->CreateGame(&context, request, &response)), "MALFORMED_REQUEST");
}

TEST_F(ServerTest, AFinishedGameSendsWhatIsLeftAndEnds) {
  StartServer();
  const v1::CreateGameResponse game = CreateGame();
  Play(game);
  auto snapshot = Open(game.game().game_id());
  ASSERT_TRUE(snapshot->Next());
  EXPECT_TRUE(snapshot->last.snapshot().has_result());
  EXPECT_FALSE(snapshot->Next());
  EXPECT_TRUE(snapshot->reader->Finish().ok());
  auto at_the_end = Open(game.game().game_id(), 61);
  EXPECT_FALSE(at_the_end->Next());
  EXPECT_TRUE(at_the_end->reader->Finish().ok());
  auto beyond = Open(game.game().game_id(), 62);
  EXPECT_FALSE(beyond->Next());
  EXPECT_EQ(ReasonOf(beyond->reader->Finish()), "VERSION_IN_FUTURE");
}

TEST_F(ServerTest, TooManyWatchersAreRefusedAndAPlaceThatIsFreeIsGivenAgain) {
  Config config;
  config.max_watchers_per_game = 1;
  StartServer(config);
  const std::string id = CreateGame().game().game_id();
  auto first = Open(id);
  ASSERT_TRUE(first->Next());
  auto second = Open(id);
  EXPECT_FALSE(second->Next());
  EXPECT_EQ(ReasonOf(second->reader->Finish()), "TOO_MANY_WATCHERS");
  first->context.TryCancel();
  while (first->Next()) {
  }
  EXPECT_EQ(first->reader->Finish().error_code(), grpc::CANCELLED);
  // The server learns of it in its own time.
  AwaitPlace(id);
}

TEST_F(ServerTest, UntilTheStopEverythingIsServedThoughHealthSaysNot) {
  StartServer();
  EXPECT_EQ(Health(""), grpc::health::v1::HealthCheckResponse::SERVING);
  EXPECT_EQ(Health("reversi.v1.GameService"), grpc::health::v1::HealthCheckResponse::SERVING);
  server_->Announce();
  EXPECT_EQ(Health(""), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(Health("reversi.v1.GameService"), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
  const v1::CreateGameResponse game = CreateGame();
  auto watch = Open(game.game().game_id());
  EXPECT_TRUE(watch->Next());
  Play(game);
}

TEST_F(ServerTest, TheStopEndsAThousandIdleWatchesAndOneThatReadsNothing) {
  StartServer();
  // A reader with a small window that takes nothing of a long game: the server's write cannot end.
  v1::CreateGameRequest octagon;
  octagon.mutable_rules()->set_board(v1::BOARD_OCTAGON);
  const v1::CreateGameResponse long_game = CreateGame(octagon);
  const auto stalled_stub = v1::GameService::NewStub(NewChannel(1));
  auto stalled = Open(*stalled_stub, long_game.game().game_id(), 0);
  Play(long_game);

  const std::string id = CreateGame().game().game_id();
  std::vector<std::unique_ptr<Watch>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(Open(id));
    ASSERT_TRUE(idle.back()->Next());
  }
  server_->Stop(absl::Seconds(30));
  for (const auto& watch : idle) {
    EXPECT_FALSE(watch->Next());
    const grpc::Status status = watch->reader->Finish();
    EXPECT_EQ(status.error_code(), grpc::UNAVAILABLE);
    EXPECT_EQ(ReasonOf(status), "SERVER_DRAINING");
  }
  uint64_t versions = 0;
  while (stalled->Next()) EXPECT_EQ(stalled->last.event().version(), ++versions);
  EXPECT_LT(versions, 60u) << "the reader was never stalled: the test shows nothing";
  EXPECT_FALSE(stalled->reader->Finish().ok());
}

TEST_F(ServerTest, AReaderThatTakesNothingLosesAGameOnceItIsNoLongerKept) {
  Config config;
  config.keep_finished = absl::Milliseconds(100);
  config.watch_stall_limit = absl::Seconds(1);
  config.max_watchers = 2;
  StartServer(config);
  v1::CreateGameRequest octagon;
  octagon.mutable_rules()->set_board(v1::BOARD_OCTAGON);
  const v1::CreateGameResponse kept = CreateGame(octagon);
  const v1::CreateGameResponse finished = CreateGame(octagon);
  const auto stub = v1::GameService::NewStub(NewChannel(1));
  auto of_kept = Open(*stub, kept.game().game_id(), 0);
  Play(kept, 80);
  auto of_finished = Open(*stub, finished.game().game_id(), 0);
  Play(finished);

  // Its place among the watchers becomes free.
  const std::string another = CreateGame().game().game_id();
  AwaitPlace(another);
  uint64_t versions = 0;
  while (of_finished->Next()) EXPECT_EQ(of_finished->last.event().version(), ++versions);
  EXPECT_LT(versions, 60u) << "the reader was never stalled: the test shows nothing";
  EXPECT_EQ(of_finished->reader->Finish().error_code(), grpc::CANCELLED);
  // The other has taken nothing for longer, and its game is there.
  for (versions = 0; versions < 81; ++versions) {
    ASSERT_TRUE(of_kept->Next());
    EXPECT_EQ(of_kept->last.event().version(), versions + 1);
  }
}

TEST_F(ServerTest, AServerThatIsDroppedWithoutAStopStopsAtOnce) {
  StartServer();
  auto watch = Open(CreateGame().game().game_id());
  ASSERT_TRUE(watch->Next());
  server_.reset();
  EXPECT_FALSE(watch->Next());
}

TEST_F(ServerTest, ATakenPortIsSaid) {
  StartServer();
  for (const bool metrics : {false, true}) {
    Config config;
    config.listen = metrics ? "127.0.0.1:0" : server_->grpc_address();
    config.metrics_listen = metrics ? server_->metrics_address() : "127.0.0.1:0";
    const auto second = Server::Start(config, {std::string(32, 'k')});
    ASSERT_TRUE(std::holds_alternative<std::string>(second));
    const std::string& taken = metrics ? config.metrics_listen : config.listen;
    EXPECT_NE(std::get<std::string>(second).find(taken), std::string::npos);
  }
}

}  // namespace
}  // namespace reversi
