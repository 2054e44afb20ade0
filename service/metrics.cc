#include "service/metrics.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include <CivetServer.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/process_usage.h"
#include "service/version.h"

// gperftools' allocator, where the program has it.
extern "C" void MallocExtension_MarkThreadIdle() __attribute__((weak));

namespace reversi {
namespace {

using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;

// As the gRPC libraries of the Prometheus world spell the codes, by number.
constexpr std::array<const char*, 17> kCodeNames = {
    "OK",           "Canceled",          "Unknown",            "InvalidArgument", "DeadlineExceeded", "NotFound",
    "AlreadyExists", "PermissionDenied", "ResourceExhausted",  "FailedPrecondition", "Aborted",       "OutOfRange",
    "Unimplemented", "Internal",         "Unavailable",        "DataLoss",        "Unauthenticated"};

const Histogram::BucketBoundaries kCallSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                  0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};
const Histogram::BucketBoundaries kPlies = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
const Histogram::BucketBoundaries kGameSeconds = {1, 10, 60, 300, 900, 3600, 14400, 86400, 604800};
const Histogram::BucketBoundaries kLagSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                 0.25,  0.5,    1,     2.5,  5,     10,   60};
const Histogram::BucketBoundaries kPutSeconds = {0.00001, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                 0.025,   0.05,   0.1,     0.25,   0.5,   1,      2.5,   5};

// What SubmitMove can be refused for.
constexpr Reason kMoveRefusals[] = {
    Reason::kRateLimited, Reason::kMalformedRequest, Reason::kBadSquare,   Reason::kGameNotFound,
    Reason::kBadToken,    Reason::kGameOver,         Reason::kStaleVersion, Reason::kGameNotStarted,
    Reason::kNotYourTurn, Reason::kIllegalMove,      Reason::kStoreUnavailable};

std::string_view EndName(EndReason reason) {
  switch (reason) {
    case EndReason::kCompleted: return "completed";
    case EndReason::kResignation: return "resignation";
    case EndReason::kTimeout: return "timeout";
    case EndReason::kAborted: return "aborted";
    case EndReason::kExpired: return "expired";
  }
  return "unknown";
}

// Scrapes go to all threads by turns, and each would keep what one scrape has freed, near a megabyte, for its next one.
void GiveBackMemory(const mg_connection*, int) {
  if (MallocExtension_MarkThreadIdle != nullptr) MallocExtension_MarkThreadIdle();
}

