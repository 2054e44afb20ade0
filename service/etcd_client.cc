#include "service/etcd_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "service/small_file.h"

namespace reversi {
namespace {

using etcdserverpb::RangeRequest;
using etcdserverpb::RangeResponse;
using etcdserverpb::TxnRequest;
using etcdserverpb::TxnResponse;

constexpr absl::Duration kShortestAttempt = absl::Milliseconds(50);

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  // A node that is back is found within a second, not after gRPC's two minutes.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // etcd cuts clients that ping more often than every 5 s.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 10'000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 3'000);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  // A batch of conflicts or a burst on the watch brings many records at once.
  arguments.SetMaxReceiveMessageSize(-1);
  return arguments;
}

// Whether the token is no longer good: expired, or made before users were changed.
bool TokenRefused(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
         (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT && absl::StrContains(status.error_message(), "auth"));
}

}  // namespace

// A context holds its channel, and gRPC's last channel takes the threads of the callbacks with it: dropped by such a
// thread, which cannot wait for itself, it leaves that thread with a queue that is gone.
class EtcdClient::Hold {
 public:
  explicit Hold(EtcdClient& client) : client_(client) {
    absl::MutexLock lock(&client_.mu_);
    ++client_.holds_;
  }
  ~Hold() {
    absl::MutexLock lock(&client_.mu_);
    --client_.holds_;
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  EtcdClient& client_;
};

std::variant<std::unique_ptr<EtcdClient>, std::string> EtcdClient::Make(const EtcdOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.ca_file.empty() || !options.cert_file.empty()) {
    grpc::SslCredentialsOptions tls;
    for (const auto& [name, text] : {std::pair{&options.ca_file, &tls.pem_root_certs},
                                     {&options.cert_file, &tls.pem_cert_chain},
                                     {&options.key_file, &tls.pem_private_key}}) {
      std::string wrong = name->empty() ? std::string() : ReadSmallFile(*name, text);
      if (!wrong.empty()) return wrong;
    }
    credentials = grpc::SslCredentials(tls);
  }
  return std::unique_ptr<EtcdClient>(new EtcdClient(options, credentials));
}

EtcdClient::EtcdClient(const EtcdOptions& options, const std::shared_ptr<grpc::ChannelCredentials>& credentials)
    : options_(options) {
  for (const std::string& endpoint : options.endpoints) {
    const auto channel = grpc::CreateCustomChannel(endpoint, credentials, Arguments());
    stubs_.push_back({etcdserverpb::KV::NewStub(channel), etcdserverpb::Watch::NewStub(channel),
                      etcdserverpb::Auth::NewStub(channel)});
  }
}

EtcdClient::~EtcdClient() {
  const auto free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return holds_ == 0; };
  absl::MutexLock lock(&mu_, absl::Condition(&free));
}

void EtcdClient::Prepare(grpc::ClientContext& context, const std::string& token) const {
  if (!token.empty()) context.AddMetadata("token", token);
  // A node that has no leader says so instead of waiting for one.
  context.AddMetadata("hasleader", "true");
}

template <typename Request, typename Response, typename Start>
void EtcdClient::Call(std::shared_ptr<const Request> request, absl::Duration timeout, Done<Response> done,
                      Start start) {
  struct Flight {
    explicit Flight(EtcdClient& client) : hold(client) {}
    const Hold hold;  // first, so that it goes last
    grpc::ClientContext context;
    std::shared_ptr<const Request> request;
    google::protobuf::Arena arena;  // an answer has very many parts, which go together
    Response& response = *google::protobuf::Arena::CreateMessage<Response>(&arena);
    Done<Response> done;
  };
  auto flight = std::make_shared<Flight>(*this);
  flight->request = std::move(request);
  flight->done = std::move(done);
  timeout = std::clamp(timeout, kShortestAttempt, options_.attempt_timeout);
  WithToken([this, flight, timeout, start](const grpc::Status& status, const std::string& token) {
    if (!status.ok()) return flight->done(status, flight->response);
    Prepare(flight->context, token);
    flight->context.set_deadline(absl::ToChronoTime(absl::Now() + timeout));
    const size_t endpoint = current_.load();
    start(*stubs_[endpoint].kv->async(), &flight->context, flight->request.get(), &flight->response,
          [this, flight, endpoint](grpc::Status answer) {
            Judge(endpoint, answer);
            flight->done(answer, flight->response);
          });
  });
}

