#include "service/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include <grpc/impl/codegen/grpc_types.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/client_context.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "grpc/health/v1/health.grpc.pb.h"
#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "service/access.h"
#include "service/clock.h"
#include "service/credentials.h"
#include "service/game_service.h"
#include "service/games.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/open_store.h"
#include "service/tokens.h"
#include "service/watch_stream.h"

namespace reversi {
namespace {

constexpr char kServiceName[] = "reversi.v1.GameService";
// How often the clock's work is looked at.
constexpr absl::Duration kTick = absl::Milliseconds(40);
constexpr absl::Duration kWatchTick = absl::Milliseconds(250);
// Both of gRPC's pollers doze off after a second of silence, and the next call waits up to 100 ms for them. An own
// call now and then keeps them awake (3 ms).
constexpr absl::Duration kWakeInterval = absl::Milliseconds(300);
// A full round over all games to find those whose retention is over.
constexpr absl::Duration kSlowestRound = absl::Seconds(64);
// How long a reader that takes nothing may hold up the stop before its stream is reset.
constexpr absl::Duration kStalledGrace = absl::Milliseconds(300);

std::string Taken(const std::string& address, const char* what) {
  return absl::StrCat("cannot listen on ", address, " for ", what, ": the port is taken or the address is not here");
}

// "HOST:PORT" with the port that was chosen.
std::string Chosen(const std::string& address, int port) {
  return absl::StrCat(address.substr(0, address.rfind(':') + 1), port);
}

int Milliseconds(absl::Duration duration) {
  const int64_t ms = absl::ToInt64Milliseconds(duration);
  return static_cast<int>(std::min<int64_t>(ms, std::numeric_limits<int>::max()));
}

void SetConnectionArguments(const Config& config, grpc::ServerBuilder& builder) {
  // On by default: a second server would take the same port silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  const auto set = [&](const char* name, absl::Duration value) {
    if (value != absl::ZeroDuration()) builder.AddChannelArgument(name, Milliseconds(value));
  };
  set(GRPC_ARG_KEEPALIVE_TIME_MS, config.keepalive_time);
  set(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, config.keepalive_timeout);
  set(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, config.keepalive_min_interval);
  set(GRPC_ARG_MAX_CONNECTION_AGE_MS, config.connection_age);
  set(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, config.connection_age_grace);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.SetMaxReceiveMessageSize(static_cast<int>(config.max_message_bytes));
  if (config.memory_quota_bytes != 0) {
    builder.SetResourceQuota(grpc::ResourceQuota("server").Resize(config.memory_quota_bytes));
  }
}

class RunningServer : public Server {
 public:
  RunningServer(const Config& config, const std::vector<std::string>& token_keys, std::unique_ptr<Store> store)
      : config_(config),
        tokens_(token_keys),
        access_(config.rate_limit, static_cast<double>(config.rate_burst)),
        store_(std::move(store)),
        games_(*store_, tokens_, clock_, metrics_,
               {config.keep_finished, config.keep_waiting, config.keep_idle}, {config.max_games, config.command_queue, config.store_wait}),
        watches_(config.max_watchers),
        service_(games_, watches_, tokens_, clock_, metrics_, access_, config.max_watchers_per_game) {
    metrics_.SetLimits({.games = config.max_games, .watchers = config.max_watchers});
  }

  ~RunningServer() override {
    if (grpc_ != nullptr) Stop(absl::ZeroDuration());
    // While there are games that it may complete something for.
    store_.reset();
  }

  // Takes over what the store holds: before this returns from a store of this process's own, else as soon as the
  // store can be reached.
  void Load() {
    if (config_.store != StoreKind::kMemory) games_.Load();
  }

  // Empty = all is well.
  std::string Listen() {
    auto metrics_server = MetricsServer::Start(config_.metrics_listen, metrics_);
    if (const auto* wrong = std::get_if<std::string>(&metrics_server)) return *wrong;
    metrics_server_ = std::get<std::unique_ptr<MetricsServer>>(std::move(metrics_server));

    auto credentials = MakeCredentials(config_);
    if (const auto* wrong = std::get_if<std::string>(&credentials)) return *wrong;
    grpc::EnableDefaultHealthCheckService(true);
    if (!config_.health_listen.empty()) {
      // Built before reflection is switched on: it serves health and nothing else.
      grpc::ServerBuilder health_builder;
      SetConnectionArguments(config_, health_builder);
      health_builder.AddListeningPort(config_.health_listen, grpc::InsecureServerCredentials(), &health_port_);
      health_ = health_builder.BuildAndStart();
      if (health_ == nullptr || health_port_ == 0) return Taken(config_.health_listen, "health");
    }
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    SetConnectionArguments(config_, builder);
    builder.AddListeningPort(
        config_.listen, std::get<std::shared_ptr<grpc::ServerCredentials>>(std::move(credentials)), &port_);
    builder.RegisterService(&service_);
    grpc_ = builder.BuildAndStart();
    if (grpc_ == nullptr || port_ == 0) {
      grpc_.reset();
      return Taken(config_.listen, "gRPC");
    }
    for (auto* health : Healths()) health->SetServingStatus("", true);
    ServeWhenLoaded();
    ticker_ = std::thread([this] { Tick(); });
    return {};
  }

  std::string grpc_address() const override { return Chosen(config_.listen, port_); }
  std::string metrics_address() const override { return Chosen(config_.metrics_listen, metrics_server_->port()); }
  std::string health_address() const override {
    return health_ == nullptr ? std::string() : Chosen(config_.health_listen, health_port_);
  }

