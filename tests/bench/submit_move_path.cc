// The way of a SubmitMove through the service without the network, on one thread: parse, check, judge, store, commit,
// answer, serialize.
//   submit_move_path <moves>                     plays them; callgrind counts (see submit_move_count.py)
//   submit_move_path --memory <games> <plies> <seconds>
//       makes games, plays so many moves in each, which take one to so many seconds, prints the bytes of a game; 0 seconds:
//       as fast as it goes
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/test/default_reactor_test_peer.h>
#include <unistd.h>

#include "absl/synchronization/mutex.h"
#include "engine/notation.h"
#include "engine/random.h"
#include "service/game_service.h"
#include "service/packed_record.h"
#include "service/store_memory.h"

namespace reversi {
namespace {

// Many games at once, as a server has them: none is in the cache all the time.
constexpr size_t kGames = 256;

// The system's, set forward by the moves of a game that takes its time.
class GameClock : public SystemClock {
 public:
  absl::Time Wall() const override { return SystemClock::Wall() + ahead_; }
  absl::Duration Steady() const override { return SystemClock::Steady() + ahead_; }
  void Advance(absl::Duration by) { ahead_ += by; }

 private:
  absl::Duration ahead_ = absl::ZeroDuration();
};

class Path {
 public:
  Path() {
    for (size_t i = 0; i < kGames; ++i) games_.push_back(NewGame());
  }

  // A move in one game after the other.
  void Next() {
    Playing& playing = games_[next_++ % kGames];
    if (playing.position.over()) playing = NewGame();
    Move(playing);
  }

  void Hold(long games, int plies, uint64_t seconds) {
    for (; games > 0; --games) {
      Playing playing = NewGame();
      while (!playing.position.over() && playing.position.ply() < plies) {
        if (seconds > 0) clock_.Advance(absl::Milliseconds(1000 + random_.Below(1000 * (seconds - 1) + 1)));
        Move(playing);
      }
      // The server does so all the time.
      if (games % 16 == 0) service_games_.Sweep();
    }
    for (int i = 0; i < Games::kSweepCalls; ++i) service_games_.Sweep();
  }

 private:
  struct Playing {
    std::string id;
    std::vector<std::string> tokens;
    Position position;
    uint64_t version = 0;
  };

  void Move(Playing& playing) {
    const std::vector<reversi::Move> moves = playing.position.LegalMoves();
    const reversi::Move move = moves[random_.Below(moves.size())];
    v1::SubmitMoveRequest request;
    request.set_game_id(playing.id);
    request.set_seat_token(playing.tokens[static_cast<size_t>(playing.position.turn())]);
    request.set_move(MoveText(move));
    request.set_expected_version(++playing.version);
    Submit(request.SerializeAsString());
    playing.position = std::get<Played>(playing.position.Play(move)).next;
  }

  Playing NewGame() {
    CreateWish wish;
    wish.start.rules = std::get<Rules>(MakeRules({}));
    wish.start.seats.resize(4);
    Playing playing{.id = RandomGameId(), .tokens = {}, .position = Position(wish.start.rules)};
    service_games_.Create(playing.id, std::move(wish), {}, [&](const Answer&, std::shared_ptr<Game> game) {
      const auto snapshot = game->Read();
      for (int seat = 0; seat < 4; ++seat) {
        playing.tokens.push_back(tokens_.SeatToken(playing.id, snapshot->record.nonce(), seat));
      }
    });
    return playing;
  }

  // What gRPC would do around the handler.
  void Submit(const std::string& bytes) {
    auto* messages = messages_.AllocateMessages();
    grpc::CallbackServerContext context;
    grpc::testing::DefaultReactorTestPeer peer(&context);
    messages->request()->ParseFromString(bytes);
    service_.SubmitMove(&context, messages->request(), messages->response());
    if (!peer.test_status_set() || !peer.test_status().ok()) {
      std::fprintf(stderr, "refused: %s\n", peer.test_status().error_message().c_str());
      std::exit(1);
    }
    answer_ = messages->response()->SerializeAsString();
    messages->Release();
  }

  GameClock clock_;
  Metrics metrics_;
  MemoryStore store_{MemoryStore::Packing{PackRecord, UnpackRecord}};
  Tokens tokens_{{std::string(kMinKeyBytes, 'k')}};
  Access access_{0, 1};
  Games service_games_{store_, tokens_, clock_, metrics_, {}, {100'000'000, 256}};
  Watches watches_{1};
  GameService service_{service_games_, watches_, tokens_, clock_, metrics_, access_, 1};
  ArenaMessages<v1::SubmitMoveRequest, v1::SubmitMoveResponse> messages_;
  std::vector<Playing> games_;
  SplitMix64 random_{1};
  size_t next_ = 0;
  std::string answer_;
};

long ResidentBytes() {
  long size = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace
}  // namespace reversi

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  reversi::Path path;
  if (argc == 5 && std::string(argv[1]) == "--memory") {
    const long games = std::atol(argv[2]);
    // What a process takes once, and for the games between their end and the next sweep, is not a game's.
    path.Hold(4096, std::atoi(argv[3]), static_cast<uint64_t>(std::atol(argv[4])));
    const long before = reversi::ResidentBytes();
    path.Hold(games, std::atoi(argv[3]), static_cast<uint64_t>(std::atol(argv[4])));
    std::printf("%.1f\n", static_cast<double>(reversi::ResidentBytes() - before) / static_cast<double>(games));
    return 0;
  }
  for (long moves = argc > 1 ? std::atol(argv[1]) : 1; moves > 0; --moves) path.Next();
  return 0;
}
