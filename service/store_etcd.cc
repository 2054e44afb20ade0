#include "service/store_etcd.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <grpcpp/alarm.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace reversi {
namespace {

constexpr absl::Duration kHold = absl::Milliseconds(10);
// etcd refuses 128 operations in a transaction and, as it comes, requests above 1.5 MiB.
constexpr Committer::Limits kLimits{.ops = 127, .bytes = 1 << 20, .under_way = 2, .beside = 8, .hold = kHold};
// After a conflict so many batches are sent apart: each in vain costs another round trip.
constexpr int kApart = 32;
constexpr absl::Duration kFirstPause = absl::Milliseconds(20);
constexpr absl::Duration kLongestPause = absl::Milliseconds(300);
constexpr absl::Duration kTick = absl::Milliseconds(250);

// A message of very many parts, which go together.
template <typename Message>
std::shared_ptr<Message> OnArena() {
  auto arena = std::make_shared<google::protobuf::Arena>();
  return {arena, google::protobuf::Arena::CreateMessage<Message>(arena.get())};
}

absl::Duration SteadyNow() { return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch()); }

// Adds an operation and its condition. `tells` = a failed compare brings what stands there.
void AddTo(etcdserverpb::TxnRequest* txn, const std::string& key, const StoreOp& op, bool tells) {
  etcdserverpb::Compare* compare = txn->add_compare();
  compare->set_target(etcdserverpb::Compare::VERSION);
  compare->set_key(key);
  compare->set_version(static_cast<int64_t>(op.expected_version));
  if (op.remove()) {
    txn->add_success()->mutable_request_delete_range()->set_key(key);
  } else {
    etcdserverpb::PutRequest* put = txn->add_success()->mutable_request_put();
    put->set_key(key);
    put->set_value(op.record.view().data(), op.record.view().size());
  }
  if (tells) txn->add_failure()->mutable_request_range()->set_key(key);
}

// What one transaction of the batch came to.
PutResult ResultOf(const StoreOp& op, const etcdserverpb::TxnResponse& txn, bool sent_before) {
  if (txn.succeeded()) return {PutOutcome::kDone};
  PutResult result{PutOutcome::kConflict, {}, sent_before};
  if (txn.responses_size() > 0 && txn.responses(0).response_range().kvs_size() > 0) {
    const etcdserverpb::KeyValue& kv = txn.responses(0).response_range().kvs(0);
    result.current = {static_cast<uint64_t>(kv.version()), Bytes(kv.value())};
  }
  // An earlier attempt whose answer was lost has done it: records carry the id of their put, so equal bytes are ours.
  // (A removal carries nothing: without an earlier attempt it was another's.)
  const bool own = op.remove() ? sent_before && result.current.version == 0
                               : result.current.version == op.expected_version + 1 &&
                                     result.current.record.view() == op.record.view();
  if (own) return {PutOutcome::kDone};
  return result;
}

}  // namespace

// Ever longer pauses between attempts.
struct EtcdStore::Pause {
  absl::Duration next = kFirstPause;
  std::unique_ptr<grpc::Alarm> alarm;

  // A new alarm each time: the one before may be just calling.
  void Then(std::function<void(bool)> go_on) {
    alarm = std::make_unique<grpc::Alarm>();
    alarm->Set(absl::ToChronoTime(absl::Now() + std::exchange(next, std::min(next * 2, kLongestPause))),
               std::move(go_on));
  }
};

// A batch on its way, perhaps again and again.
struct EtcdStore::Flight {
  StoreBatch batch;
  size_t begun_with = 0;  // operations
  bool apart = false;
  bool sent_before = false;
  Pause pause;
};

struct EtcdStore::Reading {
  std::shared_ptr<etcdserverpb::RangeRequest> request;
  GetDone done;
  absl::Duration give_up;
  Pause pause;
};

std::variant<std::unique_ptr<EtcdStore>, std::string> EtcdStore::Make(const Options& options, StoreLog log) {
  auto client = EtcdClient::Make(options.client);
  if (auto* wrong = std::get_if<std::string>(&client)) return std::move(*wrong);
  return std::unique_ptr<EtcdStore>(
      new EtcdStore(std::get<std::unique_ptr<EtcdClient>>(std::move(client)), options, std::move(log)));
}

