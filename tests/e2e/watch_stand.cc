#include "tests/e2e/watch_stand.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

// What a watch shows of the game, as calls that read: a snapshot and a refusal are as new as the watch, an event only
// shows that it has happened.
void AddCalls(const WatchRecord& watch, std::vector<ObservedCall>& calls) {
  for (size_t i = 0; i < watch.messages.size(); ++i) {
    const v1::WatchGameResponse& message = watch.messages[i];
    if (message.has_snapshot()) {
      calls.push_back({.version = message.snapshot().version(),
                       .sent = watch.opened,
                       .answered = watch.arrived[i],
                       .state = StateInWords(message.snapshot())});
    } else if (message.has_event()) {
      calls.push_back(
          {.version = message.event().version(), .answered = watch.arrived[i], .state = StateInWords(message.event())});
    }
  }
  if (watch.end.error_code() == grpc::StatusCode::NOT_FOUND) {
    calls.push_back({.sent = watch.opened, .answered = watch.ended});
  }
}

}  // namespace

WatchStand::WatchStand(const std::vector<std::string>& addresses, uint64_t seed, int places, size_t games,
                       Choose choose)
    : chance_(seed), choose_(std::move(choose)), places_(static_cast<size_t>(places)), seen_(games) {
  for (const std::string& address : addresses) callers_.push_back(std::make_unique<Caller>(address));
}

void WatchStand::Step() {
  Place& place = places_[Below(chance_, places_.size())];
  if (place.watcher == nullptr) return Come(place);
  switch (Below(chance_, 4)) {
    case 0:
      return place.watcher->Stall();
    case 1:
      return place.watcher->Resume();
    case 2:
      return Reopen(place);
    default:
      return Go(place);
  }
}

std::vector<WatchStand::Seen> WatchStand::Finish(std::chrono::milliseconds patience) {
  for (Place& place : places_) {
    if (place.watcher == nullptr) Come(place);
    if (place.watcher != nullptr) place.watcher->Resume();
  }
  // Long for the first that hangs; the others will hang alike.
  auto until = std::chrono::steady_clock::now() + patience;
  for (Place& place : places_) {
    if (place.watcher == nullptr) continue;
    const auto await_end = [&] {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      return place.watcher->AwaitEnd(std::max(left, std::chrono::milliseconds(0)));
    };
    grpc::Status end = await_end();
    while (end.error_code() == grpc::StatusCode::UNAVAILABLE && std::chrono::steady_clock::now() < until) {
      Reopen(place);
      place.watcher->Resume();
      end = await_end();
    }
    if (end.error_code() == grpc::StatusCode::UNAVAILABLE) end = {grpc::StatusCode::DEADLINE_EXCEEDED, "no way on"};
    const size_t game = place.game;
    Go(place);
    seen_[game].watches.back().end = end;  // also that it did not end
  }
  return std::move(seen_);
}

void WatchStand::Open(Place& place, const v1::WatchGameRequest& request) {
  Caller& caller = *callers_[Below(chance_, callers_.size())];
  place.watcher = std::make_unique<Watcher>(caller.stub(), request, /*stalled=*/Below(chance_, 6) == 0);
}

void WatchStand::Come(Place& place) {
  std::tie(place.game, place.id) = choose_(chance_);
  if (place.id.empty()) return;
  place.whole = {};
  place.whole.request = Below(chance_, 3) == 0 ? WatchAfter(place.id, 0) : WatchFromNow(place.id);
  Open(place, place.whole.request);
}

// Ends the watch and keeps what it told.
void WatchStand::TakeOver(Place& place) {
  place.watcher->Cancel();
  place.watcher->AwaitEnd();
  WatchRecord part = place.watcher->Record();
  AddCalls(part, seen_[place.game].calls);
  place.whole.end = part.end;
  for (v1::WatchGameResponse& message : part.messages) place.whole.messages.push_back(std::move(message));
}

void WatchStand::Reopen(Place& place) {
  TakeOver(place);
  // A refusal must not be forgotten.
  const int end = place.whole.end.error_code();
  const bool broken_off = end == grpc::StatusCode::CANCELLED || end == grpc::StatusCode::UNAVAILABLE;
  if (!broken_off && !place.whole.end.ok()) return Keep(place);
  if (place.whole.messages.empty()) return Open(place, place.whole.request);
  const v1::WatchGameResponse& last = place.whole.messages.back();
  const uint64_t seen = std::max({last.snapshot().version(), last.event().version(), last.heartbeat().version()});
  Open(place, WatchAfter(place.id, seen));
}

void WatchStand::Go(Place& place) {
  TakeOver(place);
  Keep(place);
}

void WatchStand::Keep(Place& place) {
  seen_[place.game].watches.push_back(std::move(place.whole));
  place.watcher = nullptr;
}

}  // namespace reversi::e2e
