#include "tests/load/generator.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "tests/load/follower.h"
#include "tests/load/player.h"
#include "tests/load/process.h"

namespace reversi::load {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
// The completion queue keeps time in milliseconds: what is due sooner is waited for without sleeping.
constexpr int64_t kSleepless = 2'000'000;
constexpr std::chrono::seconds kConnectPatience{10};
// How many watches are opened at a time.
constexpr size_t kOpening = 256;
// Moves before a fan-out is measured.
constexpr int kFanOutWarmUp = 2;

int64_t Nanoseconds(double seconds) { return static_cast<int64_t>(seconds * static_cast<double>(kSecond)); }

}  // namespace

Generator::Generator(const Options& options) : options_(options) {}

Generator::~Generator() {
  queue_.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
  }
}

Report Generator::Run() {
  Connect();
  if (options_.bare) tape_ = std::make_unique<Tape>(options_.kinds.front(), options_.seed);
  Report report;
  report.resident_before = ResidentBytes(options_.server_pid);
  Prepare();
  report.games_made = static_cast<uint64_t>(options_.games - games_to_make_);
  report.resident_games = ResidentBytes(options_.server_pid);
  if (options_.workload == Workload::kFanOut) PrepareFanOut();

  phase_ = Phase::kRunning;
  next_due_ = Now();
  Unpark();
  const bool warms_up = options_.workload != Workload::kHold && options_.workload != Workload::kFanOut;
  if (warms_up) Loop(Now() + Nanoseconds(options_.warm_up));
  tally_.methods.clear();
  const int64_t begun = Now();
  const int64_t server_begun = CpuTime(options_.server_pid);
  const int64_t own_begun = CpuTime(0);
  if (options_.workload == Workload::kHold) {
    Hold();
  } else {
    Loop(begun + Nanoseconds(options_.seconds));
  }
  report.seconds = static_cast<double>(Now() - begun) / static_cast<double>(kSecond);
  if (options_.server_pid != 0) report.server_cpu = CpuTime(options_.server_pid) - server_begun;
  report.generator_cpu = CpuTime(0) - own_begun;
  report.tally = tally_;
  report.watchers = followers_;
  report.resident_after = ResidentBytes(options_.server_pid);
  Stop();
  report.tally.faults = tally_.faults;
  report.tally.fault_texts = tally_.fault_texts;
  return report;
}

void Generator::Connect() {
  for (int i = 0; i < options_.connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    // What a load costs its generator is taken from the server on the same cores.
    arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
    arguments.SetInt(GRPC_ARG_MINIMAL_STACK, 1);
    Connection connection;
    connection.channel = grpc::CreateCustomChannel(options_.address, grpc::InsecureChannelCredentials(), arguments);
    if (!connection.channel->WaitForConnected(std::chrono::system_clock::now() + kConnectPatience)) {
      throw std::runtime_error("no server answers at " + options_.address);
    }
    connection.games = v1::GameService::NewStub(connection.channel);
    connection.bare = bare::v1::Bare::NewStub(connection.channel);
    connection.generic = std::make_unique<grpc::GenericStub>(connection.channel);
    connections_.push_back(std::move(connection));
  }
  for (int i = 0; i < options_.connections * options_.in_flight; ++i) {
    players_.push_back(std::make_unique<Player>(*this, NextConnection()));
    parked_.push_back(players_.back().get());
  }
}

void Generator::Prepare() {
  switch (options_.workload) {
    case Workload::kPlay:
    case Workload::kCreate:
      return;
    case Workload::kFanOut:
      games_to_make_ = 1;
      break;
    case Workload::kMoves:
    case Workload::kCatchUp:
    case Workload::kHold:
      games_to_make_ = options_.games;
      break;
  }
  // Against the twin nothing has to be there beforehand but the mirrors of games.
  Unpark();
  Loop(INT64_MAX);
}

void Generator::PrepareFanOut() {
  const std::shared_ptr<LoadGame> game = games_.front();
  for (int i = 0; i < options_.watchers; ++i) Watch(game, game->version());
  while (opened_ < static_cast<size_t>(options_.watchers)) Await(INT64_MAX);
  phase_ = Phase::kRunning;
  Unpark();
  // The window begins when the first moves are through.
  while (game->ply() < kFanOutWarmUp || !all_delivered()) {
    Dispatch();
    Await(Now() + kSecond);
  }
}

void Generator::Hold() {
  for (int i = 0; i < options_.watchers; ++i) {
    const auto& game = held_[static_cast<size_t>(i) % held_.size()];
    Watch(game, game->version());
    while (followers_ - std::min(opened_, followers_) >= kOpening) Await(INT64_MAX);
  }
  while (opened_ < static_cast<size_t>(options_.watchers)) Await(INT64_MAX);
}

