#include "tests/stores/witness.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tests/e2e/watch_promises.h"

namespace reversi::stores {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenMoves{3};
constexpr std::chrono::milliseconds kBetweenTries{5};

// By version: acknowledged events that a record does not tell, or tells otherwise.
std::vector<std::string> Differences(const std::vector<v1::GameEvent>& acknowledged, const e2e::WatchRecord& record) {
  std::vector<std::string> differences;
  for (const v1::GameEvent& event : acknowledged) {
    // The watch is from 0: version 1 comes first.
    const size_t at = event.version() - 1;
    const bool same = at < record.messages.size() && e2e::Same(record.messages[at].event(), event);
    if (!same) differences.push_back("acknowledged and not there: " + event.ShortDebugString());
  }
  return differences;
}

uint64_t LastSeen(const e2e::WatchRecord& record) {
  uint64_t seen = 0;
  for (const auto& message : record.messages) seen = std::max(seen, message.event().version());
  return seen;
}

}  // namespace

Witness::Witness(const std::string& address, uint64_t seed, Connection connection, std::chrono::milliseconds patience)
    : address_(address),
      seed_(seed),
      connection_(connection),
      patience_(patience),
      caller_(address),
      chance_(seed) {
  thread_ = std::thread([this] { Run(); });
}

Witness::~Witness() {
  if (thread_.joinable()) Finish();
}

uint64_t Witness::moves() const {
  absl::MutexLock lock(&mu_);
  return moves_;
}

uint64_t Witness::unavailable() const {
  absl::MutexLock lock(&mu_);
  return unavailable_;
}

std::vector<std::string> Witness::games() const {
  absl::MutexLock lock(&mu_);
  std::vector<std::string> ids;
  for (const Played& played : played_) ids.push_back(played.id);
  return ids;
}

bool Witness::Await(const uint64_t& count, uint64_t wanted) const {
  const auto come = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return count >= wanted || !faults_.empty(); };
  mu_.AwaitWithTimeout(absl::Condition(&come), absl::FromChrono(patience_));
  return count >= wanted;
}

bool Witness::AwaitMoves(uint64_t moves) const {
  absl::MutexLock lock(&mu_);
  return Await(moves_, moves);
}

bool Witness::AwaitUnavailable(uint64_t answers) const {
  absl::MutexLock lock(&mu_);
  return Await(unavailable_, answers);
}

bool Witness::Stopping() const {
  absl::MutexLock lock(&mu_);
  return stopping_ || !faults_.empty();
}

void Witness::Fault(const std::string& what) {
  absl::MutexLock lock(&mu_);
  faults_.push_back("witness of " + game_.id + ": " + what);
}

void Witness::Run() {
  while (!Stopping()) {
    const bool over = position_.legal_moves_size() == 0;
    if (over && watcher_ != nullptr) EndWatch();
    if (over && !Create()) return;
    Resume();
    if (!Move()) return;
    std::this_thread::sleep_for(kBetweenMoves);
  }
}

bool Witness::MayTryAgain(const grpc::Status& status, const std::string& reason) {
  // CANCELLED is what a server answers as it dies.
  const bool cut = reason.empty() && connection_ == Connection::kBreaks &&
                   (status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                    status.error_code() == grpc::StatusCode::CANCELLED);
  if (!cut && reason != "STORE_UNAVAILABLE") {
    Fault("was answered " + e2e::Describe(status));
    return false;
  }
  absl::MutexLock lock(&mu_);
  if (!cut) ++unavailable_;
  return true;
}

template <class Request, class Response>
bool Witness::Send(const Request& request, Response* response) {
  for (const auto give_up = Clock::now() + patience_; Clock::now() < give_up;) {
    auto answer = caller_.Call(request);
    if (answer.ok()) {
      *response = std::move(answer.response);
      return true;
    }
    if (!MayTryAgain(answer.status, answer.error.reason)) return false;
    std::this_thread::sleep_for(kBetweenTries);
  }
  Fault("a call was not accepted for as long as patience lasts");
  return false;
}

