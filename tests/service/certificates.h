// Certificates made for a test.
#ifndef REVERSI_TESTS_SERVICE_CERTIFICATES_H_
#define REVERSI_TESTS_SERVICE_CERTIFICATES_H_

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace reversi {

// A certificate and its key in PEM.
struct Identity {
  std::string certificate;
  std::string key;
};

// An authority that signs certificates good for an hour.
class Authority {
 public:
  explicit Authority(const std::string& name);
  const std::string& certificate() const { return certificate_pem_; }
  // `alternative_name` as OpenSSL writes it: "DNS:localhost", "IP:127.0.0.1", "URI:spiffe://…".
  Identity Issue(const std::string& alternative_name) const;

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
  std::string certificate_pem_;
};

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_CERTIFICATES_H_
