#include "service/credentials.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "absl/strings/str_cat.h"
#include "service/small_file.h"

namespace reversi {
namespace {

// How often the files are looked at.
constexpr unsigned int kRefreshSeconds = 1;

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio Open(const std::string& text) { return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free}; }

// No passphrase is asked for: nobody is there to type it.
int NoPassphrase(char*, int, int, void*) { return 0; }

// The first certificate of a file, or what is wrong with the file.
std::variant<Certificate, std::string> ReadCertificate(const FlagFile& file) {
  std::string text;
  const std::string wrong = ReadSmallFile(file.name, &text);
  if (!wrong.empty()) return absl::StrCat(file.flag, "=", wrong);
  Certificate certificate(PEM_read_bio_X509(Open(text).get(), nullptr, NoPassphrase, nullptr), X509_free);
  if (certificate == nullptr) return absl::StrCat(file.flag, "=", file.name, " holds no certificate in PEM");
  return certificate;
}

// Lets in the clients that have one of the names; their certificates have been verified before.
class AllowedNames : public grpc::experimental::ExternalCertificateVerifier {
 public:
  explicit AllowedNames(std::vector<std::string> names) : names_(std::move(names)) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* sync_status) override {
    const bool allowed = HasOne(request->uri_names()) || HasOne(request->dns_names()) ||
                         HasOne(request->email_names()) || HasOne(request->ip_names());
    if (!allowed) *sync_status = grpc::Status(grpc::UNAUTHENTICATED, "no name of the certificate is on the list");
    return true;
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest*) override {}

 private:
  bool HasOne(const std::vector<grpc::string_ref>& names) const {
    return std::any_of(names.begin(), names.end(), [this](const grpc::string_ref& name) {
      return std::find(names_.begin(), names_.end(), std::string(name.data(), name.size())) != names_.end();
    });
  }
  const std::vector<std::string> names_;
};

}  // namespace

std::string UnusableFiles(const FlagFile& cert, const FlagFile& key, const FlagFile& ca) {
  if (!cert.name.empty()) {
    const auto certificate = ReadCertificate(cert);
    if (const auto* wrong = std::get_if<std::string>(&certificate)) return *wrong;
    std::string text;
    const std::string unreadable = ReadSmallFile(key.name, &text);
    if (!unreadable.empty()) return absl::StrCat(key.flag, "=", unreadable);
    const PrivateKey secret(PEM_read_bio_PrivateKey(Open(text).get(), nullptr, NoPassphrase, nullptr), EVP_PKEY_free);
    if (secret == nullptr) return absl::StrCat(key.flag, "=", key.name, " holds no unencrypted private key in PEM");
    if (X509_check_private_key(std::get<Certificate>(certificate).get(), secret.get()) != 1) {
      return absl::StrCat(key.flag, "=", key.name, " is not the key of ", cert.name);
    }
  }
  if (ca.name.empty()) return {};
  const auto authority = ReadCertificate(ca);
  const auto* wrong = std::get_if<std::string>(&authority);
  return wrong == nullptr ? std::string() : *wrong;
}

std::variant<std::shared_ptr<grpc::ServerCredentials>, std::string> MakeCredentials(const Config& config) {
  using Credentials = std::shared_ptr<grpc::ServerCredentials>;
  if (config.tls_cert_file.empty()) return Credentials(grpc::InsecureServerCredentials());
  const std::string unusable =
      UnusableFiles({"--tls_cert_file", config.tls_cert_file}, {"--tls_key_file", config.tls_key_file},
                    {"--tls_client_ca_file", config.tls_client_ca_file});
  if (!unusable.empty()) return unusable;
  const auto files = std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
      config.tls_key_file, config.tls_cert_file, config.tls_client_ca_file, kRefreshSeconds);
  grpc::experimental::TlsServerCredentialsOptions options(files);
  options.watch_identity_key_cert_pairs();
  if (config.tls_client_ca_file.empty()) {
    options.set_cert_request_type(GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  } else {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    if (!config.tls_allowed_names.empty()) {
      options.set_certificate_verifier(
          grpc::experimental::ExternalCertificateVerifier::Create<AllowedNames>(config.tls_allowed_names));
    }
  }
  return Credentials(grpc::experimental::TlsServerCredentials(options));
}

}  // namespace reversi