void EtcdClient::Txn(std::shared_ptr<const TxnRequest> request, absl::Duration timeout, Done<TxnResponse> done) {
  Call(std::move(request), timeout, std::move(done),
       [](auto& kv, auto* context, const TxnRequest* asked, TxnResponse* response, auto answered) {
         kv.Txn(context, asked, response, std::move(answered));
       });
}

void EtcdClient::Range(std::shared_ptr<const RangeRequest> request, absl::Duration timeout,
                       Done<RangeResponse> done) {
  Call(std::move(request), timeout, std::move(done),
       [](auto& kv, auto* context, const RangeRequest* asked, RangeResponse* response, auto answered) {
         kv.Range(context, asked, response, std::move(answered));
       });
}

grpc::Status EtcdClient::Range(const RangeRequest& request, RangeResponse* response) {
  absl::Mutex mu;
  bool answered = false;
  grpc::Status status;
  const auto shared = std::make_shared<const RangeRequest>(request);
  Range(shared, options_.attempt_timeout, [&](const grpc::Status& answer, RangeResponse& ranged) {
    absl::MutexLock lock(&mu);
    status = answer;
    response->Swap(&ranged);
    answered = true;
  });
  absl::MutexLock lock(&mu, absl::Condition(&answered));
  return status;
}

grpc::Status EtcdClient::Watch(grpc::ClientContext* context, WatchReactor* reactor, size_t* endpoint) {
  absl::Mutex mu;
  bool came = false;
  grpc::Status status;
  std::string token;
  WithToken([&](const grpc::Status& answer, const std::string& text) {
    absl::MutexLock lock(&mu);
    status = answer;
    token = text;
    came = true;
  });
  {
    absl::MutexLock lock(&mu, absl::Condition(&came));
  }
  *endpoint = current_.load();
  if (!status.ok()) return status;
  Prepare(*context, token);
  stubs_[*endpoint].watch->async()->Watch(context, reactor);
  return status;
}

void EtcdClient::WithToken(Go go) {
  if (options_.user.empty()) return go(grpc::Status::OK, "");
  std::string token;
  {
    absl::MutexLock lock(&mu_);
    token = token_;
    if (token.empty()) {
      waiting_.push_back(std::move(go));
      if (std::exchange(authenticating_, true)) return;
    }
  }
  if (token.empty()) return Authenticate();
  go(grpc::Status::OK, token);
}

void EtcdClient::Authenticate() {
  struct Flight {
    explicit Flight(EtcdClient& client) : hold(client) {}
    const Hold hold;  // first, so that it goes last
    grpc::ClientContext context;
    etcdserverpb::AuthenticateRequest request;
    etcdserverpb::AuthenticateResponse response;
  };
  auto flight = std::make_shared<Flight>(*this);
  flight->request.set_name(options_.user);
  flight->request.set_password(options_.password);
  flight->context.set_deadline(absl::ToChronoTime(absl::Now() + options_.attempt_timeout));
  const size_t endpoint = current_.load();
  stubs_[endpoint].auth->async()->Authenticate(&flight->context, &flight->request, &flight->response,
                                               [this, flight, endpoint](grpc::Status status) {
                                                 Judge(endpoint, status);
                                                 TokenCame(status, flight->response.token());
                                               });
}

void EtcdClient::TokenCame(const grpc::Status& status, std::string token) {
  std::vector<Go> waiting;
  {
    absl::MutexLock lock(&mu_);
    authenticating_ = false;
    if (status.ok()) token_ = token;
    waiting.swap(waiting_);
  }
  for (Go& go : waiting) go(status, token);
}

void EtcdClient::Judge(size_t endpoint, const grpc::Status& status) {
  if (status.ok()) return;
  if (TokenRefused(status)) {
    absl::MutexLock lock(&mu_);
    token_.clear();
    return;
  }
  // Only the first of those that failed there moves everybody on.
  current_.compare_exchange_strong(endpoint, (endpoint + 1) % stubs_.size());
}

}  // namespace reversi
