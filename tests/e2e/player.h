// One of many who play the same games at once, and remember what they were told.
#ifndef REVERSI_TESTS_E2E_PLAYER_H_
#define REVERSI_TESTS_E2E_PLAYER_H_

#include <absl/base/thread_annotations.h>
#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/e2e/api_client.h"
#include "tests/e2e/linearizable.h"
#include "tests/e2e/list_promises.h"
#include "tests/e2e/watch_stand.h"

namespace reversi::e2e {

inline constexpr char kGivenUp[] = "given up";    // by its own deadline
inline constexpr char kNoAnswer[] = "no answer";  // beside all its tries: the outcome of a command was never known

// One game, as all players share it.
struct Table {
  v1::CreateGameRequest wish;
  absl::Mutex mutex;
  TestGame game ABSL_GUARDED_BY(mutex);    // no owner token: nobody knows of its creation
  v1::Game latest ABSL_GUARDED_BY(mutex);  // the newest state that anybody saw
  std::vector<v1::SubmitMoveRequest> sent ABSL_GUARDED_BY(mutex);
  std::vector<ObservedCall> calls ABSL_GUARDED_BY(mutex);
  // How often tries ended how: "OK", the reason of a refusal, "code <number>" where there is none, or:
  std::map<std::string, uint64_t> answers ABSL_GUARDED_BY(mutex);

  void Saw(const v1::Game& now);
  v1::Game Latest();
  bool Over();
  TestGame Secrets();
  // Empty: nobody knows it yet.
  std::string Id();
};

// All tables in a row, of which `open` are played at at a time; the next one comes when the first is over.
class Hall {
 public:
  // `patience` = how long a command is sent again and again.
  Hall(std::vector<std::unique_ptr<Table>> tables, size_t open, std::chrono::milliseconds patience)
      : tables_(std::move(tables)), open_(open), patience_(patience) {}

  // A number of an open table; now and then one of those before.
  size_t Any(Chance& chance);
  Table& at(size_t i) { return *tables_[i]; }
  size_t size() const { return tables_.size(); }
  // Calls that were sent about them.
  std::atomic<uint64_t>& tries() { return tries_; }
  // Short from when somebody has lost theirs: what hangs once will hang everybody.
  std::chrono::milliseconds patience() const { return patience_; }
  void LosePatience() { patience_ = std::min(patience(), std::chrono::milliseconds(100)); }
  // Games made before are others'.
  std::chrono::system_clock::time_point begun() const { return begun_; }

 private:
  const std::vector<std::unique_ptr<Table>> tables_;
  const size_t open_;
  std::atomic<size_t> first_ = 0;
  std::atomic<uint64_t> tries_ = 0;
  std::atomic<std::chrono::milliseconds> patience_;
  const std::chrono::system_clock::time_point begun_ = std::chrono::system_clock::now();
};

// As version of a refusal: the game's last one, whichever that is.
inline constexpr uint64_t kLastVersion = std::numeric_limits<uint64_t>::max();

// Random calls on random games, each try through any of the addresses. A call whose outcome is not known is sent again
// until it is. Used by one thread.
class Player {
 public:
  Player(const std::vector<std::string>& addresses, uint64_t seed, Hall& hall);

  void Call();
  // Ends the game, unless it has ended.
  void Abort(Table& table);
  // Looks at the game, if anybody knows it.
  void Read(Table& table);
  // Walks over so many pages, each through any of the addresses, until there are no more games of this play.
  ListRecord Walk(const v1::ListGamesRequest& first, size_t pages);
  // All that was listed by calls.
  std::vector<ListRecord> TakeLists() { return std::move(lists_); }

 private:
  void Create(Table& table);
  void Move(Table& table);
  void Repeat(Table& table);
  bool Submit(Table& table, const v1::SubmitMoveRequest& request);
  void Join(Table& table);
  void Resign(Table& table);
  void List();

  // How a try ended, and when it was sent and answered.
  template <class Response>
  struct Try {
    grpc::Status status;
    Response response;
    ErrorDetails details;
    uint64_t sent = 0;
    uint64_t answered = 0;
    bool late() const { return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED; }
    bool unknown() const;
    std::string end() const;  // as in Table
  };
  // Sends until the outcome is known, or nobody answers any more; hands every try to `tried`, and returns the last one.
  template <class Request, class Response, class Tried>
  Try<Response> Insist(grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                       const Request& request, Tried tried);
  // Sends a call about the game in this way; records every try. `accept` fills in what an OK tells. False = refused,
  // or nobody answers any more.
  template <class Request, class Response, class Accept>
  bool Send(Table& table,
            grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
            const Request& request, const ObservedCall& blank, Accept accept);

  // Any one; rather one that is connected.
  Caller& AnyCaller();

  std::vector<std::unique_ptr<Caller>> callers_;
  Chance chance_;
  Hall& hall_;
  std::vector<ListRecord> lists_;
};

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_PLAYER_H_