// Connects to the port and hangs up, without waiting for anything.
void Knock(const std::string& host, int port) {
  addrinfo hints = {};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const bool bracketed = absl::StartsWith(host, "[");
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  if (getaddrinfo(name.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return;
  const int file = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (file >= 0) {
    connect(file, found->ai_addr, found->ai_addrlen);
    close(file);
  }
  freeaddrinfo(found);
}

template <typename Enum>
size_t Index(Enum value) {
  return static_cast<size_t>(value);
}

prometheus::Family<prometheus::Counter>& Counters(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}
prometheus::Family<prometheus::Gauge>& Gauges(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}
prometheus::Family<Histogram>& Histograms(Registry& registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

Labels With(Labels labels, const std::string& name, std::string_view value) {
  labels.emplace(name, value);
  return labels;
}

// What the process takes, read when somebody asks.
class Process : public prometheus::Collectable {
 public:
  std::vector<prometheus::MetricFamily> Collect() const override {
    const ProcessUsage usage = ReadProcessUsage();
    const auto count = [](uint64_t value) { return static_cast<double>(value); };
    return {
        Family("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", usage.cpu_seconds,
               prometheus::MetricType::Counter),
        Family("process_resident_memory_bytes", "Resident memory size in bytes.", count(usage.resident_bytes)),
        Family("process_virtual_memory_bytes", "Virtual memory size in bytes.", count(usage.virtual_bytes)),
        Family("process_open_fds", "Number of open file descriptors.", count(usage.open_fds)),
        Family("process_max_fds", "Maximum number of open file descriptors.", count(usage.max_fds)),
        Family("process_threads", "Number of threads.", count(usage.threads)),
        Family("process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
               usage.start_seconds),
    };
  }

 private:
  static prometheus::MetricFamily Family(std::string name, std::string help, double value,
                                         prometheus::MetricType type = prometheus::MetricType::Gauge) {
    prometheus::ClientMetric metric;
    (type == prometheus::MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    return {std::move(name), std::move(help), type, {std::move(metric)}};
  }
};

}  // namespace

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kCreateGame: return "CreateGame";
    case Method::kJoinGame: return "JoinGame";
    case Method::kGetGame: return "GetGame";
    case Method::kListGames: return "ListGames";
    case Method::kSubmitMove: return "SubmitMove";
    case Method::kResignGame: return "ResignGame";
    case Method::kAbortGame: return "AbortGame";
    case Method::kWatchGame: return "WatchGame";
    case Method::kListVariants: return "ListVariants";
  }
  return "unknown";
}

Metrics::Metrics()
    : registry_(std::make_shared<Registry>(Registry::InsertBehavior::Throw)), process_(std::make_shared<Process>()) {
  AddCalls();
  AddRefusals();
  AddGames();
  AddMoves();
  AddWatches();
  AddStore();
  AddServer();
}
Metrics::~Metrics() = default;

void Metrics::AddCalls() {
  auto& started =
      Counters(*registry_, "grpc_server_started_total", "Total number of RPCs started on the server.");
  auto& handled = Counters(*registry_, "grpc_server_handled_total",
                           "Total number of RPCs completed on the server, regardless of success or failure.");
  auto& received = Counters(*registry_, "grpc_server_msg_received_total",
                            "Total number of RPC stream messages received on the server.");
  auto& sent = Counters(*registry_, "grpc_server_msg_sent_total",
                        "Total number of gRPC stream messages sent by the server.");
  auto& seconds =
      Histograms(*registry_, "grpc_server_handling_seconds",
                 "Response latency (seconds) of gRPC that had been application-level handled by the server.");
  for (int i = 0; i < kMethods; ++i) {
    const Method method = static_cast<Method>(i);
    OfMethod& of = methods_[Index(method)];
    const Labels labels = {{"grpc_type", method == Method::kWatchGame ? "server_stream" : "unary"},
                           {"grpc_service", "reversi.v1.GameService"},
                           {"grpc_method", std::string(MethodName(method))}};
    of.started = &started.Add(labels);
    of.received = &received.Add(labels);
    of.sent = &sent.Add(labels);
    of.seconds = &seconds.Add(labels, kCallSeconds);
    for (size_t code = 0; code < kCodes; ++code) {
      of.handled[code] = &handled.Add(With(labels, "grpc_code", kCodeNames[code]));
    }
  }
}

void Metrics::AddRefusals() {
  auto& refused = Counters(*registry_, "reversi_refused_total", "Refused calls, by the reason in their ErrorInfo.");
  auto& retries = Counters(*registry_, "reversi_retries_answered_total",
                           "Calls that were answered with what an earlier call had done.");
  for (int i = 0; i < kMethods; ++i) {
    OfMethod& of = methods_[static_cast<size_t>(i)];
    const Labels labels = {{"method", std::string(MethodName(static_cast<Method>(i)))}};
    of.retries = &retries.Add(labels);
    for (int reason = 0; reason < kReasons; ++reason) {
      of.refused[static_cast<size_t>(reason)] =
          &refused.Add(With(labels, "reason", ReasonName(static_cast<Reason>(reason))));
    }
  }
  tokens_refused_ =
      &Counters(*registry_, "reversi_tokens_refused_total", "Calls with a token that is none of the game's.").Add({});
}

void Metrics::AddGames() {
  auto& created = Counters(*registry_, "reversi_games_created_total", "Games made.");
  auto& finished =
      Counters(*registry_, "reversi_games_finished_total", "Games that ended, by the reason of the result.");
  auto& active = Gauges(*registry_, "reversi_games_active",
                        "Games that have not ended, those that wait for players included, as this replica knows them: "
                        "replicas on one store all know all.");
  auto& plies = Histograms(*registry_, "reversi_game_plies", "Moves in games that were played to their end.");
  auto& seconds = Histograms(*registry_, "reversi_game_duration_seconds",
                             "Time from the creation to the end of games that were played to their end.");
  for (const VariantSpec& spec : Variants()) {
    OfVariant& of = variants_[Index(spec.variant)];
    const Labels variant = {{"variant", std::string(spec.name)}};
    of.plies = &plies.Add(variant, kPlies);
    of.seconds = &seconds.Add(variant, kGameSeconds);
    for (int players = spec.min_players; players <= spec.max_players; ++players) {
      OfPlayers& with = of.players[static_cast<size_t>(players)];
      const Labels labels = With(variant, "players", absl::StrCat(players));
      with.created = &created.Add(labels);
      with.active = &active.Add(labels);
      for (size_t reason = 0; reason < kEndReasons; ++reason) {
        with.finished[reason] = &finished.Add(With(labels, "reason", EndName(static_cast<EndReason>(reason))));
      }
    }
  }
  held_ = &Gauges(*registry_, "reversi_games_held", "Games in memory, finished ones that are still kept included.")
               .Add({});
  games_limit_ = &Gauges(*registry_, "reversi_games_limit", "Games that may be held: --max_games.").Add({});
  evicted_ = &Counters(*registry_, "reversi_games_evicted_total", "Games given up because their retention was over.")
                  .Add({});
}

void Metrics::AddMoves() {
  auto& moves = Counters(*registry_, "reversi_moves_total",
                         "Moves by outcome: accepted, on_timeout (made for a seat whose time was over), or the reason "
                         "of the refusal; the variant is unknown where the call named no game.");
  const auto add_refusals = [&](RefusedMoves& refused, std::string_view variant) {
    for (const Reason reason : kMoveRefusals) {
      refused[Index(reason)] =
          &moves.Add({{"variant", std::string(variant)}, {"outcome", std::string(ReasonName(reason))}});
    }
  };
  for (const VariantSpec& spec : Variants()) {
    OfVariant& of = variants_[Index(spec.variant)];
    const Labels variant = {{"variant", std::string(spec.name)}};
    of.accepted = &moves.Add(With(variant, "outcome", "accepted"));
    of.on_timeout = &moves.Add(With(variant, "outcome", "on_timeout"));
    add_refusals(refused_moves_[Index(spec.variant)], spec.name);
  }
  add_refusals(refused_moves_.back(), "unknown");
}

void Metrics::AddWatches() {
  watchers_ = &Gauges(*registry_, "reversi_watchers", "Open watches.").Add({});
  watchers_limit_ =
      &Gauges(*registry_, "reversi_watchers_limit", "Watches that may be open: --max_watchers.").Add({});
  events_ = &Counters(*registry_, "reversi_events_sent_total",
                      "Events sent to watchers; snapshots and heartbeats are none.")
                 .Add({});
  lag_ = &Histograms(*registry_, "reversi_watch_lag_seconds",
                     "Time from the commit of an event until gRPC had taken it for a watcher that was up to date.")
              .Add({}, kLagSeconds);
}

void Metrics::AddStore() {
  auto& puts = Counters(*registry_, "reversi_store_puts_total",
                        "Puts into the store by outcome: done, conflict (another version stood there), unknown (it may "
                        "have landed).");
  const auto add = [&](PutOutcome outcome, const char* name) {
    puts_[Index(outcome)] = &puts.Add({{"outcome", name}});
  };
  add(PutOutcome::kDone, "done");
  add(PutOutcome::kConflict, "conflict");
  add(PutOutcome::kUnknown, "unknown");
  put_seconds_ = &Histograms(*registry_, "reversi_store_put_seconds", "Time that a put into the store took.")
                      .Add({}, kPutSeconds);
}

void Metrics::AddServer() {
  store_reachable_ =
      &Gauges(*registry_, "reversi_store_reachable", "1 while the store's calls come through, else 0.").Add({});
  store_reachable_->Set(1);
  draining_ = &Gauges(*registry_, "reversi_draining", "1 from the signal to stop on, else 0.").Add({});
  Gauges(*registry_, "reversi_build_info", "1; the label says which build this is.")
      .Add({{"version", kVersion}})
      .Set(1);
  Gauges(*registry_, "reversi_memory_limit_bytes",
         "Memory that the process may take: its control group's limit, or else the machine's memory.")
      .Add({})
      .Set(static_cast<double>(ReadMemoryLimit()));
}

void Metrics::CallStarted(Method method) { methods_[Index(method)].started->Increment(); }

void Metrics::CallHandled(Method method, int code, absl::Duration duration) {
  OfMethod& of = methods_[Index(method)];
  if (code >= 0 && code < static_cast<int>(kCodes)) of.handled[static_cast<size_t>(code)]->Increment();
  of.seconds->Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::MessageReceived(Method method) { methods_[Index(method)].received->Increment(); }
void Metrics::MessageSent(Method method) { methods_[Index(method)].sent->Increment(); }
void Metrics::Refused(Method method, Reason reason) {
  methods_[Index(method)].refused[Index(reason)]->Increment();
  if (reason == Reason::kBadToken) tokens_refused_->Increment();
}
void Metrics::RetryAnswered(Method method) { methods_[Index(method)].retries->Increment(); }

void Metrics::GameAdded(Variant variant, int players) {
  variants_[Index(variant)].players[static_cast<size_t>(players)].active->Increment();
}
void Metrics::GameEnded(Variant variant, int players) {
  variants_[Index(variant)].players[static_cast<size_t>(players)].active->Decrement();
}
void Metrics::GameCreated(Variant variant, int players) {
  variants_[Index(variant)].players[static_cast<size_t>(players)].created->Increment();
}

void Metrics::GameFinished(Variant variant, int players, EndReason reason, int plies, absl::Duration age) {
  OfVariant& of = variants_[Index(variant)];
  of.players[static_cast<size_t>(players)].finished[Index(reason)]->Increment();
  if (reason != EndReason::kCompleted) return;
  of.plies->Observe(plies);
  of.seconds->Observe(absl::ToDoubleSeconds(age));
}

void Metrics::GameEvicted() { evicted_->Increment(); }
void Metrics::GamesHeld(uint64_t games) { held_->Set(static_cast<double>(games)); }

void Metrics::MoveAccepted(Variant variant, bool on_timeout) {
  OfVariant& of = variants_[Index(variant)];
  (on_timeout ? of.on_timeout : of.accepted)->Increment();
}

void Metrics::MoveRefused(std::optional<Variant> variant, Reason reason) {
  RefusedMoves& of = variant.has_value() ? refused_moves_[Index(*variant)] : refused_moves_.back();
  if (of[Index(reason)] != nullptr) of[Index(reason)]->Increment();
}

void Metrics::WatchOpened() { watchers_->Increment(); }
void Metrics::WatchClosed() { watchers_->Decrement(); }
void Metrics::EventSent() { events_->Increment(); }
void Metrics::WatchLag(absl::Duration lag) { lag_->Observe(absl::ToDoubleSeconds(lag)); }

void Metrics::PutEnded(PutOutcome outcome, absl::Duration duration) {
  puts_[Index(outcome)]->Increment();
  put_seconds_->Observe(absl::ToDoubleSeconds(duration));
}

void Metrics::StoreReachable(bool reachable) { store_reachable_->Set(reachable ? 1 : 0); }
void Metrics::Draining() { draining_->Set(1); }

void Metrics::SetLimits(const Limits& limits) {
  games_limit_->Set(static_cast<double>(limits.games));
  watchers_limit_->Set(static_cast<double>(limits.watchers));
}

std::string Metrics::Text() const {
  auto families = registry_->Collect();
  for (auto& family : process_->Collect()) families.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(families);
}

MetricsServer::MetricsServer(std::unique_ptr<prometheus::Exposer> exposer, std::string host)
    : exposer_(std::move(exposer)), host_(std::move(host)) {}

MetricsServer::~MetricsServer() {
  // civetweb looks only every two seconds whether it should stop, or when somebody connects.
  std::atomic<bool> closed = false;
  std::thread knocker([&closed, host = host_, port = port()] {
    while (!closed.load()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      Knock(host, port);
    }
  });
  exposer_.reset();
  closed.store(true);
  knocker.join();
}

std::variant<std::unique_ptr<MetricsServer>, std::string> MetricsServer::Start(const std::string& address,
                                                                               const Metrics& metrics) {
  try {
    CivetCallbacks callbacks;
    callbacks.end_request = GiveBackMemory;
    // A connection holds its thread until it has asked: more threads than connections that never ask, and a short
    // patience with those, so that they do not keep scrapers out.
    auto exposer = std::make_unique<prometheus::Exposer>(
        std::vector<std::string>{"listening_ports", address, "num_threads", "64", "request_timeout_ms", "2000"},
        &callbacks);
    exposer->RegisterCollectable(metrics.registry_);
    exposer->RegisterCollectable(metrics.process_);
    std::string host = address.substr(0, address.rfind(':'));
    return std::unique_ptr<MetricsServer>(new MetricsServer(std::move(exposer), std::move(host)));
  } catch (const std::exception&) {
    return absl::StrCat("cannot listen on ", address, " for metrics: the port is taken or the address is not here");
  }
}

int MetricsServer::port() const {
  const std::vector<int> ports = exposer_->GetListeningPorts();
  return ports.empty() ? 0 : ports.front();
}

}  // namespace reversi
