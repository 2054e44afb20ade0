// A watch of one game that survives lost connections, and the game as its watcher knows it.
#ifndef REVERSI_SERVICE_CLI_WATCH_H_
#define REVERSI_SERVICE_CLI_WATCH_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "service/cli/connection.h"
#include "service/cli/failure.h"

namespace reversi::cli {

// Brings a game up to the event after its version; an event already in it changes nothing.
void ApplyEvent(const v1::GameEvent& event, v1::Game* game);

// Reads a game's stream in a thread of its own. When the connection is lost it opens the stream again after the last
// version it has seen, at the next server where there are several, so that its reader sees every version once.
class Watch {
 public:
  struct News {
    enum class Kind {
      kUpdate,  // message
      kLost,    // the connection is lost and being looked for; failure says how
      kEnded,   // the game is over and everything was read
      kFailed,  // it will not go on; failure
    };
    Kind kind;
    v1::WatchGameResponse message;
    Failure failure;
    std::string server = {};  // whose stream brought it
  };

  // `after_version` as in WatchGame. A server lost for longer than `reconnect_for`, or not there at first, ends it.
  Watch(const Connection& connection, std::string game_id, std::optional<uint64_t> after_version,
        absl::Duration reconnect_for);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The next piece of news, in order; nullopt when none came in time. Call it at least every few seconds: it also
  // notices a connection that has fallen silent.
  std::optional<News> Next(absl::Duration timeout) ABSL_LOCKS_EXCLUDED(mutex_);
  // Readable while news is waiting.
  int fd() const { return ready_; }

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mutex_);
  // One stream from its first message to its end.
  grpc::Status ReadStream() ABSL_LOCKS_EXCLUDED(mutex_);
  void Push(News news) ABSL_LOCKS_EXCLUDED(mutex_);

  const Connection& connection_;
  const std::string game_id_;
  const absl::Duration reconnect_for_;
  const int ready_;

  // Of the reading thread alone.
  std::optional<uint64_t> seen_;  // last version passed on
  bool connected_ = false;        // ever read a message
  size_t server_ = 0;             // asked now
  absl::Time lost_at_;            // when messages stopped; InfiniteFuture while they come

  absl::Mutex mutex_;
  std::deque<News> news_ ABSL_GUARDED_BY(mutex_);
  grpc::ClientContext* stream_ ABSL_GUARDED_BY(mutex_) = nullptr;  // the open one
  absl::Time last_message_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;

  std::thread thread_;  // last: it starts when everything else is there
};

}  // namespace reversi::cli

#endif  // REVERSI_SERVICE_CLI_WATCH_H_