EtcdStore::EtcdStore(std::unique_ptr<EtcdClient> client, const Options& options, StoreLog log)
    : options_(options),
      log_(std::move(log)),
      client_(std::move(client)),
      committer_(kLimits),
      ticker_([this] { Tick(); }) {}

EtcdStore::~EtcdStore() {
  stopping_ = true;
  feed_.reset();
  committer_.Stop();
  {
    const auto landed = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return on_the_way_ == 0; };
    absl::MutexLock lock(&mu_, absl::Condition(&landed));
    stopped_ = true;
  }
  ticker_.join();
}

std::string EtcdStore::KeyOf(std::string_view game_id) const {
  return (options_.prefix + "g/").append(game_id);
}

void EtcdStore::Get(std::string_view game_id, GetDone done) {
  auto reading = std::make_shared<Reading>();
  reading->request = std::make_shared<etcdserverpb::RangeRequest>();
  reading->request->set_key(KeyOf(game_id));
  reading->done = std::move(done);
  reading->give_up = SteadyNow() + options_.wait;
  Began();
  Ask(std::move(reading));
}

void EtcdStore::Put(const GameId& game_id, uint64_t expected_version, Bytes record, PutDone done) {
  Write(committer_.Add({game_id, expected_version, std::move(record), std::move(done), SteadyNow() + options_.wait}));
}

void EtcdStore::Delete(std::string_view game_id, uint64_t expected_version, PutDone done) {
  Put(game_id, expected_version, Bytes(), std::move(done));
}

void EtcdStore::Follow(Follower follower, CaughtUp caught_up) {
  feed_ = std::make_unique<EtcdFeed>(*client_, KeyOf(""), std::move(follower), std::move(caught_up), log_);
}

void EtcdStore::Write(StoreBatch batch) {
  if (batch.empty()) return;
  auto flight = std::make_shared<Flight>();
  flight->batch = std::move(batch);
  flight->begun_with = flight->batch.size();
  flight->apart = flight->begun_with > 1 && apart_.load(std::memory_order_relaxed) > 0;
  if (flight->apart) apart_.fetch_sub(1, std::memory_order_relaxed);
  Began();
  Send(std::move(flight));
}

void EtcdStore::Send(std::shared_ptr<Flight> flight) {
  auto request = OnArena<etcdserverpb::TxnRequest>();
  absl::Duration give_up = absl::ZeroDuration();
  for (const StoreOp& op : flight->batch) {
    give_up = std::max(give_up, op.give_up);
    const std::string key = KeyOf(op.game_id);
    if (!flight->apart) {
      AddTo(request.get(), key, op, flight->batch.size() == 1);
      continue;
    }
    AddTo(request->add_success()->mutable_request_txn(), key, op, true);
    // etcd overlooks nested puts when it compares with its quota (etcd's pull request 22134) and would fill its disk. One
    // that stands in the branch never taken makes it look; a batch of deletions alone is let through, as it should be.
    if (!op.remove() && request->failure().empty()) request->add_failure()->mutable_request_put()->set_key(key);
  }
  client_->Txn(std::move(request), give_up - SteadyNow(),
               [this, flight](const grpc::Status& status, etcdserverpb::TxnResponse& response) mutable {
                 Answered(std::move(flight), status, response);
               });
}

void EtcdStore::Answered(std::shared_ptr<Flight> flight, const grpc::Status& status,
                         etcdserverpb::TxnResponse& response) {
  const bool again = Retry(status);
  if (status.ok()) {
    if (!Complete(*flight, response)) return Send(std::move(flight));
  } else {
    const absl::Duration now = SteadyNow();
    StoreBatch rest;
    StoreBatch late;
    for (StoreOp& op : flight->batch) (again && op.give_up > now ? rest : late).push_back(std::move(op));
    if (rest.empty()) committer_.Answering();
    GiveUp(std::move(late));
    flight->batch = std::move(rest);
    flight->sent_before = true;
    if (!flight->batch.empty()) {
      Pause& pause = flight->pause;
      pause.Then([this, flight = std::move(flight)](bool) mutable { Send(std::move(flight)); });
      return;
    }
  }
  const size_t written = flight->begun_with;
  flight.reset();
  Write(committer_.Next(written, SteadyNow()));
  Ended();
}

