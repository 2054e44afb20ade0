// Drives a server: one thread, one completion queue, one call in flight for each of its players.
#ifndef REVERSI_TESTS_LOAD_GENERATOR_H_
#define REVERSI_TESTS_LOAD_GENERATOR_H_

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "bare.grpc.pb.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "tests/load/load_game.h"
#include "tests/load/options.h"
#include "tests/load/report.h"
#include "tests/load/tally.h"
#include "tests/load/tape.h"

namespace reversi::load {

// What comes out of the completion queue.
class Tag {
 public:
  virtual ~Tag() = default;
  virtual void Ready(bool ok) = 0;
};

struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::GameService::Stub> games;
  std::unique_ptr<bare::v1::Bare::Stub> bare;
  std::unique_ptr<grpc::GenericStub> generic;
};

class Player;
class Follower;

class Generator {
 public:
  explicit Generator(const Options& options);
  ~Generator();

  // Prepares, warms up, measures. Throws std::runtime_error if the server cannot be reached.
  Report Run();

  // For players and followers.
  enum class Phase : uint8_t { kPreparing, kRunning, kStopping };
  const Options& options() const { return options_; }
  Phase phase() const { return phase_; }
  grpc::CompletionQueue* queue() { return &queue_; }
  Tally& tally() { return tally_; }
  const Tape& tape() const { return *tape_; }
  const RulesRequest& NextKind() { return options_.kinds[kind_++ % options_.kinds.size()]; }
  uint64_t NextSeed() { return options_.bare ? tape_->seed : options_.seed + seed_++; }
  Connection& NextConnection() { return connections_[connection_++ % connections_.size()]; }

  // How many games are still to be made beforehand; takes one.
  bool TakeGameToMake();
  // A game that nobody plays; null = there is none left.
  std::shared_ptr<LoadGame> TakeGame();
  void PutGame(std::shared_ptr<LoadGame> game);

  void Free(Player* player);
  void Watch(std::shared_ptr<LoadGame> game, uint64_t after_version);
  // A follower is ready, has got an event, is over.
  void Opened() { ++opened_; }
  void Delivered(const LoadGame& game, uint64_t version);
  void Gone(Follower* follower, const grpc::Status& status);
  // All watchers of the move under way have it.
  bool all_delivered() const { return deliveries_due_ == 0; }
  void ExpectDeliveries() { deliveries_due_ = options_.watchers; }

 private:
  void Connect();
  void Prepare();
  void PrepareFanOut();
  // Lets everybody work until then, or until nobody has anything to do.
  void Loop(int64_t until);
  void Dispatch();
  void Await(int64_t until);
  void Unpark();
  void CatchUp();
  void Hold();
  void Stop();

  const Options options_;
  std::unique_ptr<Tape> tape_;
  std::vector<Connection> connections_;
  grpc::CompletionQueue queue_;
  Tally tally_;
  Phase phase_ = Phase::kPreparing;

  std::vector<std::unique_ptr<Player>> players_;
  std::deque<Player*> free_;
  std::vector<Player*> parked_;  // had nothing to do when last asked
  size_t busy_ = 0;              // players with a call in flight
  std::deque<std::shared_ptr<LoadGame>> games_;  // to be played on
  std::vector<std::shared_ptr<LoadGame>> held_;  // to be watched
  std::unordered_set<Follower*> open_;
  size_t followers_ = 0;
  size_t opened_ = 0;
  size_t watched_ = 0;
  int deliveries_due_ = 0;
  int games_to_make_ = 0;
  int64_t next_due_ = 0;  // of the open loop
  size_t kind_ = 0;
  size_t connection_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_GENERATOR_H_