bool Witness::Create() {
  v1::CreateGameRequest request;
  request.set_request_id("witness-" + std::to_string(seed_) + "-" + std::to_string(chance_()));
  request.mutable_rules()->set_board(v1::BOARD_OCTAGON);
  v1::CreateGameResponse made;
  if (!Send(request, &made)) return false;
  game_ = {.id = made.game().game_id(),
           .tokens = {made.seat_tokens().begin(), made.seat_tokens().end()},
           .owner = made.owner_token(),
           .created = made.game()};
  position_ = made.game().position();
  version_ = made.game().version();
  watched_ = {};
  watched_.request = e2e::WatchAfter(game_.id, 0);
  watcher_ = std::make_unique<e2e::Watcher>(caller_.stub(), watched_.request);
  absl::MutexLock lock(&mu_);
  played_.push_back({game_.id});
  return true;
}

bool Witness::Move() {
  v1::SubmitMoveRequest request;
  request.set_game_id(game_.id);
  request.set_seat_token(game_.TokenOf(position_.turn()));
  request.set_expected_version(version_);
  request.set_move(position_.legal_moves(static_cast<int>(chance_() % position_.legal_moves_size())));
  v1::SubmitMoveResponse response;
  if (!Send(request, &response)) return false;
  const v1::GameEvent& event = response.event();
  if (event.version() != version_ + 1 || event.moved().move() != request.move() ||
      event.moved().color() != position_.turn()) {
    Fault(request.move() + " was answered with another event: " + event.ShortDebugString());
    return false;
  }
  version_ = event.version();
  position_ = event.position();
  absl::MutexLock lock(&mu_);
  played_.back().events.push_back(event);
  ++moves_;
  return true;
}

void Witness::Resume() {
  if (connection_ == Connection::kStays || !watcher_->done()) return;
  e2e::WatchRecord part = watcher_->Record();
  watched_.end = part.end;
  for (auto& message : part.messages) watched_.messages.push_back(std::move(message));
  if (part.end.ok()) return;
  watcher_ = std::make_unique<e2e::Watcher>(caller_.stub(), e2e::WatchAfter(game_.id, LastSeen(watched_)));
}

void Witness::EndWatch() {
  const auto give_up = Clock::now() + patience_;
  grpc::Status end = watcher_->AwaitEnd(patience_);
  while (end.error_code() == grpc::StatusCode::UNAVAILABLE && connection_ == Connection::kBreaks &&
         Clock::now() < give_up) {
    Resume();
    end = watcher_->AwaitEnd(patience_);
  }
  const e2e::WatchRecord last = watcher_->Record();
  watched_.messages.insert(watched_.messages.end(), last.messages.begin(), last.messages.end());
  watched_.end = end;
  watcher_.reset();
  if (!end.ok()) Fault("its watch ended with " + e2e::Describe(end));
  std::vector<v1::GameEvent> acknowledged;
  {
    absl::MutexLock lock(&mu_);
    acknowledged = played_.back().events;
  }
  std::vector<std::string> faults = e2e::BrokenPromises({watched_}, version_);
  for (const std::string& difference : Differences(acknowledged, watched_)) faults.push_back(difference);
  for (const std::string& fault : faults) Fault(fault);
}

std::vector<std::string> Witness::Missing() const {
  std::vector<Played> newest;
  {
    absl::MutexLock lock(&mu_);
    newest.assign(played_.end() - static_cast<std::ptrdiff_t>(std::min<size_t>(2, played_.size())), played_.end());
  }
  std::vector<std::string> missing;
  e2e::Caller caller(address_);
  for (const Played& played : newest) {
    const uint64_t version = played.events.size() + 1;
    const uint64_t told = caller.Get(played.id).version();
    e2e::Watcher watcher(caller.stub(), e2e::WatchAfter(played.id, 0));
    if (told < version || !watcher.AwaitVersion(version)) {
      missing.push_back(played.id + " is at version " + std::to_string(told) + " after " + std::to_string(version) +
                        " was acknowledged");
      continue;
    }
    for (const std::string& difference : Differences(played.events, watcher.Record())) missing.push_back(difference);
  }
  return missing;
}

std::vector<std::string> Witness::Finish() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
  if (watcher_ != nullptr && position_.legal_moves_size() != 0) {
    v1::AbortGameRequest abort;
    abort.set_game_id(game_.id);
    abort.set_owner_token(game_.owner);
    v1::AbortGameResponse response;
    if (Send(abort, &response)) version_ = response.event().version();
  }
  if (watcher_ != nullptr) EndWatch();
  absl::MutexLock lock(&mu_);
  return faults_;
}

}  // namespace reversi::stores