  void Announce() override {
    metrics_.Draining();
    absl::MutexLock lock(&health_mu_);
    announced_ = true;
    for (auto* health : Healths()) {
      health->SetServingStatus("", false);
      health->SetServingStatus(kServiceName, false);
    }
  }

  void Stop(absl::Duration grace) override {
    const absl::Duration deadline = clock_.Steady() + grace;
    Announce();
    service_.Drain();
    games_.loading().Stop();
    // Readers that take nothing: their streams cannot end by themselves.
    std::thread cutter([this, grace] {
      const absl::Duration until = clock_.Steady() + std::min(grace, kStalledGrace);
      while (clock_.Steady() < until && watches_.count() > 0) absl::SleepFor(absl::Milliseconds(10));
      watches_.CutStalled();
    });
    StopTicker();
    grpc_->Shutdown(absl::ToChronoTime(absl::Now() + (deadline - clock_.Steady())));
    cutter.join();
    grpc_->Wait();
    grpc_.reset();
    if (health_ != nullptr) health_->Shutdown(absl::ToChronoTime(absl::Now()));
  }

 private:
  std::vector<grpc::HealthCheckServiceInterface*> Healths() const {
    std::vector<grpc::HealthCheckServiceInterface*> healths;
    for (grpc::Server* server : {grpc_.get(), health_.get()}) {
      if (server != nullptr) healths.push_back(server->GetHealthCheckService());
    }
    return healths;
  }

  // Once and for all: an outage of the store later on must not take every replica out of service.
  void ServeWhenLoaded() {
    absl::MutexLock lock(&health_mu_);
    if (announced_ || serving_) return;
    serving_ = games_.loading().done();
    for (auto* health : Healths()) health->SetServingStatus(kServiceName, serving_);
  }

  // The clock's work, on a thread of its own until the stop.
  void Tick() {
    const absl::Duration round = std::min({kSlowestRound, Shortest(config_.keep_finished),
                                           Shortest(config_.keep_waiting), Shortest(config_.keep_idle)});
    const absl::Duration sweep_every = std::max(round / Games::kSweepCalls, absl::Milliseconds(1));
    absl::Duration next_sweep = clock_.Steady();
    absl::Duration next_watch = next_sweep;
    absl::Duration next_wake = next_sweep;
    const auto health = grpc::health::v1::Health::NewStub(grpc_->InProcessChannel(grpc::ChannelArguments()));
    absl::MutexLock lock(&ticker_mu_);
    while (!ticker_mu_.AwaitWithTimeout(absl::Condition(&ticker_stops_), kTick)) {
      const absl::Duration now = clock_.Steady();
      metrics_.GamesHeld(games_.count());
      metrics_.StoreReachable(store_->reachable());
      ServeWhenLoaded();
      games_.RunDeadlines();
      for (; next_sweep <= now; next_sweep += sweep_every) games_.Sweep();
      if (now >= next_watch) {
        next_watch = now + kWatchTick;
        watches_.Tick(now, config_.watch_stall_limit,
                      [this](const Game& game) { return games_.Has(game.id()); });
      }
      if (now >= next_wake) {
        next_wake = now + kWakeInterval;
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
        grpc::health::v1::HealthCheckResponse response;
        health->Check(&context, {}, &response);  // whatever the answer: the call itself is the point
      }
    }
  }

  static absl::Duration Shortest(absl::Duration keep) {
    return keep == absl::ZeroDuration() ? absl::InfiniteDuration() : std::max(keep / 4, absl::Milliseconds(64));
  }

  void StopTicker() {
    {
      absl::MutexLock lock(&ticker_mu_);
      ticker_stops_ = true;
    }
    if (ticker_.joinable()) ticker_.join();
  }

  const Config config_;
  const SystemClock clock_;
  Metrics metrics_;
  Tokens tokens_;
  Access access_;
  std::unique_ptr<Store> store_;
  Games games_;
  Watches watches_;
  GameService service_;
  std::unique_ptr<MetricsServer> metrics_server_;
  std::unique_ptr<grpc::Server> grpc_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> health_;
  int health_port_ = 0;
  absl::Mutex health_mu_;
  bool serving_ ABSL_GUARDED_BY(health_mu_) = false;
  bool announced_ ABSL_GUARDED_BY(health_mu_) = false;
  std::thread ticker_;
  absl::Mutex ticker_mu_;
  bool ticker_stops_ ABSL_GUARDED_BY(ticker_mu_) = false;
};

}  // namespace

std::variant<std::unique_ptr<Server>, std::string> Server::Start(const Config& config,
                                                                 const std::vector<std::string>& token_keys) {
  if (config.store != StoreKind::kMemory && token_keys.empty()) {
    return "a store that keeps games needs a token key that is kept too: set --token_key_file";
  }
  auto store = OpenStore(config);
  if (auto* wrong = std::get_if<std::string>(&store)) return std::move(*wrong);
  auto server = std::make_unique<RunningServer>(
      config, token_keys.empty() ? std::vector<std::string>{RandomBytes(kMinKeyBytes)} : token_keys,
      std::get<std::unique_ptr<Store>>(std::move(store)));
  server->Load();
  std::string wrong = server->Listen();
  if (!wrong.empty()) return wrong;
  return server;
}

}  // namespace reversi
