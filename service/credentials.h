// TLS and mutual TLS from files that are read again when they change.
#ifndef REVERSI_SERVICE_CREDENTIALS_H_
#define REVERSI_SERVICE_CREDENTIALS_H_

#include <memory>
#include <string>
#include <variant>

#include <grpcpp/security/server_credentials.h>

#include "service/config.h"

namespace reversi {

// A file and the flag that names it, as the operator wrote it.
struct FlagFile {
  const char* flag;
  const std::string& name;
};

// What is wrong with a certificate, its key and the certificate of an authority, all PEM files; empty = they can be used.
// A name that is empty stands for no file; with `cert` comes `key`.
std::string UnusableFiles(const FlagFile& cert, const FlagFile& key, const FlagFile& ca);

// The credentials that the settings ask for: plaintext, TLS, or TLS with client certificates, of which only those
// with an allowed name may come when there is a list. Returns what is wrong where the files cannot be used.
std::variant<std::shared_ptr<grpc::ServerCredentials>, std::string> MakeCredentials(const Config& config);

}  // namespace reversi

#endif  // REVERSI_SERVICE_CREDENTIALS_H_
