// Which store the settings ask for.
#ifndef REVERSI_SERVICE_OPEN_STORE_H_
#define REVERSI_SERVICE_OPEN_STORE_H_

#include <memory>
#include <string>
#include <variant>

#include "service/config.h"
#include "service/store.h"

namespace reversi {

// Returns why it cannot be used: a folder in use, a file that cannot be read. Does not wait for etcd.
std::variant<std::unique_ptr<Store>, std::string> OpenStore(const Config& config);

}  // namespace reversi

#endif  // REVERSI_SERVICE_OPEN_STORE_H_
