// Structured logs: one JSON object a line on stderr. Never a token, a key or, above debug, a game's content.
#ifndef REVERSI_SERVICE_LOG_H_
#define REVERSI_SERVICE_LOG_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "service/config.h"

namespace reversi {

// Lines below this level are dropped from now on, and gRPC's own lines come as ours: its errors as warnings, the
// rest at debug. For main alone, before threads start.
void StartLog(LogLevel level);
bool Logs(LogLevel level);

// {"time":…,"level":…,"message":…, then the fields in their order}. Values are text.
void Log(LogLevel level, std::string_view message,
         std::initializer_list<std::pair<std::string_view, std::string_view>> fields = {});

}  // namespace reversi

#endif  // REVERSI_SERVICE_LOG_H_
