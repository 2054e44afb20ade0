#include "tests/e2e/watcher.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "tests/e2e/linearizable.h"

namespace reversi::e2e {

Watcher::Watcher(v1::GameService::Stub* stub, v1::WatchGameRequest request, bool stalled) : stalled_(stalled) {
  context_.set_wait_for_ready(true);
  record_.request = std::move(request);
  record_.opened = NextMoment();
  stub->async()->WatchGame(&context_, &record_.request, this);
  // Resume() starts reads from outside reactions, and may do so after the last one ended.
  AddHold();
  if (stalled) {
    waiting_ = true;
  } else {
    StartRead(&incoming_);
  }
  StartCall();
}

Watcher::~Watcher() {
  Cancel();
  absl::MutexLock lock(&mutex_);
  if (Await(absl::Condition(&done_))) return;
  // gRPC will still call this object: there is no way on without it.
  std::cerr << "a watch of game " << record_.request.game_id() << " that was cancelled did not end in a minute"
            << std::endl;
  std::abort();
}

void Watcher::Stall() {
  absl::MutexLock lock(&mutex_);
  stalled_ = true;
}

void Watcher::Resume() {
  {
    absl::MutexLock lock(&mutex_);
    stalled_ = false;
    if (!waiting_) return;
    waiting_ = false;
  }
  StartRead(&incoming_);
}

void Watcher::Cancel() {
  context_.TryCancel();
  // A stalled watcher has no read that would learn of it.
  Resume();
}

bool Watcher::Await(const absl::Condition& condition, std::chrono::milliseconds patience) {
  return mutex_.AwaitWithTimeout(condition, absl::FromChrono(patience));
}

bool Watcher::AwaitOpen() {
  absl::MutexLock lock(&mutex_);
  const auto opened = [this] {
    mutex_.AssertReaderHeld();
    return open_ || done_;
  };
  return Await(absl::Condition(&opened)) && open_;
}

bool Watcher::AwaitVersion(uint64_t version) {
  absl::MutexLock lock(&mutex_);
  const auto told = [this, version] {
    mutex_.AssertReaderHeld();
    return version_ >= version || done_;
  };
  return Await(absl::Condition(&told)) && version_ >= version;
}

bool Watcher::AwaitMessages(size_t count) {
  absl::MutexLock lock(&mutex_);
  const auto told = [this, count] {
    mutex_.AssertReaderHeld();
    return record_.messages.size() >= count || done_;
  };
  return Await(absl::Condition(&told)) && record_.messages.size() >= count;
}

grpc::Status Watcher::AwaitEnd(std::chrono::milliseconds patience) {
  {
    absl::MutexLock lock(&mutex_);
    if (Await(absl::Condition(&done_), patience)) return record_.end;
  }
  Cancel();
  return grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "the watch did not end");
}

uint64_t Watcher::version() const {
  absl::MutexLock lock(&mutex_);
  return version_;
}

bool Watcher::done() const {
  absl::MutexLock lock(&mutex_);
  return done_;
}

WatchRecord Watcher::Record() const {
  absl::MutexLock lock(&mutex_);
  return record_;
}

void Watcher::OnReadInitialMetadataDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  open_ = open_ || ok;
}

void Watcher::OnReadDone(bool ok) {
  if (!ok) {
    RemoveHold();
    return;
  }
  {
    absl::MutexLock lock(&mutex_);
    open_ = true;
    version_ = std::max(
        {version_, incoming_.snapshot().version(), incoming_.event().version(), incoming_.heartbeat().version()});
    record_.messages.push_back(incoming_);
    record_.arrived.push_back(NextMoment());
    if (stalled_) {
      waiting_ = true;
      return;
    }
  }
  StartRead(&incoming_);
}

void Watcher::OnDone(const grpc::Status& status) {
  absl::MutexLock lock(&mutex_);
  record_.end = status;
  record_.ended = NextMoment();
  done_ = true;
}

v1::WatchGameRequest WatchFromNow(const std::string& game_id) {
  v1::WatchGameRequest request;
  request.set_game_id(game_id);
  return request;
}

v1::WatchGameRequest WatchAfter(const std::string& game_id, uint64_t after_version) {
  v1::WatchGameRequest request = WatchFromNow(game_id);
  request.set_after_version(after_version);
  return request;
}

}  // namespace reversi::e2e
