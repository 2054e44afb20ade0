// Everything that is counted, by verb. Names, help texts, units, labels and buckets stand in metrics.cc alone. All
// series exist from the start at zero, and their number does not depend on games, watchers or callers. Passed by
// reference, one per server. All methods may be called from any thread.
#ifndef REVERSI_SERVICE_METRICS_H_
#define REVERSI_SERVICE_METRICS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "absl/time/time.h"
#include "engine/rules.h"
#include "service/errors.h"
#include "service/store.h"
#include "service/table.h"

namespace prometheus {
class Collectable;
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
  void RetryAnswered(Method method);

  // Games that have not ended, as this replica knows them: made here, or learnt of from the store.
  void GameAdded(Variant variant, int players);
  void GameEnded(Variant variant, int players);
  // What this replica did itself.
  void GameCreated(Variant variant, int players);
  void GameFinished(Variant variant, int players, EndReason reason, int plies, absl::Duration age);
  void GameEvicted();
  // Games that are held in memory now, finished ones included.
  void GamesHeld(uint64_t games);

  // A move that was played by its seat, or for it when its time was over. Not for a retry that is answered again.
  void MoveAccepted(Variant variant, bool on_timeout);
  // nullopt = the call named no game that is here.
  void MoveRefused(std::optional<Variant> variant, Reason reason);

  void WatchOpened();
  void WatchClosed();
  void EventSent();
  // From the commit of an event until gRPC had taken it for a watcher that was up to date before.
  void WatchLag(absl::Duration lag);

  // Whether the store's last call came through.
  void StoreReachable(bool reachable);
  void PutEnded(PutOutcome outcome, absl::Duration duration);
  void Draining();

  // What alerts compare with; once, at the start.
  struct Limits {
    uint64_t games;
    uint64_t watchers;
  };
  void SetLimits(const Limits& limits);

  // The text that /metrics serves.
  std::string Text() const;

 private:
  friend class MetricsServer;
  static constexpr size_t kCodes = 17;
  static constexpr size_t kVariants = 4;
  static constexpr size_t kEndReasons = 5;
  static constexpr size_t kPutOutcomes = 3;
  struct OfMethod {
    prometheus::Counter* started;
    prometheus::Counter* received;
    prometheus::Counter* sent;
    prometheus::Counter* retries;
    prometheus::Histogram* seconds;
    std::array<prometheus::Counter*, kCodes> handled;
    std::array<prometheus::Counter*, kReasons> refused;
  };
  // Null where a variant has no such number of players.
  struct OfPlayers {
    prometheus::Counter* created = nullptr;
    prometheus::Gauge* active = nullptr;
    std::array<prometheus::Counter*, kEndReasons> finished = {};
  };
  struct OfVariant {
    std::array<OfPlayers, kMaxPlayers + 1> players;
    prometheus::Counter* accepted;
    prometheus::Counter* on_timeout;
    prometheus::Histogram* plies;
    prometheus::Histogram* seconds;
  };
  // Null for reasons that a move is never refused for.
  using RefusedMoves = std::array<prometheus::Counter*, kReasons>;

  void AddCalls();
  void AddRefusals();
  void AddGames();
  void AddMoves();
  void AddWatches();
  void AddStore();
  void AddServer();

  const std::shared_ptr<prometheus::Registry> registry_;
  const std::shared_ptr<prometheus::Collectable> process_;
  std::array<OfMethod, kMethods> methods_;
  std::array<OfVariant, kVariants> variants_;
  std::array<RefusedMoves, kVariants + 1> refused_moves_ = {};  // the last: of no game
  prometheus::Counter* tokens_refused_;
  prometheus::Counter* evicted_;
  prometheus::Gauge* held_;
  prometheus::Gauge* games_limit_;
  prometheus::Gauge* watchers_;
  prometheus::Gauge* watchers_limit_;
  prometheus::Counter* events_;
  prometheus::Histogram* lag_;
  std::array<prometheus::Counter*, kPutOutcomes> puts_;
  prometheus::Histogram* put_seconds_;
  prometheus::Gauge* draining_;
  prometheus::Gauge* store_reachable_;
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
