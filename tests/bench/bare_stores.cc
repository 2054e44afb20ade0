// What the stores are measured against: RocksDB and etcd themselves, given the records that the service would put. One
// workload a run; prints puts a second, or microseconds.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <grpcpp/grpcpp.h>
#include <rocksdb/db.h>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "etcd/rpc.grpc.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/bench/record_tape.h"

namespace reversi::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string workload;
  std::string folder;
  std::string name = "bare";
  std::vector<std::string> at;  // HOST:PORTs
  int in_flight = 64;
  int batches = 2;
  double seconds = 2;
  int games = 4000;
  int moves = 500;
};

[[noreturn]] void Fail(const std::string& why) {
  std::cerr << "bare_stores: " << why << "\n";
  std::exit(1);
}

// A tape for several threads.
class SharedTape {
 public:
  explicit SharedTape(const Options& options) : tape_(options.name, static_cast<size_t>(options.games)) {}
  std::vector<RecordTape::Put> Take(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    std::vector<RecordTape::Put> puts;
    for (int i = 0; i < count; ++i) puts.push_back(tape_.Next());
    return puts;
  }

 private:
  absl::Mutex mu_;
  RecordTape tape_ ABSL_GUARDED_BY(mu_);
};

// Runs `write`, which makes so many puts, in so many threads for the time wanted. Puts a second.
double Rate(const Options& options, int threads, int puts, const std::function<void(SharedTape&)>& write) {
  SharedTape tape(options);
  std::atomic<int64_t> written = 0;
  const auto begun = Clock::now();
  const auto end = begun + std::chrono::duration<double>(options.seconds);
  std::vector<std::thread> writers;
  for (int i = 0; i < threads; ++i) {
    writers.emplace_back([&] {
      while (Clock::now() < end) {
        write(tape);
        written += puts;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  return static_cast<double>(written.load()) / std::chrono::duration<double>(Clock::now() - begun).count();
}

// Synced write batches: one writer with everything in flight in each, or a thread for each put, which RocksDB gathers.
double Disk(const Options& options, bool alone) {
  rocksdb::Options files;
  files.create_if_missing = true;
  files.compression = rocksdb::kNoCompression;
  rocksdb::DB* opened = nullptr;
  if (const auto status = rocksdb::DB::Open(files, options.folder, &opened); !status.ok()) Fail(status.ToString());
  const std::unique_ptr<rocksdb::DB> db(opened);
  const int puts = alone ? 1 : options.in_flight;
  return Rate(options, alone ? options.in_flight : 1, puts, [&](SharedTape& tape) {
    rocksdb::WriteBatch batch;
    for (const RecordTape::Put& put : tape.Take(puts)) {
      const std::string_view record = put.record->view();
      batch.Put(put.game_id, rocksdb::Slice(record.data(), record.size()));
    }
    rocksdb::WriteOptions synced;
    synced.sync = true;
    if (const auto status = db->Write(synced, &batch); !status.ok()) Fail(status.ToString());
  });
}

// Transactions of nested ones, each with its own compare; so many batches are under way at a time.
double Etcd(const Options& options) {
  const auto kv = etcdserverpb::KV::NewStub(grpc::CreateChannel(options.at.front(), grpc::InsecureChannelCredentials()));
  const int puts = std::min(options.in_flight / options.batches, 127);
  return Rate(options, options.batches, puts, [&](SharedTape& tape) {
    etcdserverpb::TxnRequest batch;
    for (const RecordTape::Put& put : tape.Take(puts)) {
      etcdserverpb::TxnRequest* txn = batch.add_success()->mutable_request_txn();
      const std::string key = "bare/g/" + put.game_id;
      etcdserverpb::Compare* compare = txn->add_compare();
      compare->set_target(etcdserverpb::Compare::VERSION);
      compare->set_key(key);
      compare->set_version(static_cast<int64_t>(put.expected_version));
      etcdserverpb::PutRequest* write = txn->add_success()->mutable_request_put();
      write->set_key(key);
      write->set_value(std::string(put.record->view()));
      txn->add_failure()->mutable_request_range()->set_key(key);
    }
    grpc::ClientContext context;
    etcdserverpb::TxnResponse answer;
    if (const auto status = kv->Txn(&context, batch, &answer); !status.ok()) Fail(status.error_message());
    for (const auto& each : answer.responses()) {
      if (!each.response_txn().succeeded()) Fail("a compare failed");
    }
  });
}

// Counts events that a reading thread sees.
class Arrivals {
 public:
  void Arrived() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    ++arrived_;
    at_ = Clock::now();
  }
  // The next one is the first.
  void Begin() ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    arrived_ = 0;
  }
  // Waits for so many; returns when the last of them came.
  Clock::time_point Await(int count) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    const auto there = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) { return arrived_ >= count; };
    if (!mu_.AwaitWithTimeout(absl::Condition(&there), absl::Seconds(30))) Fail("an event did not arrive");
    return at_;
  }

 private:
  absl::Mutex mu_;
  int arrived_ ABSL_GUARDED_BY(mu_) = 0;
  Clock::time_point at_ ABSL_GUARDED_BY(mu_);
};

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<long>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// From sending a put to one node to its event from a watch at another.
double EtcdEvents(const Options& options) {
  const auto kv = etcdserverpb::KV::NewStub(grpc::CreateChannel(options.at[0], grpc::InsecureChannelCredentials()));
  const auto watch = etcdserverpb::Watch::NewStub(grpc::CreateChannel(options.at[1], grpc::InsecureChannelCredentials()));
  RecordTape tape(options.name, 1);
  Arrivals arrivals;
  grpc::ClientContext watching;
  const auto stream = watch->Watch(&watching);
  etcdserverpb::WatchRequest create;
  create.mutable_create_request()->set_key("bare/e/");
  create.mutable_create_request()->set_range_end("bare/e0");
  etcdserverpb::WatchResponse response;
  if (!stream->Write(create) || !stream->Read(&response) || !response.created()) Fail("no watch");
  std::thread reader([&] {
    while (stream->Read(&response)) {
      for (int i = 0; i < response.events_size(); ++i) arrivals.Arrived();
    }
  });
  std::vector<double> took;
  for (int i = 0; i < options.moves; ++i) {
    const RecordTape::Put put = tape.Next();
    etcdserverpb::TxnRequest txn;
    txn.add_success()->mutable_request_put()->set_key("bare/e/" + put.game_id);
    txn.mutable_success(0)->mutable_request_put()->set_value(std::string(put.record->view()));
    grpc::ClientContext context;
    etcdserverpb::TxnResponse answer;
    arrivals.Begin();
    const auto sent = Clock::now();
    if (const auto status = kv->Txn(&context, txn, &answer); !status.ok()) Fail(status.error_message());
    took.push_back(std::chrono::duration<double, std::micro>(arrivals.Await(1) - sent).count());
  }
  watching.TryCancel();
  reader.join();
  return Median(took);
}

