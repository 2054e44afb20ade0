// How stores tell operators what happens to them.
#ifndef REVERSI_SERVICE_STORE_LOG_H_
#define REVERSI_SERVICE_STORE_LOG_H_

#include <functional>
#include <string>

#include "service/config.h"

namespace reversi {

// May be called from any thread.
using StoreLog = std::function<void(LogLevel level, const std::string& message)>;

}  // namespace reversi

#endif  // REVERSI_SERVICE_STORE_LOG_H_
