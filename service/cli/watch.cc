#include "service/cli/watch.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace reversi::cli {
namespace {

constexpr absl::Duration kHeartbeat = absl::Seconds(5);
// So long without a message or heartbeat: the server is gone, whatever a proxy between says.
constexpr absl::Duration kSilence = absl::Seconds(20);
// A reader that stopped reading stops the stream, too: memory stays bounded.
constexpr size_t kMostNews = 256;
constexpr absl::Duration kFirstPause = absl::Milliseconds(200);
constexpr absl::Duration kLongestPause = absl::Seconds(5);

// Besides refusals that pass: what a cut connection looks like through one proxy or another.
bool MayReturn(const Failure& failure) {
  if (Transient(failure)) return true;
  return failure.reason.empty() &&
         (failure.code == grpc::StatusCode::CANCELLED || failure.code == grpc::StatusCode::UNKNOWN ||
          failure.code == grpc::StatusCode::INTERNAL || failure.code == grpc::StatusCode::DEADLINE_EXCEEDED);
}

void MarkOut(v1::Color color, v1::Game* game) {
  const int seat = color - 1;
  if (seat >= 0 && seat < game->seats_size()) game->mutable_seats(seat)->set_out(true);
}

void Seated(const v1::GameEvent::Joined& joined, v1::Game* game) {
  const int seat = joined.color() - 1;
  if (seat < 0 || seat >= game->seats_size()) return;
  game->mutable_seats(seat)->set_kind(v1::SEAT_KIND_PLAYER);
  game->mutable_seats(seat)->set_display_name(joined.display_name());
}

}  // namespace

void ApplyEvent(const v1::GameEvent& event, v1::Game* game) {
  if (event.version() != game->version() + 1) return;
  game->set_version(event.version());
  game->set_state(event.state());
  *game->mutable_position() = event.position();
  *game->mutable_update_time() = event.time();
  if (event.has_turn_deadline()) {
    *game->mutable_turn_deadline() = event.turn_deadline();
  } else {
    game->clear_turn_deadline();
  }
  if (event.has_result()) *game->mutable_result() = event.result();
  if (event.has_joined()) Seated(event.joined(), game);
  if (event.has_resigned()) MarkOut(event.resigned().color(), game);
  if (event.has_timed_out()) MarkOut(event.timed_out().color(), game);
  if (event.has_moved()) {
    v1::PlayedMove* move = game->add_moves();
    move->set_color(event.moved().color());
    move->set_move(event.moved().move());
    *move->mutable_passed() = event.passed();
  }
}

Watch::Watch(const Connection& connection, std::string game_id, std::optional<uint64_t> after_version,
             absl::Duration reconnect_for)
    : connection_(connection),
      game_id_(std::move(game_id)),
      reconnect_for_(reconnect_for),
      ready_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      seen_(after_version),
      lost_at_(absl::Now()),
      thread_([this] { Run(); }) {}

Watch::~Watch() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
    if (stream_ != nullptr) stream_->TryCancel();
  }
  thread_.join();
  close(ready_);
}

std::optional<Watch::News> Watch::Next(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto waiting = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !news_.empty(); };
  if (!mutex_.AwaitWithTimeout(absl::Condition(&waiting), timeout)) {
    if (stream_ != nullptr && absl::Now() - last_message_ > kSilence) stream_->TryCancel();
    return std::nullopt;
  }
  News news = std::move(news_.front());
  news_.pop_front();
  eventfd_t ignored;
  if (news_.empty()) eventfd_read(ready_, &ignored);
  return news;
}

void Watch::Push(News news) {
  news.server = connection_.address_of(server_);
  absl::MutexLock lock(&mutex_);
  const auto room = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return news_.size() < kMostNews || stopping_; };
  mutex_.Await(absl::Condition(&room));
  news_.push_back(std::move(news));
  eventfd_write(ready_, 1);
}

grpc::Status Watch::ReadStream() {
  grpc::ClientContext context;
  v1::WatchGameRequest request;
  request.set_game_id(game_id_);
  if (seen_) request.set_after_version(*seen_);
  request.mutable_heartbeat_interval()->set_seconds(absl::ToInt64Seconds(kHeartbeat));
  {
    absl::MutexLock lock(&mutex_);
    if (stopping_) return grpc::Status::CANCELLED;
    stream_ = &context;
    last_message_ = absl::Now();
  }
  const auto reader = connection_.stub(server_).WatchGame(&context, request);
  v1::WatchGameResponse message;
  while (reader->Read(&message)) {
    connected_ = true;
    lost_at_ = absl::InfiniteFuture();
    if (message.has_snapshot()) seen_ = message.snapshot().version();
    if (message.has_event()) seen_ = message.event().version();
    Push({.kind = News::Kind::kUpdate, .message = std::move(message), .failure = {}});
    message.Clear();
    absl::MutexLock lock(&mutex_);
    last_message_ = absl::Now();
  }
  grpc::Status status = reader->Finish();
  absl::MutexLock lock(&mutex_);
  stream_ = nullptr;
  return status;
}

void Watch::Run() {
  absl::Duration pause = kFirstPause;
  size_t asked = 0;  // servers, since messages stopped
  while (true) {
    const grpc::Status status = ReadStream();
    {
      absl::MutexLock lock(&mutex_);
      if (stopping_) return;
    }
    if (status.ok()) return Push({.kind = News::Kind::kEnded, .message = {}, .failure = {}});
    Failure failure = ReadFailure(status);
    const bool just_lost = lost_at_ == absl::InfiniteFuture();
    if (just_lost) {
      lost_at_ = absl::Now();
      pause = kFirstPause;
      asked = 0;
    }
    const bool others = ++asked % connection_.servers() != 0;  // that are not known to be away
    if ((!connected_ && !others) || !MayReturn(failure) || absl::Now() - lost_at_ > reconnect_for_) {
      return Push({.kind = News::Kind::kFailed, .message = {}, .failure = std::move(failure)});
    }
    const absl::Duration wait = std::max(pause, failure.retry_after.value_or(absl::ZeroDuration()));
    if (just_lost) Push({.kind = News::Kind::kLost, .message = {}, .failure = std::move(failure)});
    ++server_;
    if (others) continue;
    absl::MutexLock lock(&mutex_);
    if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), wait)) return;
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace reversi::cli
