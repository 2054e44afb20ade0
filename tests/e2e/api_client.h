// Calls of the public API with their errors taken apart, for tests over a real server.
#ifndef REVERSI_TESTS_E2E_API_CLIENT_H_
#define REVERSI_TESTS_E2E_API_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"

namespace reversi::e2e {

// What a refusal says beside its code. `faults` lists whatever breaks the form of errors: a status that differs
// from the call's, another domain, no ErrorInfo where there are details, a detail of unknown type.
struct ErrorDetails {
  std::string reason;  // empty: no ErrorInfo at all
  std::map<std::string, std::string> metadata;
  std::vector<std::string> fields;  // of BadRequest, in order
  std::vector<std::string> descriptions;
  std::optional<double> retry_seconds;
  std::vector<std::string> faults;
};
ErrorDetails Details(const grpc::Status& status);

template <class Response>
struct Answer {
  grpc::Status status;
  Response response;
  ErrorDetails error;
  bool ok() const { return status.ok(); }
  uint64_t current_version() const {
    const auto found = error.metadata.find("current_version");
    return found == error.metadata.end() ? 0 : std::stoull(found->second);
  }
};

// One caller with a connection of its own.
class Caller {
 public:
  explicit Caller(const std::string& address,
                  const std::shared_ptr<grpc::ChannelCredentials>& credentials = grpc::InsecureChannelCredentials());

  Answer<v1::CreateGameResponse> Call(const v1::CreateGameRequest& request);
  Answer<v1::JoinGameResponse> Call(const v1::JoinGameRequest& request);
  Answer<v1::GetGameResponse> Call(const v1::GetGameRequest& request);
  Answer<v1::ListGamesResponse> Call(const v1::ListGamesRequest& request);
  Answer<v1::SubmitMoveResponse> Call(const v1::SubmitMoveRequest& request);
  Answer<v1::ResignGameResponse> Call(const v1::ResignGameRequest& request);
  Answer<v1::AbortGameResponse> Call(const v1::AbortGameRequest& request);
  Answer<v1::ListVariantsResponse> Call(const v1::ListVariantsRequest& request);
  // Reads one watch to its end, for watches that end by themselves.
  Answer<std::vector<v1::WatchGameResponse>> Call(const v1::WatchGameRequest& request);
  // Sends `bytes` as the request of `method` ("/reversi.v1.GameService/GetGame"); the answer's bytes, if wanted.
  grpc::Status CallRaw(const std::string& method, const std::string& bytes, std::string* answer = nullptr);
  // grpc.health.v1: 1 = SERVING, 2 = NOT_SERVING, 0 = no answer.
  int Health(const std::string& service = "");

  // Shorter words for the usual calls.
  v1::Game Get(const std::string& game_id);
  Answer<v1::SubmitMoveResponse> Move(const std::string& game_id, const std::string& token, const std::string& move,
                                      uint64_t expected_version);

  v1::GameService::Stub* stub() { return stub_.get(); }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::GameService::Stub> stub_;
};

// A game at the start of a test, with the secrets of its seats.
struct TestGame {
  std::string id;
  std::vector<std::string> tokens;
  std::string owner;
  v1::Game created;
  // Token of the one on turn.
  const std::string& TokenOf(v1::Color color) const { return tokens[static_cast<size_t>(color) - 1]; }
};
// Makes a game and asserts that it was made.
TestGame NewGame(Caller& caller, const v1::CreateGameRequest& request = {});

// "field=value ..." of an error, for failure messages.
std::string Describe(const grpc::Status& status);

// Two messages field by field, independent of how they were serialized.
bool Same(const google::protobuf::Message& a, const google::protobuf::Message& b);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_API_CLIENT_H_
