// A caller with one call in flight, and what it calls next.
#ifndef REVERSI_TESTS_LOAD_PLAYER_H_
#define REVERSI_TESTS_LOAD_PLAYER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <grpcpp/grpcpp.h>

#include "tests/load/generator.h"

namespace reversi::load {

// The reason of the status's ErrorInfo, or the code where there is none.
std::string ReasonOf(const grpc::Status& status);

template <typename Request, typename Response>
class UnaryCall final : public Tag {
 public:
  Request request;
  Response response;
  grpc::Status status;

  template <typename Stub, typename Method>
  void Start(Stub& stub, Method method, grpc::CompletionQueue* queue, std::function<void()> done) {
    context_.emplace();
    done_ = std::move(done);
    reader_ = (stub.*method)(&*context_, request, queue);
    reader_->Finish(&response, &status, this);
  }
  void Ready(bool) override { done_(); }

 private:
  std::optional<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader_;
  std::function<void()> done_;
};

class Player {
 public:
  Player(Generator& generator, Connection& connection) : generator_(generator), connection_(connection) {}

  // Begins the next call, which should have been sent at `intended`. False = there is nothing to do now.
  bool Next(int64_t intended);

 private:
  void Create();
  void Move();
  void Get();
  void CreateDone();
  void MoveDone();
  void GetDone();
  // Sends the call to the service, or as bytes of the same size to the bare twin.
  template <typename Call, typename Method>
  void Send(Call& call, Method method, size_t answer_bytes, void (Player::*done)());
  // Counts the call. False = it was refused.
  template <typename Call>
  bool Count(const std::string& method, const Call& call);

  Generator& generator_;
  Connection& connection_;
  int64_t intended_ = 0;
  RulesRequest kind_;
  std::shared_ptr<LoadGame> game_;
  UnaryCall<v1::CreateGameRequest, v1::CreateGameResponse> create_;
  UnaryCall<v1::SubmitMoveRequest, v1::SubmitMoveResponse> move_;
  UnaryCall<v1::GetGameRequest, v1::GetGameResponse> get_;
  UnaryCall<bare::v1::EchoRequest, bare::v1::EchoResponse> echo_;
  UnaryCall<bare::v1::PublishRequest, bare::v1::EchoResponse> publish_;
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_PLAYER_H_