void Generator::Stop() {
  phase_ = Phase::kStopping;
  for (Follower* follower : open_) follower->Cancel();
  while (busy_ + followers_ > 0) Await(INT64_MAX);
}

void Generator::Loop(int64_t until) {
  while (Now() < until) {
    if (options_.workload == Workload::kCatchUp && phase_ == Phase::kRunning) CatchUp();
    Dispatch();
    const bool paced = options_.rate > 0 && phase_ == Phase::kRunning;
    if (busy_ + followers_ == 0 && !(paced && !free_.empty())) return;
    if (options_.workload == Workload::kFanOut && phase_ == Phase::kRunning && busy_ == 0 && all_delivered()) return;
    Await(paced ? std::min(until, next_due_) : until);
  }
}

// Gives those who are free something to do.
void Generator::Dispatch() {
  const bool paced = options_.rate > 0 && phase_ == Phase::kRunning;
  while (!free_.empty()) {
    const int64_t now = Now();
    if (paced && next_due_ > now) return;
    Player* player = free_.front();
    free_.pop_front();
    if (player->Next(paced ? next_due_ : now)) {
      ++busy_;
      if (paced) next_due_ += Nanoseconds(1 / options_.rate);
    } else {
      parked_.push_back(player);
    }
  }
}

// Waits for one tag, not beyond that time, and takes it.
void Generator::Await(int64_t until) {
  const int64_t left = until - Now();
  void* tag = nullptr;
  bool ok = false;
  grpc::CompletionQueue::NextStatus got;
  if (until == INT64_MAX) {
    got = queue_.AsyncNext(&tag, &ok, gpr_inf_future(GPR_CLOCK_MONOTONIC));
  } else if (left < kSleepless) {
    got = queue_.AsyncNext(&tag, &ok, gpr_inf_past(GPR_CLOCK_MONOTONIC));
  } else {
    got = queue_.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + std::chrono::nanoseconds(left - kSleepless / 2));
  }
  if (got == grpc::CompletionQueue::GOT_EVENT) static_cast<Tag*>(tag)->Ready(ok);
}

void Generator::Unpark() {
  free_.insert(free_.end(), parked_.begin(), parked_.end());
  parked_.clear();
}

void Generator::Free(Player* player) {
  --busy_;
  free_.push_back(player);
}

bool Generator::TakeGameToMake() {
  if (games_to_make_ == 0) return false;
  --games_to_make_;
  return true;
}

std::shared_ptr<LoadGame> Generator::TakeGame() {
  if (games_.empty()) return nullptr;
  std::shared_ptr<LoadGame> game = std::move(games_.front());
  games_.pop_front();
  return game;
}

void Generator::PutGame(std::shared_ptr<LoadGame> game) {
  const bool making = phase_ == Phase::kPreparing;
  if (options_.workload == Workload::kCatchUp) {
    held_.push_back(std::move(game));
  } else if (options_.workload == Workload::kHold) {
    // A million mirrors would be larger than the server: as many as are watched.
    if (held_.size() < static_cast<size_t>(options_.watchers)) held_.push_back(std::move(game));
  } else if (making || !game->over()) {
    games_.push_back(std::move(game));
    if (!making) Unpark();
  }
}

void Generator::Watch(std::shared_ptr<LoadGame> game, uint64_t after_version) {
  ++followers_;
  open_.insert(new Follower(*this, NextConnection(), std::move(game), after_version));
}

// As many watches over whole games as there may be calls in flight.
void Generator::CatchUp() {
  while (followers_ < players_.size() && !held_.empty()) Watch(held_[watched_++ % held_.size()], 0);
}

void Generator::Delivered(const LoadGame& game, uint64_t version) {
  const int64_t sent = options_.workload == Workload::kCatchUp ? 0 : game.sent(version);
  const int64_t latency = sent == 0 ? 0 : Now() - sent;
  tally_.methods["delivery"].latency.Add(latency);
  if (options_.workload != Workload::kFanOut || --deliveries_due_ > 0) return;
  tally_.methods["last delivery"].latency.Add(latency);
  Unpark();
}

void Generator::Gone(Follower* follower, const grpc::Status& status) {
  --followers_;
  if (phase_ != Phase::kStopping) {
    OfMethod& of = tally_.methods["WatchGame"];
    of.latency.Add(Now() - follower->begun());
    if (!status.ok()) ++of.errors[ReasonOf(status)];
    if (status.ok() && follower->cursor() != follower->game().version()) tally_.Fault("WatchGame: ended too early");
  }
  open_.erase(follower);
  delete follower;
}

}  // namespace reversi::load
