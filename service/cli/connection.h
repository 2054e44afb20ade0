// The way to the server: address, credentials, deadlines.
#ifndef REVERSI_SERVICE_CLI_CONNECTION_H_
#define REVERSI_SERVICE_CLI_CONNECTION_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "reversi/v1/reversi.grpc.pb.h"

namespace reversi::cli {

// Where the server is and how to trust it.
struct ServerOptions {
  std::string address = "127.0.0.1:50051";  // several with commas between: replicas of one service
  absl::Duration timeout = absl::Seconds(10);  // of every call but a watch
  bool tls = false;
  std::string tls_ca;    // file of certificates to trust; empty = the system's
  std::string tls_cert;  // client certificate and its key, both or none
  std::string tls_key;
  std::string tls_name;  // name expected in the server's certificate; empty = the address's
};

class Connection {
 public:
  using Service = v1::GameService;

  // Reads the files of the credentials; connects at the first call. An error names the file.
  static absl::StatusOr<Connection> Open(const ServerOptions& options);

  // One call with the options' deadline. Of several servers each call asks the next one.
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) const {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + options_.timeout));
    return (stub((*calls_)++).*method)(&context, request, response);
  }

  // Like Call, but for calls that may be made twice: asks every server, and all of them again a few times, while each
  // is away.
  template <typename Request, typename Response>
  grpc::Status CallAgain(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                         const Request& request, Response* response) const {
    for (int round = 0;; ++round) {
      grpc::Status status;
      for (size_t asked = 0; asked < servers(); ++asked) {
        status = Call(method, request, response);
        if (!WasAway(status)) return status;
      }
      if (round == kRetries) return status;
      absl::SleepFor(kRetryPause * (1 << round));
    }
  }

  size_t servers() const { return servers_.size(); }
  // Any number names a server: they are counted round and round.
  Service::Stub& stub(size_t server) const { return *servers_[server % servers()].stub; }
  const std::string& address_of(size_t server) const { return servers_[server % servers()].address; }
  // Whom the last call asked.
  const std::string& asked() const { return address_of(*calls_ - 1); }
  // All of them, as they were given.
  const std::string& address() const { return options_.address; }

 private:
  struct Server {
    std::string address;
    std::unique_ptr<Service::Stub> stub;
  };

  // CANCELLED, which nothing here does: the call reached a server in the moment of its stop.
  static bool WasAway(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::UNAVAILABLE || status.error_code() == grpc::StatusCode::CANCELLED;
  }

  static constexpr int kRetries = 3;
  static constexpr absl::Duration kRetryPause = absl::Milliseconds(200);

  Connection(ServerOptions options, std::vector<Server> servers)
      : options_(std::move(options)), servers_(std::move(servers)) {}

  ServerOptions options_;
  std::vector<Server> servers_;  // at least one
  std::unique_ptr<std::atomic<size_t>> calls_ = std::make_unique<std::atomic<size_t>>(0);  // made so far
};

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_CONNECTION_H_
