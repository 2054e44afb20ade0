#include "tests/stores/etcd_stores.h"

#include <gtest/gtest.h>

#include <utility>
#include <variant>

#include "absl/time/clock.h"

namespace reversi::stores {

EtcdStore::Options OptionsFor(std::vector<std::string> endpoints, absl::Duration wait) {
  EtcdStore::Options options;
  options.client.endpoints = std::move(endpoints);
  options.prefix = "test/";
  options.wait = wait;
  return options;
}

std::unique_ptr<EtcdStore> MakeStore(const EtcdStore::Options& options, LogLines& log) {
  auto made = EtcdStore::Make(options, log.sink());
  if (const auto* wrong = std::get_if<std::string>(&made)) {
    ADD_FAILURE() << *wrong;
    return nullptr;
  }
  return std::get<std::unique_ptr<EtcdStore>>(std::move(made));
}

bool Eventually(const std::function<bool()>& come) {
  for (const absl::Time end = absl::Now() + absl::Minutes(1); absl::Now() < end; absl::SleepFor(absl::Milliseconds(5))) {
    if (come()) return true;
  }
  return false;
}

}  // namespace reversi::stores
