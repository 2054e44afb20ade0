// TLS, mutual TLS, the list of names, reloading, and the plaintext port for health.
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "grpc/health/v1/health.grpc.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "service/server.h"
#include "tests/service/certificates.h"

namespace reversi {
namespace {

class TlsTest : public testing::Test {
 protected:
  TlsTest() {
    const std::string folder = testing::TempDir() + "/tls_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    config_.tls_cert_file = folder + "_cert.pem";
    config_.tls_key_file = folder + "_key.pem";
    ca_file_ = folder + "_ca.pem";
    Write(ca_file_, authority_.certificate());
    Install(authority_.Issue("DNS:localhost"));
    config_.listen = "127.0.0.1:0";
    config_.metrics_listen = "127.0.0.1:0";
    config_.log_level = LogLevel::kOff;
  }

  // As tools do that renew certificates: a new file takes the old one's place.
  static void Write(const std::string& name, const std::string& content) {
    std::ofstream(name + ".new") << content;
    ASSERT_EQ(std::rename((name + ".new").c_str(), name.c_str()), 0);
  }
  void Install(const Identity& identity) {
    Write(config_.tls_key_file, identity.key);
    Write(config_.tls_cert_file, identity.certificate);
  }

  std::string Start() {
    auto started = Server::Start(config_, {std::string(32, 'k')});
    if (auto* wrong = std::get_if<std::string>(&started)) return *wrong;
    server_ = std::get<std::unique_ptr<Server>>(std::move(started));
    return {};
  }

  grpc::Status Call(const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetSslTargetNameOverride("localhost");
    const auto stub =
        v1::GameService::NewStub(grpc::CreateCustomChannel(server_->grpc_address(), credentials, arguments));
    grpc::ClientContext context;
    v1::ListVariantsResponse response;
    return stub->ListVariants(&context, {}, &response);
  }

  static std::shared_ptr<grpc::ChannelCredentials> Trusting(const Authority& authority, const Identity& own = {}) {
    return grpc::SslCredentials({authority.certificate(), own.key, own.certificate});
  }

  Config config_;
  std::string ca_file_;
  Authority authority_{"authority"};
  std::unique_ptr<Server> server_;
};

TEST_F(TlsTest, ServesThoseWhoTrustItsAuthorityAndNoPlaintext) {
  ASSERT_EQ(Start(), "");
  EXPECT_TRUE(Call(Trusting(authority_)).ok());
  EXPECT_EQ(Call(Trusting(Authority("another"))).error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(Call(grpc::InsecureChannelCredentials()).error_code(), grpc::UNAVAILABLE);
}

TEST_F(TlsTest, WithClientCertificatesOnlyThoseOfTheAuthorityCome) {
  config_.tls_client_ca_file = ca_file_;
  ASSERT_EQ(Start(), "");
  EXPECT_TRUE(Call(Trusting(authority_, authority_.Issue("DNS:client"))).ok());
  EXPECT_FALSE(Call(Trusting(authority_)).ok());
  EXPECT_FALSE(Call(Trusting(authority_, Authority("another").Issue("DNS:client"))).ok());
}

TEST_F(TlsTest, WithAListOfNamesOnlyTheseCome) {
  config_.tls_client_ca_file = ca_file_;
  config_.tls_allowed_names = {"lobby", "spiffe://house/lobby"};
  ASSERT_EQ(Start(), "");
  EXPECT_TRUE(Call(Trusting(authority_, authority_.Issue("DNS:lobby"))).ok());
  EXPECT_TRUE(Call(Trusting(authority_, authority_.Issue("DNS:other,URI:spiffe://house/lobby"))).ok());
  EXPECT_FALSE(Call(Trusting(authority_, authority_.Issue("DNS:lobby.evil"))).ok());
  EXPECT_FALSE(Call(Trusting(authority_, authority_.Issue("URI:lobby/x"))).ok());
}

TEST_F(TlsTest, CallersAreLimitedEachForThemselves) {
  config_.tls_client_ca_file = ca_file_;
  config_.rate_limit = 0.001;
  config_.rate_burst = 1;
  ASSERT_EQ(Start(), "");
  const auto first = Trusting(authority_, authority_.Issue("DNS:first"));
  EXPECT_TRUE(Call(first).ok());
  EXPECT_EQ(Call(first).error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(Call(Trusting(authority_, authority_.Issue("DNS:second"))).ok());
}

TEST_F(TlsTest, RenewedFilesServeWithoutARestart) {
  ASSERT_EQ(Start(), "");
  ASSERT_TRUE(Call(Trusting(authority_)).ok());
  const Authority renewed("renewed");
  Install(renewed.Issue("DNS:localhost"));
  while (!Call(Trusting(renewed)).ok()) {
  }
  EXPECT_FALSE(Call(Trusting(authority_)).ok());
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  const Identity other = authority_.Issue("DNS:localhost");
  const auto expect_named = [&](const std::string& name) {
    const std::string wrong = Start();
    EXPECT_NE(wrong.find(name), std::string::npos) << wrong;
    EXPECT_EQ(wrong.find("PRIVATE"), std::string::npos);
  };
  Write(config_.tls_key_file, other.key);
  expect_named(config_.tls_key_file);
  Write(config_.tls_key_file, "nonsense");
  expect_named(config_.tls_key_file);
  std::remove(config_.tls_key_file.c_str());
  expect_named(config_.tls_key_file);
  Install(other);
  Write(config_.tls_cert_file, "");
  expect_named(config_.tls_cert_file);
  Install(other);
  config_.tls_client_ca_file = ca_file_ + ".missing";
  expect_named(config_.tls_client_ca_file);
}

TEST_F(TlsTest, APlaintextPortServesHealthAndNothingElse) {
  config_.health_listen = "127.0.0.1:0";
  ASSERT_EQ(Start(), "");
  const auto channel = grpc::CreateChannel(server_->health_address(), grpc::InsecureChannelCredentials());
  const auto health = grpc::health::v1::Health::NewStub(channel);
  const auto status = [&] {
    grpc::ClientContext context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service("reversi.v1.GameService");
    grpc::health::v1::HealthCheckResponse response;
    EXPECT_TRUE(health->Check(&context, request, &response).ok());
    return response.status();
  };
  EXPECT_EQ(status(), grpc::health::v1::HealthCheckResponse::SERVING);
  grpc::ClientContext context;
  v1::ListVariantsResponse response;
  EXPECT_EQ(v1::GameService::NewStub(channel)->ListVariants(&context, {}, &response).error_code(),
            grpc::UNIMPLEMENTED);
  server_->Announce();
  EXPECT_EQ(status(), grpc::health::v1::HealthCheckResponse::NOT_SERVING);
}

}  // namespace
}  // namespace reversi