bool EtcdStore::Complete(Flight& flight, etcdserverpb::TxnResponse& response) {
  StoreBatch& batch = flight.batch;
  if (!flight.apart && !response.succeeded() && batch.size() > 1) {
    flight.apart = true;
    // After a lost answer it may have been these puts themselves.
    if (!flight.sent_before) apart_.store(kApart, std::memory_order_relaxed);
    return false;
  }
  committer_.Answering();
  for (size_t i = 0; i < batch.size(); ++i) {
    StoreOp& op = batch[i];
    if (!flight.apart) {
      op.done(ResultOf(op, response, flight.sent_before));
      continue;
    }
    const bool answered = static_cast<int>(i) < response.responses_size();
    PutResult result{PutOutcome::kUnknown};
    if (answered) result = ResultOf(op, response.responses(static_cast<int>(i)).response_txn(), flight.sent_before);
    if (result.outcome == PutOutcome::kConflict) apart_.store(kApart, std::memory_order_relaxed);
    op.done(std::move(result));
  }
  return true;
}

void EtcdStore::Ask(std::shared_ptr<Reading> reading) {
  const auto request = reading->request;
  const absl::Duration left = reading->give_up - SteadyNow();
  client_->Range(request, left, [this, reading = std::move(reading)](const grpc::Status& status,
                                                                     etcdserverpb::RangeResponse& response) mutable {
    const bool again = Retry(status);
    if (!status.ok() && again && SteadyNow() < reading->give_up) {
      Pause& pause = reading->pause;
      pause.Then([this, reading = std::move(reading)](bool) mutable { Ask(std::move(reading)); });
      return;
    }
    Stored stored;
    if (response.kvs_size() > 0) {
      stored = {static_cast<uint64_t>(response.kvs(0).version()), Bytes(response.kvs(0).value())};
    }
    reading->done(status.ok(), std::move(stored));
    reading.reset();
    Ended();
  });
}

bool EtcdStore::Retry(const grpc::Status& status) {
  if (status.ok()) {
    if (!reachable_.load(std::memory_order_relaxed) && !reachable_.exchange(true)) {
      log_(LogLevel::kInfo, "etcd can be used again");
    }
    return true;
  }
  // What etcd will never take, as against a token that has to be renewed.
  if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT && !absl::StrContains(status.error_message(), "auth")) {
    log_(LogLevel::kError, absl::StrCat("etcd refuses: ", status.error_message()));
    return false;
  }
  if (reachable_.exchange(false)) {
    log_(LogLevel::kWarning, absl::StrCat("etcd cannot be used, trying again: ", status.error_message()));
  }
  return !stopping_.load();
}

void EtcdStore::Began() {
  absl::MutexLock lock(&mu_);
  ++on_the_way_;
}

void EtcdStore::Ended() {
  absl::MutexLock lock(&mu_);
  --on_the_way_;
}

void EtcdStore::Tick() {
  bool may_hold = false;
  for (absl::Duration next = SteadyNow() + kTick;;) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&stopped_), may_hold ? kHold / 2 : kTick)) return;
      ++on_the_way_;  // so that no probe begins after the stop
    }
    const absl::Duration now = SteadyNow();
    if (may_hold) Write(committer_.TakeHeld(now));
    if (now >= next) {
      next = now + kTick;
      may_hold = committer_.MayHold();
      if (!may_hold) Write(committer_.TakeHeld(absl::InfiniteDuration()));
      committer_.Expire(now);
      Probe();
    }
    Ended();
  }
}

void EtcdStore::Probe() {
  if (reachable_.load() || stopping_.load() || probing_.exchange(true)) return;
  // No game has this id; the read is as much a call as any.
  Get("", [this](bool, const Stored&) { probing_ = false; });
}

}  // namespace reversi
