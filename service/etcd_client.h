// Calls to etcd: which endpoint is asked, with which certificate and token. Knows nothing of games.
#ifndef REVERSI_SERVICE_ETCD_CLIENT_H_
#define REVERSI_SERVICE_ETCD_CLIENT_H_

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "etcd/rpc.grpc.pb.h"

namespace reversi {

struct EtcdOptions {
  std::vector<std::string> endpoints;  // host:port, at least one
  std::string ca_file;                 // PEM; empty and no certificate either = plaintext
  std::string cert_file;               // PEM, with key_file: mutual TLS
  std::string key_file;
  std::string user;                    // empty = no authentication
  std::string password;
  absl::Duration attempt_timeout = absl::Seconds(2);
};

class EtcdClient {
 public:
  template <typename Response>
  using Done = absl::AnyInvocable<void(const grpc::Status& status, Response& response)>;
  using WatchReactor = grpc::ClientBidiReactor<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>;

  // Connects lazily. Returns which file cannot be read.
  static std::variant<std::unique_ptr<EtcdClient>, std::string> Make(const EtcdOptions& options);
  // Waits until gRPC has let go of every call. Not on a thread of gRPC.
  ~EtcdClient();

  // One attempt at the endpoint that answered last, no longer than this and attempt_timeout. After a failure the next
  // call goes to the next endpoint. `done` runs on a thread of gRPC.
  void Txn(std::shared_ptr<const etcdserverpb::TxnRequest> request, absl::Duration timeout,
           Done<etcdserverpb::TxnResponse> done);
  void Range(std::shared_ptr<const etcdserverpb::RangeRequest> request, absl::Duration timeout,
             Done<etcdserverpb::RangeResponse> done);
  // The same, waiting for the answer.
  grpc::Status Range(const etcdserverpb::RangeRequest& request, etcdserverpb::RangeResponse* response);

  // Gives the reactor a watch stream without deadline, whose call it then starts; the context outlives it. `endpoint`
  // names it for WatchEnded. Waits for a token if one is needed; an error = the user is refused or nobody could be asked.
  grpc::Status Watch(grpc::ClientContext* context, WatchReactor* reactor, size_t* endpoint);
  void WatchEnded(size_t endpoint, const grpc::Status& status) { Judge(endpoint, status); }

  // The endpoint asked next, for logs.
  std::string endpoint() const { return options_.endpoints[current_.load()]; }

 private:
  struct Stubs {
    std::unique_ptr<etcdserverpb::KV::Stub> kv;
    std::unique_ptr<etcdserverpb::Watch::Stub> watch;
    std::unique_ptr<etcdserverpb::Auth::Stub> auth;
  };
  using Go = absl::AnyInvocable<void(const grpc::Status& status, const std::string& token)>;
  // One for each call, let go of after its context.
  class Hold;

  EtcdClient(const EtcdOptions& options, const std::shared_ptr<grpc::ChannelCredentials>& credentials);

  template <typename Request, typename Response, typename Start>
  void Call(std::shared_ptr<const Request> request, absl::Duration timeout, Done<Response> done, Start start);
  // Runs `go` with the token that calls carry (empty = none needed), at once or after the user has been accepted.
  void WithToken(Go go) ABSL_LOCKS_EXCLUDED(mu_);
  void Authenticate() ABSL_LOCKS_EXCLUDED(mu_);
  void TokenCame(const grpc::Status& status, std::string token) ABSL_LOCKS_EXCLUDED(mu_);
  // Draws the consequences of how a call at this endpoint ended.
  void Judge(size_t endpoint, const grpc::Status& status) ABSL_LOCKS_EXCLUDED(mu_);
  void Prepare(grpc::ClientContext& context, const std::string& token) const;

  const EtcdOptions options_;
  std::vector<Stubs> stubs_;  // one per endpoint
  std::atomic<size_t> current_ = 0;

  absl::Mutex mu_;
  int holds_ ABSL_GUARDED_BY(mu_) = 0;
  std::string token_ ABSL_GUARDED_BY(mu_);
  bool authenticating_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<Go> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_ETCD_CLIENT_H_
