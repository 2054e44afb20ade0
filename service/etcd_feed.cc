#include "service/etcd_feed.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace reversi {
namespace {

constexpr int64_t kPage = 1000;
constexpr absl::Duration kProbe = absl::Milliseconds(500);
constexpr absl::Duration kSilence = absl::Seconds(2);
constexpr absl::Duration kPauseAfterTrouble = absl::Milliseconds(100);
constexpr absl::Duration kBetweenComplaints = absl::Seconds(5);

absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

// The first key behind all that begin with the prefix, which does not end in 0xff.
std::string EndOf(std::string prefix) {
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

EtcdFeed::EtcdFeed(EtcdClient& client, std::string prefix, Store::Follower follower, Store::CaughtUp caught_up,
                   StoreLog log)
    : client_(client),
      prefix_(std::move(prefix)),
      prefix_end_(EndOf(prefix_)),
      follower_(std::move(follower)),
      caught_up_(std::move(caught_up)),
      log_(std::move(log)),
      prober_([this] { Probe(); }),
      thread_([this] { Run(); }) {}

EtcdFeed::~EtcdFeed() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    if (context_ != nullptr) context_->TryCancel();
  }
  thread_.join();
  prober_.join();
}

void EtcdFeed::Run() {
  do {
    if (next_revision_ == 0 && !List()) continue;
    if (caught_up_) std::exchange(caught_up_, Store::CaughtUp())();
    Watch();
  } while (Pause(kPauseAfterTrouble));
}

bool EtcdFeed::List() {
  const absl::Time began = absl::Now();
  auto gone = told_;
  etcdserverpb::RangeRequest request;
  request.set_key(prefix_);
  request.set_range_end(prefix_end_);
  request.set_limit(kPage);
  uint64_t games = 0;
  for (;;) {
    etcdserverpb::RangeResponse page;
    const grpc::Status status = client_.Range(request, &page);
    connected_ = status.ok();
    if (!status.ok()) {
      Trouble(absl::StrCat("waiting for etcd at ", client_.endpoint(), ": ", status.error_message()));
      return false;
    }
    // All pages show one moment, and the watch begins right after it.
    if (request.revision() == 0) request.set_revision(page.header().revision());
    for (const etcdserverpb::KeyValue& kv : page.kvs()) {
      Tell(kv, false);
      gone.erase(std::string_view(kv.key()).substr(prefix_.size()));
      ++games;
    }
    if (!page.more() || page.kvs_size() == 0) break;
    request.set_key(page.kvs(page.kvs_size() - 1).key() + '\0');
    if (!Pause(absl::ZeroDuration())) return false;
  }
  for (const GameId& game_id : gone) {
    told_.erase(game_id);
    follower_(game_id, Stored{});
  }
  next_revision_ = request.revision() + 1;
  log_(LogLevel::kInfo,
       absl::StrCat("etcd: ", games, " games read in ",
                    absl::FormatDuration(absl::Trunc(absl::Now() - began, absl::Milliseconds(1)))));
  return true;
}

void EtcdFeed::Watch() {
  grpc::ClientContext context;
  size_t endpoint = 0;
  grpc::Status status;
  const auto stream = client_.Watch(&context, &endpoint, &status);
  if (stream == nullptr) {
    connected_ = false;
    return Trouble(absl::StrCat("etcd refuses the watch: ", status.error_message()));
  }
  {
    absl::MutexLock lock(&mu_);
    if (stopping_) context.TryCancel();
    context_ = &context;
    heard_ = SteadyNow();
  }
  etcdserverpb::WatchRequest request;
  auto* create = request.mutable_create_request();
  create->set_key(prefix_);
  create->set_range_end(prefix_end_);
  create->set_start_revision(next_revision_);
  bool useful = stream->Write(request);
  {
    absl::MutexLock lock(&mu_);
    stream_ = stream.get();  // from now on only the prober writes
  }
  etcdserverpb::WatchResponse response;
  const auto heard = [this](absl::Duration now) {
    absl::MutexLock lock(&mu_);
    heard_ = now;
  };
  while (useful && stream->Read(&response)) {
    connected_ = true;
    heard(absl::InfiniteDuration());  // not while the follower works
    useful = Take(response);
    heard(SteadyNow());
  }
  {
    absl::MutexLock lock(&mu_);
    context_ = nullptr;
    stream_ = nullptr;
    if (stopping_) useful = false;
  }
  context.TryCancel();
  status = stream->Finish();
  if (!useful) return;  // broken off on purpose
  connected_ = false;
  client_.WatchEnded(endpoint, status.ok() ? grpc::Status(grpc::StatusCode::UNAVAILABLE, "ended") : status);
  Trouble(absl::StrCat("etcd: the watch broke off, resuming it: ", status.error_message()));
}

bool EtcdFeed::Take(const etcdserverpb::WatchResponse& response) {
  if (response.canceled()) {
    if (response.compact_revision() > 0) {
      log_(LogLevel::kWarning, absl::StrCat("etcd: changes up to revision ", response.compact_revision(),
                                            " were compacted away; reading all games again"));
      next_revision_ = 0;
    } else {
      Trouble(absl::StrCat("etcd cancels the watch: ", response.cancel_reason()));
    }
    return false;
  }
  // The revision in the header of an answer without events is no bookmark: etcd before 3.4.25 and 3.5.8 may send it
  // ahead of events that it covers. All events of one revision come in one response.
  for (const etcdserverpb::Event& event : response.events()) {
    Tell(event.kv(), event.type() == etcdserverpb::Event::DELETE);
    next_revision_ = std::max(next_revision_, event.kv().mod_revision() + 1);
  }
  return true;
}

void EtcdFeed::Tell(const etcdserverpb::KeyValue& kv, bool deleted) {
  const std::string_view game_id = std::string_view(kv.key()).substr(prefix_.size());
  if (deleted) {
    told_.erase(game_id);
    follower_(game_id, Stored{});
  } else {
    if (!told_.contains(game_id)) told_.insert(game_id);
    follower_(game_id, Stored{static_cast<uint64_t>(kv.version()), Bytes(kv.value())});
  }
}

void EtcdFeed::Trouble(const std::string& what) {
  if (absl::Now() < next_complaint_) return;
  next_complaint_ = absl::Now() + kBetweenComplaints;
  log_(LogLevel::kWarning, what);
}

void EtcdFeed::Probe() {
  etcdserverpb::WatchRequest request;
  request.mutable_progress_request();
  while (Pause(kProbe)) {
    absl::MutexLock lock(&mu_);
    if (stream_ == nullptr) continue;
    if (SteadyNow() - heard_ > kSilence) {
      context_->TryCancel();
    } else {
      // Held under the lock so that the stream does not go meanwhile; a few bytes do not wait for the other side.
      stream_->Write(request);
    }
  }
}

bool EtcdFeed::Pause(absl::Duration pause) {
  absl::MutexLock lock(&mu_);
  if (pause > absl::ZeroDuration()) mu_.AwaitWithTimeout(absl::Condition(&stopping_), pause);
  return !stopping_;
}

}  // namespace reversi
