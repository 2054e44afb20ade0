#include "service/metrics.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "service/version.h"

namespace reversi {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Histogram;
using Labels = prometheus::Labels;

// As the gRPC libraries of the Prometheus world spell the codes.
constexpr std::array<const char*, 17> kCodeNames = {
    "OK",           "Canceled",          "Unknown",            "InvalidArgument", "DeadlineExceeded", "NotFound",
    "AlreadyExists", "PermissionDenied", "ResourceExhausted",  "FailedPrecondition", "Aborted",       "OutOfRange",
    "Unimplemented", "Internal",         "Unavailable",        "DataLoss",        "Unauthenticated"};

const Histogram::BucketBoundaries kCallSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                  0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};
const Histogram::BucketBoundaries kPlies = {10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
const Histogram::BucketBoundaries kGameSeconds = {1, 10, 60, 300, 900, 3600, 14400, 86400, 604800};

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
    : registry_(std::make_shared<prometheus::Registry>(prometheus::Registry::InsertBehavior::Throw)) {
  AddCalls();
  AddGames();
  dropped_ = &BuildCounter()
                  .Name("reversi_games_dropped_total")
                  .Help("Games that left memory because their retention was over")
                  .Register(*registry_)
                  .Add({});
  watchers_ = &BuildGauge().Name("reversi_watchers").Help("Open watches").Register(*registry_).Add({});
  draining_ = &BuildGauge()
                   .Name("reversi_draining")
                   .Help("1 from the signal to stop on")
                   .Register(*registry_)
                   .Add({});
  BuildGauge()
      .Name("reversi_build_info")
      .Help("1; the version of the build is the label")
      .Register(*registry_)
      .Add({{"version", kVersion}})
      .Set(1);
}
Metrics::~Metrics() = default;

void Metrics::AddCalls() {
  auto& started = BuildCounter()
                      .Name("grpc_server_started_total")
                      .Help("Total number of RPCs started on the server.")
                      .Register(*registry_);
  auto& handled = BuildCounter()
                      .Name("grpc_server_handled_total")
                      .Help("Total number of RPCs completed on the server, regardless of success or failure.")
                      .Register(*registry_);
  auto& received = BuildCounter()
                       .Name("grpc_server_msg_received_total")
                       .Help("Total number of RPC stream messages received on the server.")
                       .Register(*registry_);
  auto& sent = BuildCounter()
                   .Name("grpc_server_msg_sent_total")
                   .Help("Total number of gRPC stream messages sent by the server.")
                   .Register(*registry_);
  auto& seconds = BuildHistogram()
                      .Name("grpc_server_handling_seconds")
                      .Help("Response latency (seconds) of gRPC that had been application-level handled by the server.")
                      .Register(*registry_);
  auto& refused = BuildCounter()
                      .Name("reversi_refused_total")
                      .Help("Refused calls by the reason of their ErrorInfo")
                      .Register(*registry_);
  auto& retries = BuildCounter()
                      .Name("reversi_retries_answered_total")
                      .Help("Calls that were answered with what an earlier call had done")
                      .Register(*registry_);
  for (int i = 0; i < kMethods; ++i) {
    const Method method = static_cast<Method>(i);
    OfMethod& of = methods_[Index(method)];
    const std::string name(MethodName(method));
    const Labels labels = {{"grpc_type", method == Method::kWatchGame ? "server_stream" : "unary"},
                           {"grpc_service", "reversi.v1.GameService"},
                           {"grpc_method", name}};
    of.started = &started.Add(labels);
    of.received = &received.Add(labels);
    of.sent = &sent.Add(labels);
    of.seconds = &seconds.Add(labels, kCallSeconds);
    of.retries = &retries.Add({{"method", name}});
    for (size_t code = 0; code < kCodes; ++code) {
      Labels with_code = labels;
      with_code.emplace("grpc_code", kCodeNames[code]);
      of.handled[code] = &handled.Add(with_code);
    }
    for (int reason = 0; reason < kReasons; ++reason) {
      of.refused[static_cast<size_t>(reason)] =
          &refused.Add({{"method", name}, {"reason", std::string(ReasonName(static_cast<Reason>(reason)))}});
    }
  }
}

void Metrics::AddGames() {
  auto& created =
      BuildCounter().Name("reversi_games_created_total").Help("Games made").Register(*registry_);
  auto& finished = BuildCounter()
                       .Name("reversi_games_finished_total")
                       .Help("Games that ended, by the reason of the result")
                       .Register(*registry_);
  auto& active = BuildGauge()
                     .Name("reversi_games_active")
                     .Help("Games that have not ended, those that wait for players included")
                     .Register(*registry_);
  auto& moves =
      BuildCounter().Name("reversi_moves_total").Help("Moves accepted").Register(*registry_);
  auto& plies = BuildHistogram()
                    .Name("reversi_game_plies")
                    .Help("Moves of games played to their end")
                    .Register(*registry_);
  auto& seconds = BuildHistogram()
                      .Name("reversi_game_seconds")
                      .Help("Time from the creation to the end of games played to their end")
                      .Register(*registry_);
  for (const VariantSpec& spec : Variants()) {
    OfVariant& of = variants_[Index(spec.variant)];
    const Labels labels = {{"variant", std::string(spec.name)}};
    of.created.fill(nullptr);
    for (int players = spec.min_players; players <= spec.max_players; ++players) {
      Labels with_players = labels;
      with_players.emplace("players", absl::StrCat(players));
      of.created[static_cast<size_t>(players)] = &created.Add(with_players);
    }
    for (size_t reason = 0; reason < kEndReasons; ++reason) {
      Labels with_reason = labels;
      with_reason.emplace("reason", EndName(static_cast<EndReason>(reason)));
      of.finished[reason] = &finished.Add(with_reason);
    }
    of.active = &active.Add(labels);
    of.moves = &moves.Add(labels);
    of.plies = &plies.Add(labels, kPlies);
    of.seconds = &seconds.Add(labels, kGameSeconds);
  }
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
}
void Metrics::RetryAnswered(Method method) { methods_[Index(method)].retries->Increment(); }

void Metrics::GameCreated(Variant variant, int players) {
  variants_[Index(variant)].created[static_cast<size_t>(players)]->Increment();
  variants_[Index(variant)].active->Increment();
}

void Metrics::GameFinished(Variant variant, EndReason reason, int plies, absl::Duration age) {
  OfVariant& of = variants_[Index(variant)];
  of.finished[Index(reason)]->Increment();
  of.active->Decrement();
  if (reason != EndReason::kCompleted) return;
  of.plies->Observe(plies);
  of.seconds->Observe(absl::ToDoubleSeconds(age));
}

void Metrics::GameDropped() { dropped_->Increment(); }
void Metrics::MoveAccepted(Variant variant) { variants_[Index(variant)].moves->Increment(); }
void Metrics::WatchOpened() { watchers_->Increment(); }
void Metrics::WatchClosed() { watchers_->Decrement(); }
void Metrics::Draining() { draining_->Set(1); }

std::string Metrics::Text() const { return prometheus::TextSerializer().Serialize(registry_->Collect()); }

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
    auto exposer = std::make_unique<prometheus::Exposer>(address, 1);
    exposer->RegisterCollectable(metrics.registry());
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
