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

// A watch from its creation to its end. By callbacks: a thread that reads it would take turns at polling with the threads
// that serve all calls, and wake them for each of their events.
class EtcdFeed::Stream : public EtcdClient::WatchReactor {
 public:
  explicit Stream(EtcdFeed& feed) : feed_(feed) {
    auto* create = request_.mutable_create_request();
    create->set_key(feed.prefix_);
    create->set_range_end(feed.prefix_end_);
    create->set_start_revision(feed.next_revision_);
  }

  // End() is called exactly once after this.
  void Begin() ABSL_LOCKS_EXCLUDED(feed_.mu_) {
    {
      absl::MutexLock lock(&feed_.mu_);
      heard_ = SteadyNow();
    }
    AddHold();  // for Await()
    StartWrite(&request_);
    StartRead(&response_);
    StartCall();
  }
  // Waits until it is of no use any more; asks for a sign of life now and then, and gives up when none comes. Returns
  // whether it ends on purpose.
  bool Await() ABSL_LOCKS_EXCLUDED(feed_.mu_) {
    const auto over = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(feed_.mu_) { return feed_.stopping_ || over_; };
    absl::MutexLock lock(&feed_.mu_);
    while (!feed_.mu_.AwaitWithTimeout(absl::Condition(&over), kProbe)) {
      if (SteadyNow() - heard_ > kSilence) return false;
      if (std::exchange(writing_, true)) continue;
      request_.mutable_progress_request();
      StartWrite(&request_);
    }
    return feed_.stopping_ || compacted_;
  }
  // Waits until gRPC has let go of it. Returns why it ended.
  grpc::Status End() ABSL_LOCKS_EXCLUDED(feed_.mu_) {
    RemoveHold();
    absl::MutexLock lock(&feed_.mu_, absl::Condition(&done_));
    // A token that is no longer good comes as a cancellation whose words differ with the version of etcd.
    if (response_.canceled()) return {grpc::StatusCode::UNAUTHENTICATED, response_.cancel_reason()};
    return status_;
  }

 private:
  void OnWriteDone(bool /*ok*/) override {
    absl::MutexLock lock(&feed_.mu_);
    writing_ = false;
  }
  void OnReadDone(bool ok) override {
    if (ok) {
      absl::MutexLock lock(&feed_.mu_);
      heard_ = absl::InfiniteDuration();  // not while the follower works
    }
    const bool useful = ok && feed_.Take(response_);
    if (useful) feed_.connected_ = true;
    {
      absl::MutexLock lock(&feed_.mu_);
      heard_ = SteadyNow();
      over_ = !useful;
      compacted_ = ok && response_.compact_revision() > 0;
    }
    if (useful) StartRead(&response_);
  }
  void OnDone(const grpc::Status& status) override {
    absl::MutexLock lock(&feed_.mu_);
    status_ = status;
    done_ = true;
  }

  EtcdFeed& feed_;
  etcdserverpb::WatchRequest request_;
  etcdserverpb::WatchResponse response_;
  bool writing_ ABSL_GUARDED_BY(feed_.mu_) = true;
  bool over_ ABSL_GUARDED_BY(feed_.mu_) = false;
  bool compacted_ ABSL_GUARDED_BY(feed_.mu_) = false;
  absl::Duration heard_ ABSL_GUARDED_BY(feed_.mu_);  // by the steady clock
  grpc::Status status_ ABSL_GUARDED_BY(feed_.mu_);
  bool done_ ABSL_GUARDED_BY(feed_.mu_) = false;
};

EtcdFeed::EtcdFeed(EtcdClient& client, std::string prefix, Store::Follower follower, Store::CaughtUp caught_up,
                   StoreLog log)
    : client_(client),
      prefix_(std::move(prefix)),
      prefix_end_(EndOf(prefix_)),
      follower_(std::move(follower)),
      caught_up_(std::move(caught_up)),
      log_(std::move(log)),
      thread_([this] { Run(); }) {}

EtcdFeed::~EtcdFeed() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
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
  Stream stream(*this);
  size_t endpoint = 0;
  grpc::Status status = client_.Watch(&context, &stream, &endpoint);
  if (!status.ok()) {
    connected_ = false;
    return Trouble(absl::StrCat("etcd refuses the watch: ", status.error_message()));
  }
  stream.Begin();
  const bool on_purpose = stream.Await();
  context.TryCancel();
  status = stream.End();
  if (on_purpose) return;
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

bool EtcdFeed::Pause(absl::Duration pause) {
  absl::MutexLock lock(&mu_);
  if (pause > absl::ZeroDuration()) mu_.AwaitWithTimeout(absl::Condition(&stopping_), pause);
  return !stopping_;
}

}  // namespace reversi
