#include "service/open_store.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/credentials.h"
#include "service/log.h"
#include "service/packed_record.h"
#include "service/small_file.h"
#ifdef REVERSI_DISK_STORE
#include "service/store_disk.h"
#endif
#include "service/store_etcd.h"
#include "service/store_memory.h"

namespace reversi {
namespace {

using Opened = std::variant<std::unique_ptr<Store>, std::string>;

void LogStore(LogLevel level, const std::string& message) { Log(level, message); }

template <typename S>
Opened AsStore(std::variant<std::unique_ptr<S>, std::string> opened) {
  if (auto* wrong = std::get_if<std::string>(&opened)) return std::move(*wrong);
  return std::unique_ptr<Store>(std::get<std::unique_ptr<S>>(std::move(opened)));
}

Opened OpenDisk(const Config& config) {
#ifdef REVERSI_DISK_STORE
  return AsStore(DiskStore::Open(config.data_dir, LogStore));
#else
  return absl::StrCat("--store=disk --data_dir=", config.data_dir,
                      ": this build has no disk store (REVERSI_DISK_STORE=OFF); it keeps games in memory or in etcd");
#endif
}

Opened OpenEtcd(const Config& config) {
  std::string unusable = UnusableFiles({"--etcd_cert_file", config.etcd_cert_file},
                                       {"--etcd_key_file", config.etcd_key_file}, {"--etcd_ca_file", config.etcd_ca_file});
  if (!unusable.empty()) return unusable;
  EtcdStore::Options options;
  options.client = {.endpoints = config.etcd_endpoints,
                    .ca_file = config.etcd_ca_file,
                    .cert_file = config.etcd_cert_file,
                    .key_file = config.etcd_key_file,
                    .user = config.etcd_user,
                    .password = {}};
  if (!config.etcd_password_file.empty()) {
    std::string& password = options.client.password;
    const std::string wrong = ReadSmallFile(config.etcd_password_file, &password);
    if (!wrong.empty()) return absl::StrCat("--etcd_password_file=", wrong);
    if (absl::EndsWith(password, "\n")) password.pop_back();
  }
  options.prefix = config.etcd_prefix;
  options.wait = config.store_wait;
  return AsStore(EtcdStore::Make(options, LogStore));
}

}  // namespace

Opened OpenStore(const Config& config) {
  switch (config.store) {
    case StoreKind::kDisk:
      return OpenDisk(config);
    case StoreKind::kEtcd:
      return OpenEtcd(config);
    case StoreKind::kMemory:
      break;
  }
  return std::make_unique<MemoryStore>(MemoryStore::Packing{PackRecord, UnpackRecord});
}

}  // namespace reversi
