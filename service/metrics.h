// Everything that is counted, by verb. Names, help texts, labels and buckets stand in metrics.cc alone. All series
// exist from the start at zero; none is named by a game. Passed by reference, one per server.
#ifndef REVERSI_SERVICE_METRICS_H_
#define REVERSI_SERVICE_METRICS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "engine/rules.h"
#include "service/errors.h"
#include "service/table.h"

namespace prometheus {
class Counter;
class Exposer;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

namespace reversi {

enum class Method : uint8_t {
  kCreateGame, kJoinGame, kGetGame, kListGames, kSubmitMove, kResignGame, kAbortGame, kWatchGame, kListVariants,
};
inline constexpr int kMethods = 9;
std::string_view MethodName(Method method);

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // gRPC calls, under the names that dashboards for gRPC know. `code` is a gRPC status code.
  void CallStarted(Method method);
  void CallHandled(Method method, int code, absl::Duration duration);
  void MessageReceived(Method method);
  void MessageSent(Method method);
  void Refused(Method method, Reason reason);

  void GameCreated(Variant variant, int players);
  void GameFinished(Variant variant, EndReason reason, int plies, absl::Duration age);
  void GameDropped();
  void MoveAccepted(Variant variant);
  void RetryAnswered(Method method);
  void WatchOpened();
  void WatchClosed();
  void Draining();

  // The text that /metrics serves.
  std::string Text() const;
  const std::shared_ptr<prometheus::Registry>& registry() const { return registry_; }

 private:
  static constexpr size_t kCodes = 17;
  static constexpr size_t kVariants = 4;
  static constexpr size_t kEndReasons = 5;
  struct OfMethod {
    prometheus::Counter* started;
    prometheus::Counter* received;
    prometheus::Counter* sent;
    prometheus::Counter* retries;
    prometheus::Histogram* seconds;
    std::array<prometheus::Counter*, kCodes> handled;
    std::array<prometheus::Counter*, kReasons> refused;
  };
  struct OfVariant {
    std::array<prometheus::Counter*, kMaxPlayers + 1> created;
    std::array<prometheus::Counter*, kEndReasons> finished;
    prometheus::Gauge* active;
    prometheus::Counter* moves;
    prometheus::Histogram* plies;
    prometheus::Histogram* seconds;
  };
  void AddCalls();
  void AddGames();

  std::shared_ptr<prometheus::Registry> registry_;
  std::array<OfMethod, kMethods> methods_;
  std::array<OfVariant, kVariants> variants_;
  prometheus::Counter* dropped_;
  prometheus::Gauge* watchers_;
  prometheus::Gauge* draining_;
};

// Serves /metrics over HTTP while it lives.
class MetricsServer {
 public:
  // Returns what is wrong when the address cannot be listened on.
  static std::variant<std::unique_ptr<MetricsServer>, std::string> Start(const std::string& address,
                                                                         const Metrics& metrics);
  ~MetricsServer();
  int port() const;

 private:
  MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::string host);
  std::unique_ptr<prometheus::Exposer> exposer_;
  const std::string host_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_METRICS_H_
