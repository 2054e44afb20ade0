// The whole service as one object: stores, games, listeners, the clock's work, and the clean stop.
#ifndef REVERSI_SERVICE_SERVER_H_
#define REVERSI_SERVICE_SERVER_H_

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "service/config.h"

namespace reversi {

class Server {
 public:
  // Starts to serve. Returns what is wrong when something cannot be used: a port, a file.
  // `token_keys`: none = one is made, and tokens die with the process.
  static std::variant<std::unique_ptr<Server>, std::string> Start(const Config& config,
                                                                  const std::vector<std::string>& token_keys);
  // Stops at once if Stop has not been called.
  virtual ~Server() = default;

  // "HOST:PORT" as listened on.
  virtual std::string grpc_address() const = 0;
  virtual std::string metrics_address() const = 0;
  // Empty without a listener of its own.
  virtual std::string health_address() const = 0;

  // The stop in its two steps: health turns NOT_SERVING while everything is still served; …
  virtual void Announce() = 0;
  // … then new games and watches are refused, open watches end, and calls in flight get `grace` to finish. Returns
  // when all is over, not much later than `grace`.
  virtual void Stop(absl::Duration grace) = 0;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_SERVER_H_
