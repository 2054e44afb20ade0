// The way to the server: address, credentials, deadlines.
#ifndef REVERSI_SERVICE_CLI_CONNECTION_H_
#define REVERSI_SERVICE_CLI_CONNECTION_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "reversi/v1/reversi.grpc.pb.h"

namespace reversi::cli {

// Where the server is and how to trust it.
struct ServerOptions {
  std::string address = "127.0.0.1:50051";
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

  // One call with the options' deadline.
  template <typename Request, typename Response>
  grpc::Status Call(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                    const Request& request, Response* response) const {
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + options_.timeout));
    return (stub_.get()->*method)(&context, request, response);
  }

  // Like Call, but for calls that may be made twice: repeats them a few times while the server is away.
  template <typename Request, typename Response>
  grpc::Status CallAgain(grpc::Status (Service::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                         const Request& request, Response* response) const {
    grpc::Status status = Call(method, request, response);
    for (int i = 0; i < kRetries && WasAway(status); ++i) {
      absl::SleepFor(kRetryPause * (1 << i));
      status = Call(method, request, response);
    }
    return status;
  }

  Service::Stub& stub() const { return *stub_; }
  const std::string& address() const { return options_.address; }

 private:
  // CANCELLED, which nothing here does: the call reached a server in the moment of its stop.
  static bool WasAway(const grpc::Status& status) {
    return status.error_code() == grpc::StatusCode::UNAVAILABLE || status.error_code() == grpc::StatusCode::CANCELLED;
  }

  static constexpr int kRetries = 3;
  static constexpr absl::Duration kRetryPause = absl::Milliseconds(200);

  Connection(ServerOptions options, std::unique_ptr<Service::Stub> stub)
      : options_(std::move(options)), stub_(std::move(stub)) {}

  ServerOptions options_;
  std::unique_ptr<Service::Stub> stub_;
};

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_CONNECTION_H_
