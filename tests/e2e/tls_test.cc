// TLS and mutual TLS: who gets in, what is told apart by whom, files that change, and the plaintext port for health.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/server_process.h"

namespace reversi::e2e {
namespace {

namespace fs = std::filesystem;

// Certificates of the test's own, made by the openssl command.
class TlsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string folder = testing::TempDir() + "reversi_tls_XXXXXX";
    folder_ = mkdtemp(folder.data());
    for (const char* authority : {"ca", "other_ca"}) {
      Openssl(std::string("req -x509 ") + kNewKey + " -days 2 -subj /CN=" + authority + " -keyout " +
              File(authority, "key") + " -out " + File(authority, "pem"));
    }
    Issue("server", "ca", "DNS:localhost,IP:127.0.0.1");
    Issue("other_server", "other_ca", "DNS:localhost,IP:127.0.0.1");
    Issue("one", "ca", "DNS:one.example");
    Issue("two", "ca", "URI:spiffe://example/two");
    Issue("stranger", "other_ca", "DNS:one.example");
  }
  static void TearDownTestSuite() { fs::remove_all(folder_); }

  static std::string File(const std::string& name, const std::string& ending) {
    return (folder_ / (name + "." + ending)).string();
  }
  static std::string Content(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }
  static std::vector<std::string> Flags(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"--drain_delay=0s", "--tls_cert_file=" + File("server", "pem"),
                                      "--tls_key_file=" + File("server", "key")};
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  // A caller that trusts `authority` and shows `name`'s certificate, if any.
  static std::unique_ptr<Caller> CallerOf(const std::string& address, const std::string& authority,
                                          const std::string& name = "") {
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = Content(File(authority, "pem"));
    if (!name.empty()) {
      options.pem_private_key = Content(File(name, "key"));
      options.pem_cert_chain = Content(File(name, "pem"));
    }
    return std::make_unique<Caller>(address, grpc::SslCredentials(options));
  }
  // One call that does not wait for a better connection.
  static grpc::Status Try(Caller& caller) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kPatience);
    v1::ListVariantsResponse response;
    return caller.stub()->ListVariants(&context, {}, &response);
  }

 private:
  static constexpr char kNewKey[] = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
  static void Openssl(const std::string& arguments) {
    ASSERT_EQ(std::system(("openssl " + arguments + " 2>/dev/null").c_str()), 0) << arguments;
  }
  static void Issue(const std::string& name, const std::string& authority, const std::string& names) {
    std::ofstream(File(name, "ext")) << "subjectAltName=" << names << "\n";
    Openssl(std::string("req ") + kNewKey + " -subj /CN=" + name + " -keyout " + File(name, "key") + " -out " +
            File(name, "csr"));
    Openssl("x509 -req -days 2 -in " + File(name, "csr") + " -CA " + File(authority, "pem") + " -CAkey " +
            File(authority, "key") + " -CAcreateserial -extfile " + File(name, "ext") + " -out " + File(name, "pem"));
  }
  static fs::path folder_;
};
fs::path TlsTest::folder_;

TEST_F(TlsTest, CallersWithTheAuthorityGetInAndOthersDoNot) {
  const auto server = ServerProcess::Start({.flags = Flags({"--health_listen=127.0.0.1:0"})});
  ASSERT_NE(server, nullptr);
  const auto caller = CallerOf(server->address(), "ca");
  const TestGame game = NewGame(*caller);
  EXPECT_TRUE(Refused(caller->Move(game.id, "wrong", "d3", 1), "BAD_TOKEN"));
  EXPECT_EQ(Try(*CallerOf(server->address(), "other_ca")).error_code(), grpc::StatusCode::UNAVAILABLE);
  Caller plaintext(server->address());
  EXPECT_EQ(Try(plaintext).error_code(), grpc::StatusCode::UNAVAILABLE);
  // The second port is plaintext and serves health alone.
  std::smatch match;
  ASSERT_TRUE(std::regex_search(server->line(), match, std::regex("health=(\\S+)"))) << server->line();
  Caller probe(match[1]);
  EXPECT_EQ(probe.Health(), 1);
  EXPECT_EQ(probe.Health("reversi.v1.GameService"), 1);
  EXPECT_EQ(Try(probe).error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
}

TEST_F(TlsTest, OnlyVerifiedClientsOnTheListGetIn) {
  const auto server = ServerProcess::Start(
      {.flags = Flags({"--tls_client_ca_file=" + File("ca", "pem"), "--tls_allowed_names=nobody.example,one.example"})});
  ASSERT_NE(server, nullptr);
  EXPECT_TRUE(Try(*CallerOf(server->address(), "ca", "one")).ok());
  for (const char* name : {"", "two", "stranger"}) {
    EXPECT_EQ(Try(*CallerOf(server->address(), "ca", name)).error_code(), grpc::StatusCode::UNAVAILABLE) << name;
  }
  EXPECT_TRUE(Try(*CallerOf(server->address(), "ca", "one")).ok());
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
}

TEST_F(TlsTest, RequestIdsOfDifferentClientsAreDifferentRequests) {
  const auto server = ServerProcess::Start({.flags = Flags({"--tls_client_ca_file=" + File("ca", "pem")})});
  ASSERT_NE(server, nullptr);
  const auto one = CallerOf(server->address(), "ca", "one"), again = CallerOf(server->address(), "ca", "one"),
             two = CallerOf(server->address(), "ca", "two");
  v1::CreateGameRequest request;
  request.set_request_id("the-same-id-of-two-clients");
  const TestGame game = NewGame(*one, request);
  EXPECT_EQ(NewGame(*again, request).id, game.id);
  const TestGame other = NewGame(*two, request);
  EXPECT_NE(other.id, game.id);
  EXPECT_NE(other.owner, game.owner);
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
}

TEST_F(TlsTest, FilesThatChangeAreReadAgain) {
  const std::string certificate = File("changing", "pem"), key = File("changing", "key");
  const auto take = [&](const std::string& name) {
    // Renamed into place, as a mounted secret is.
    for (const auto& [from, to] : {std::pair{File(name, "key"), key}, std::pair{File(name, "pem"), certificate}}) {
      fs::copy_file(from, to + ".new");
      fs::rename(to + ".new", to);
    }
  };
  take("server");
  const auto server = ServerProcess::Start(
      {.flags = {"--drain_delay=0s", "--tls_cert_file=" + certificate, "--tls_key_file=" + key}});
  ASSERT_NE(server, nullptr);
  const auto early = CallerOf(server->address(), "ca");
  EXPECT_TRUE(Try(*early).ok());
  take("other_server");
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!Try(*CallerOf(server->address(), "other_ca")).ok() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(Try(*CallerOf(server->address(), "other_ca")).ok());
  EXPECT_TRUE(Try(*early).ok()) << "a connection that was open was cut";
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
}

}  // namespace
}  // namespace reversi::e2e
