// Stores on etcd nodes of a test's own.
#ifndef REVERSI_TESTS_STORES_ETCD_STORES_H_
#define REVERSI_TESTS_STORES_ETCD_STORES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "service/store_etcd.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {

EtcdStore::Options OptionsFor(std::vector<std::string> endpoints, absl::Duration wait = absl::Minutes(1));

// Null, which is a test failure, when a file that the options name cannot be read.
std::unique_ptr<EtcdStore> MakeStore(const EtcdStore::Options& options, LogLines& log);

// Waits for what must come; false after a minute.
bool Eventually(const std::function<bool()>& come);

}  // namespace reversi::stores

#endif  // REVERSI_TESTS_STORES_ETCD_STORES_H_
