#include "tests/e2e/watch_stand.h"

#include <algorithm>
#include <utility>

namespace reversi::e2e {

WatchStand::WatchStand(const std::vector<std::string>& addresses, uint64_t seed, int places,
                       std::vector<std::string> games)
    : chance_(seed), games_(std::move(games)), places_(static_cast<size_t>(places)), records_(games_.size()) {
  for (const std::string& address : addresses) callers_.push_back(std::make_unique<Caller>(address));
}

void WatchStand::Step() {
  Place& place = places_[Below(chance_, places_.size())];
  if (place.watcher == nullptr) return Come(place);
  switch (Below(chance_, 4)) {
    case 0: return place.watcher->Stall();
    case 1: return place.watcher->Resume();
    case 2: return Reopen(place);
    default: return Go(place);
  }
}

std::vector<std::vector<WatchRecord>> WatchStand::Finish() {
  for (Place& place : places_) {
    if (place.watcher == nullptr) Come(place);
    place.watcher->Resume();
  }
  for (Place& place : places_) {
    grpc::Status end;
    while ((end = place.watcher->AwaitEnd()).error_code() == grpc::StatusCode::UNAVAILABLE) {
      Reopen(place);
      place.watcher->Resume();
    }
    const size_t game = place.game;
    Go(place);
    records_[game].back().end = end;  // also that it did not end
  }
  return std::move(records_);
}

void WatchStand::Open(Place& place, const v1::WatchGameRequest& request) {
  Caller& caller = *callers_[Below(chance_, callers_.size())];
  place.watcher = std::make_unique<Watcher>(caller.stub(), request, /*stalled=*/Below(chance_, 6) == 0);
}

void WatchStand::Come(Place& place) {
  place.game = Below(chance_, games_.size());
  const std::string& id = games_[place.game];
  place.whole = {};
  place.whole.request = Below(chance_, 3) == 0 ? WatchAfter(id, 0) : WatchFromNow(id);
  Open(place, place.whole.request);
}

// Ends the watch and keeps what it told.
void WatchStand::TakeOver(Place& place) {
  place.watcher->Cancel();
  place.watcher->AwaitEnd();
  WatchRecord part = place.watcher->Record();
  place.whole.end = part.end;
  for (v1::WatchGameResponse& message : part.messages) place.whole.messages.push_back(std::move(message));
}

void WatchStand::Reopen(Place& place) {
  TakeOver(place);
  if (place.whole.messages.empty()) return Open(place, place.whole.request);
  const v1::WatchGameResponse& last = place.whole.messages.back();
  const uint64_t seen = std::max({last.snapshot().version(), last.event().version(), last.heartbeat().version()});
  Open(place, WatchAfter(games_[place.game], seen));
}

void WatchStand::Go(Place& place) {
  TakeOver(place);
  records_[place.game].push_back(std::move(place.whole));
  place.watcher = nullptr;
}

}  // namespace reversi::e2e
