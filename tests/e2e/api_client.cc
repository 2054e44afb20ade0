#include "tests/e2e/api_client.h"

#include <google/protobuf/util/message_differencer.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include "tests/e2e/server_process.h"

namespace reversi::e2e {
namespace {

void SetDeadline(grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  context.set_wait_for_ready(true);
}

template <class Request, class Response>
Answer<Response> Unary(v1::GameService::Stub* stub,
                       grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                       const Request& request) {
  Answer<Response> answer;
  grpc::ClientContext context;
  SetDeadline(context);
  answer.status = (stub->*method)(&context, request, &answer.response);
  answer.error = Details(answer.status);
  return answer;
}

void Unpack(const google::protobuf::Any& detail, ErrorDetails& details) {
  google::rpc::ErrorInfo info;
  google::rpc::BadRequest bad;
  google::rpc::RetryInfo retry;
  if (detail.type_url().rfind("type.googleapis.com/google.rpc.", 0) != 0) {
    details.faults.push_back("type URL " + detail.type_url());
  } else if (detail.UnpackTo(&info)) {
    if (info.domain() != "reversi.v1") details.faults.push_back("domain " + info.domain());
    if (!details.reason.empty()) details.faults.push_back("two ErrorInfo");
    details.reason = info.reason();
    details.metadata.insert(info.metadata().begin(), info.metadata().end());
  } else if (detail.UnpackTo(&bad)) {
    for (const auto& violation : bad.field_violations()) {
      details.fields.push_back(violation.field());
      details.descriptions.push_back(violation.description());
    }
  } else if (detail.UnpackTo(&retry)) {
    details.retry_seconds = static_cast<double>(retry.retry_delay().seconds()) + retry.retry_delay().nanos() / 1e9;
  } else {
    details.faults.push_back("cannot read " + detail.type_url());
  }
}

}  // namespace

ErrorDetails Details(const grpc::Status& status) {
  ErrorDetails details;
  if (status.error_details().empty()) return details;
  google::rpc::Status rich;
  if (!rich.ParseFromString(status.error_details())) {
    details.faults.push_back("grpc-status-details-bin is no google.rpc.Status");
    return details;
  }
  if (rich.code() != static_cast<int>(status.error_code())) details.faults.push_back("code differs");
  if (rich.message() != status.error_message()) details.faults.push_back("message differs");
  for (const google::protobuf::Any& detail : rich.details()) Unpack(detail, details);
  if (details.reason.empty()) details.faults.push_back("no ErrorInfo");
  return details;
}

Caller::Caller(const std::string& address, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetMaxReceiveMessageSize(-1);
  // A server that is back is found at once, not after gRPC's second.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  // How long one attempt may take, by gRPC's reading: a TLS handshake with a busy machine, but not one with a server
  // that has been stopped for longer.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 3000);
  channel_ = grpc::CreateCustomChannel(address, credentials, arguments);
  stub_ = v1::GameService::NewStub(channel_);
}

Answer<v1::CreateGameResponse> Caller::Call(const v1::CreateGameRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::CreateGame, request);
}
Answer<v1::JoinGameResponse> Caller::Call(const v1::JoinGameRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::JoinGame, request);
}
Answer<v1::GetGameResponse> Caller::Call(const v1::GetGameRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::GetGame, request);
}
Answer<v1::ListGamesResponse> Caller::Call(const v1::ListGamesRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::ListGames, request);
}
Answer<v1::SubmitMoveResponse> Caller::Call(const v1::SubmitMoveRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::SubmitMove, request);
}
Answer<v1::ResignGameResponse> Caller::Call(const v1::ResignGameRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::ResignGame, request);
}
Answer<v1::AbortGameResponse> Caller::Call(const v1::AbortGameRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::AbortGame, request);
}
Answer<v1::ListVariantsResponse> Caller::Call(const v1::ListVariantsRequest& request) {
  return Unary(stub(), &v1::GameService::Stub::ListVariants, request);
}

Answer<std::vector<v1::WatchGameResponse>> Caller::Call(const v1::WatchGameRequest& request) {
  Answer<std::vector<v1::WatchGameResponse>> answer;
  grpc::ClientContext context;
  SetDeadline(context);
  const auto reader = stub_->WatchGame(&context, request);
  for (v1::WatchGameResponse message; reader->Read(&message);) answer.response.push_back(message);
  answer.status = reader->Finish();
  answer.error = Details(answer.status);
  return answer;
}

grpc::Status Caller::CallRaw(const std::string& method, const std::string& bytes, std::string* answer) {
  grpc::GenericStub generic(channel_);
  grpc::ClientContext context;
  SetDeadline(context);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::CompletionQueue queue;
  const auto call = generic.PrepareUnaryCall(&context, method, request, &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, &status);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  std::vector<grpc::Slice> slices;
  if (answer != nullptr && status.ok() && response.Dump(&slices).ok()) {
    answer->clear();
    for (const grpc::Slice& piece : slices) answer->append(piece.begin(), piece.end());
  }
  return status;
}

int Caller::Health(const std::string& service) {
  std::string request, answer;
  if (!service.empty()) request = std::string("\x0a") + static_cast<char>(service.size()) + service;
  if (!CallRaw("/grpc.health.v1.Health/Check", request, &answer).ok()) return 0;
  return answer.size() == 2 && answer[0] == 8 ? answer[1] : 0;
}

v1::Game Caller::Get(const std::string& game_id) {
  v1::GetGameRequest request;
  request.set_game_id(game_id);
  const auto answer = Call(request);
  EXPECT_TRUE(answer.ok()) << Describe(answer.status);
  return answer.response.game();
}

Answer<v1::SubmitMoveResponse> Caller::Move(const std::string& game_id, const std::string& token,
                                            const std::string& move, uint64_t expected_version) {
  v1::SubmitMoveRequest request;
  request.set_game_id(game_id);
  request.set_seat_token(token);
  request.set_move(move);
  request.set_expected_version(expected_version);
  return Call(request);
}

TestGame NewGame(Caller& caller, const v1::CreateGameRequest& request) {
  const auto answer = caller.Call(request);
  EXPECT_TRUE(answer.ok()) << Describe(answer.status);
  TestGame game;
  game.created = answer.response.game();
  game.id = game.created.game_id();
  game.tokens.assign(answer.response.seat_tokens().begin(), answer.response.seat_tokens().end());
  game.owner = answer.response.owner_token();
  return game;
}

std::string Describe(const grpc::Status& status) {
  const ErrorDetails details = Details(status);
  std::string text = "code " + std::to_string(status.error_code()) + " reason " + details.reason;
  for (const std::string& field : details.fields) text += " field " + field;
  for (const auto& [key, value] : details.metadata) text += " " + key + "=" + value;
  for (const std::string& fault : details.faults) text += " FAULT " + fault;
  return text + ": " + status.error_message();
}

bool Same(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace reversi::e2e
