#include "service/cli/connection.h"

#include "absl/strings/str_split.h"
#include "service/cli/files.h"

namespace reversi::cli {
namespace {

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Credentials(const ServerOptions& options) {
  if (!options.tls) return grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions ssl;
  const std::pair<const std::string*, std::string*> files[] = {{&options.tls_ca, &ssl.pem_root_certs},
                                                               {&options.tls_cert, &ssl.pem_cert_chain},
                                                               {&options.tls_key, &ssl.pem_private_key}};
  for (const auto& [name, text] : files) {
    if (name->empty()) continue;
    auto read = ReadFile(*name);
    if (!read.ok()) return read.status();
    *text = *std::move(read);
  }
  return grpc::SslCredentials(ssl);
}

}  // namespace

absl::StatusOr<Connection> Connection::Open(const ServerOptions& options) {
  auto credentials = Credentials(options);
  if (!credentials.ok()) return credentials.status();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // A server that comes back is found within this, not within gRPC's two minutes.
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  // While a call is open, a network that was cut without a word is noticed within half a minute. The server allows
  // pings this often.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 5000);
  if (!options.tls_name.empty()) arguments.SetSslTargetNameOverride(options.tls_name);
  std::vector<Server> servers;
  for (const absl::string_view address : absl::StrSplit(options.address, ',')) {
    const std::string name(address);
    servers.push_back({name, Service::NewStub(grpc::CreateCustomChannel(name, *credentials, arguments))});
  }
  return Connection(options, std::move(servers));
}

}  // namespace reversi::cli
