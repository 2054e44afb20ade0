// What the handlers answer where only a test can bring it about: while the server drains, when a game's line is full,
// and what they log.
#include "service/game_service.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "service/log.h"
#include "tests/service/in_process_service.h"

namespace reversi {
namespace {

struct Refusal {
  std::string reason;
  bool retry = false;  // has a RetryInfo with a delay
};

Refusal RefusalOf(const grpc::Status& status) {
  Refusal refusal;
  google::rpc::Status details;
  details.ParseFromString(status.error_details());
  for (const auto& detail : details.details()) {
    google::rpc::ErrorInfo info;
    google::rpc::RetryInfo retry;
    if (detail.UnpackTo(&info)) refusal.reason = info.reason();
    if (detail.UnpackTo(&retry)) refusal.retry = retry.retry_delay().seconds() > 0 || retry.retry_delay().nanos() > 0;
  }
  return refusal;
}

class GameServiceTest : public testing::Test {
 protected:
  GameServiceTest() : house_({100, 4}), stub_(v1::GameService::NewStub(house_.channel)) {}

  grpc::Status Create(const v1::CreateGameRequest& request, v1::CreateGameResponse* response) {
    grpc::ClientContext context;
    return stub_->CreateGame(&context, request, response);
  }
  v1::CreateGameResponse Create() {
    v1::CreateGameResponse response;
    const grpc::Status status = Create({}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  static v1::SubmitMoveRequest FirstMove(const v1::CreateGameResponse& game) {
    v1::SubmitMoveRequest request;
    request.set_game_id(game.game().game_id());
    request.set_seat_token(game.seat_tokens(0));
    request.set_move(game.game().position().legal_moves(0));
    request.set_expected_version(1);
    return request;
  }
  grpc::Status Move(const v1::SubmitMoveRequest& request) {
    grpc::ClientContext context;
    v1::SubmitMoveResponse response;
    return stub_->SubmitMove(&context, request, &response);
  }

  InProcessService house_;
  std::unique_ptr<v1::GameService::Stub> stub_;
};

TEST_F(GameServiceTest, WhileItDrainsNothingNewBeginsAndTheRestIsServed) {
  const v1::CreateGameResponse game = Create();
  house_.service.Drain();
  v1::CreateGameResponse response;
  const grpc::Status created = Create({}, &response);
  EXPECT_EQ(created.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(RefusalOf(created).reason, "SERVER_DRAINING");
  // Before what is wrong with the request.
  v1::CreateGameRequest malformed;
  malformed.set_game_id("!");
  EXPECT_EQ(RefusalOf(Create(malformed, &response)).reason, "SERVER_DRAINING");

  v1::WatchGameRequest watch;
  watch.set_game_id(game.game().game_id());
  grpc::ClientContext context;
  const auto reader = stub_->WatchGame(&context, watch);
  v1::WatchGameResponse message;
  EXPECT_FALSE(reader->Read(&message));
  const grpc::Status watched = reader->Finish();
  EXPECT_EQ(watched.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(RefusalOf(watched).reason, "SERVER_DRAINING");

  EXPECT_TRUE(Move(FirstMove(game)).ok());
  grpc::ClientContext list_context;
  v1::ListGamesResponse list;
  EXPECT_TRUE(stub_->ListGames(&list_context, {}, &list).ok());
  EXPECT_EQ(list.games_size(), 1);
}

// A move whose answer comes when the store lets it.
struct PendingMove {
  grpc::ClientContext context;
  v1::SubmitMoveRequest request;
  v1::SubmitMoveResponse response;
  grpc::Status status;
  absl::Notification done;
};

TEST_F(GameServiceTest, AFullLineOfOneGameIsRefusedWithARetryAndHarmsNoOther) {
  const v1::CreateGameResponse game = Create();
  const v1::CreateGameResponse other = Create();
  house_.store.Hold();
  std::vector<std::unique_ptr<PendingMove>> pending;
  for (int i = 0; i < 5; ++i) {  // one in flight, four wait
    auto& move = pending.emplace_back(std::make_unique<PendingMove>());
    move->request = FirstMove(game);
    stub_->async()->SubmitMove(&move->context, &move->request, &move->response, [&move = *move](grpc::Status status) {
      move.status = std::move(status);
      move.done.Notify();
    });
  }
  // Calls of one channel may overtake each other: ask until the line is full.
  grpc::Status refused;
  while (refused.ok()) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(50));
    v1::SubmitMoveResponse response;
    const grpc::Status status = stub_->SubmitMove(&context, FirstMove(game), &response);
    if (status.error_code() != grpc::DEADLINE_EXCEEDED) refused = status;
  }
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(RefusalOf(refused).reason, "RATE_LIMITED");
  EXPECT_TRUE(RefusalOf(refused).retry);

  auto& unharmed = pending.emplace_back(std::make_unique<PendingMove>());
  unharmed->request = FirstMove(other);
  stub_->async()->SubmitMove(&unharmed->context, &unharmed->request, &unharmed->response,
                             [&unharmed = *unharmed](grpc::Status status) {
                               unharmed.status = std::move(status);
                               unharmed.done.Notify();
                             });
  while (house_.store.held() < 2) absl::SleepFor(absl::Milliseconds(1));
  house_.store.LetGo();
  int moved = 0;
  for (const auto& move : pending) {
    move->done.WaitForNotification();
    moved += move->status.ok() ? 1 : 0;
  }
  EXPECT_GE(moved, 2);
  EXPECT_TRUE(pending.back()->status.ok());
}

TEST_F(GameServiceTest, ALogLineTellsOfTheCallAndNoSecret) {
  const v1::CreateGameResponse game = Create();
  StartLog(LogLevel::kDebug);
  testing::internal::CaptureStderr();
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "a \"request\" \\ of theirs");
  context.AddMetadata("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  v1::SubmitMoveResponse response;
  EXPECT_TRUE(stub_->SubmitMove(&context, FirstMove(game), &response).ok());
  v1::SubmitMoveRequest wrong = FirstMove(game);
  wrong.set_seat_token("a token that is none");
  EXPECT_FALSE(Move(wrong).ok());
  StartLog(LogLevel::kOff);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(log.find(game.seat_tokens(0)), std::string::npos);
  EXPECT_EQ(log.find(wrong.seat_token()), std::string::npos);

  std::vector<google::protobuf::Struct> calls;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    google::protobuf::Struct parsed;
    ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(line, &parsed).ok()) << line;
    if (parsed.fields().at("message").string_value() == "call") calls.push_back(parsed);
  }
  ASSERT_EQ(calls.size(), 2u) << log;
  const auto field = [](const google::protobuf::Struct& call, const char* name) {
    const auto found = call.fields().find(name);
    return found == call.fields().end() ? "(missing)" : found->second.string_value();
  };
  EXPECT_EQ(field(calls[0], "method"), "SubmitMove");
  EXPECT_EQ(field(calls[0], "code"), "0");
  EXPECT_EQ(field(calls[0], "caller"), "");
  EXPECT_EQ(field(calls[0], "request_id"), "a \"request\" \\ of theirs");
  EXPECT_EQ(field(calls[0], "traceparent"), "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  EXPECT_EQ(field(calls[0], "duration_us"), "0");  // the clock stands
  EXPECT_EQ(field(calls[1], "code"), "7");
  EXPECT_EQ(field(calls[1], "reason"), "BAD_TOKEN");
}

}  // namespace
}  // namespace reversi