// A game whose moves are sent to one replica while a watch at another waits for them.
class FollowedGame {
 public:
  FollowedGame(v1::GameService::Stub& play, v1::GameService::Stub& watch) : play_(play) {
    grpc::ClientContext context;
    if (const auto status = play_.CreateGame(&context, v1::CreateGameRequest(), &made_); !status.ok()) {
      Fail(status.error_message());
    }
    position_ = made_.game().position();
    v1::WatchGameRequest request;
    request.set_game_id(made_.game().game_id());
    request.set_after_version(0);
    reader_ = std::thread([this, &watch, request] {
      const auto stream = watch.WatchGame(&watching_, request);
      for (v1::WatchGameResponse update; stream->Read(&update);) {
        if (update.has_event()) arrivals_.Arrived();
      }
    });
    arrivals_.Await(1);  // the creation
  }
  ~FollowedGame() {
    watching_.TryCancel();
    reader_.join();
  }

  bool over() const { return position_.legal_moves().empty(); }

  // Microseconds from sending a move to its event at the watch.
  double Move() {
    v1::SubmitMoveRequest request;
    request.set_game_id(made_.game().game_id());
    request.set_seat_token(made_.seat_tokens(position_.turn() - 1));
    request.set_move(position_.legal_moves(0));
    request.set_expected_version(static_cast<uint64_t>(++moves_));
    grpc::ClientContext context;
    v1::SubmitMoveResponse response;
    const auto sent = Clock::now();
    if (const auto status = play_.SubmitMove(&context, request, &response); !status.ok()) Fail(status.error_message());
    position_ = response.event().position();
    return std::chrono::duration<double, std::micro>(arrivals_.Await(moves_ + 1) - sent).count();
  }

 private:
  v1::GameService::Stub& play_;
  v1::CreateGameResponse made_;
  v1::Position position_;
  int moves_ = 0;
  Arrivals arrivals_;
  grpc::ClientContext watching_;
  std::thread reader_;
};

double MoveEvents(const Options& options) {
  const auto play = v1::GameService::NewStub(grpc::CreateChannel(options.at[0], grpc::InsecureChannelCredentials()));
  const auto watch = v1::GameService::NewStub(grpc::CreateChannel(options.at[1], grpc::InsecureChannelCredentials()));
  std::vector<double> took;
  while (took.size() < static_cast<size_t>(options.moves)) {
    for (FollowedGame game(*play, *watch); !game.over() && took.size() < static_cast<size_t>(options.moves);) {
      took.push_back(game.Move());
    }
  }
  return Median(took);
}

int Run(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  Options options;
  CLI::App app("RocksDB and etcd themselves, given the service's records", "bare_stores");
  const std::map<std::string, std::function<double()>> workloads = {
      {"disk", [&] { return Disk(options, false); }},       {"disk-alone", [&] { return Disk(options, true); }},
      {"etcd", [&] { return Etcd(options); }},              {"etcd-events", [&] { return EtcdEvents(options); }},
      {"move-events", [&] { return MoveEvents(options); }}};
  app.add_option("WORKLOAD", options.workload,
                 "disk: synced batches of all that is in flight, puts a second; disk-alone: a synced put a thread; etcd: "
                 "nested transactions; etcd-events: from a put at the first address to its event at the second, in "
                 "microseconds; move-events: the same of a move and two replicas")
      ->required()->check(CLI::IsMember(workloads));
  app.add_option("--folder", options.folder, "RocksDB's");
  app.add_option("--at", options.at, "addresses of etcd or replicas, HOST:PORT")->delimiter(',');
  app.add_option("--name", options.name, "begins the ids: another one for every run");
  app.add_option("--in_flight", options.in_flight, "puts in flight")->check(CLI::Range(1, 10000))->capture_default_str();
  app.add_option("--batches", options.batches, "of etcd under way")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_option("--seconds", options.seconds, "how long")->check(CLI::Range(0.0, 3600.0))->capture_default_str();
  app.add_option("--games", options.games, "that go on at a time")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  app.add_option("--moves", options.moves, "events to wait for")->check(CLI::Range(1, 10'000'000))->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::printf("%.1f\n", workloads.at(options.workload)());
  return 0;
}

}  // namespace
}  // namespace reversi::bench

int main(int argc, char** argv) { return reversi::bench::Run(argc, argv); }
