#include "service/watch_stream.h"

#include <algorithm>
#include <utility>

#include <grpcpp/support/slice.h>

namespace reversi {
namespace {

// The same bytes for every watcher: the slice holds a reference.
grpc::ByteBuffer Share(const Bytes& bytes) {
  auto* held = new Bytes(bytes);
  const std::string_view view = held->view();
  const grpc::Slice slice(
      const_cast<char*>(view.data()), view.size(), [](void* user) { delete static_cast<Bytes*>(user); }, held);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

WatchStream::WatchStream(grpc::CallbackServerContext* context, absl::Duration heartbeat, const Clock& clock,
                         Metrics& metrics, Watches& watches, Hooks hooks)
    : context_(context),
      heartbeat_(heartbeat),
      clock_(clock),
      metrics_(metrics),
      watches_(watches),
      hooks_(std::move(hooks)),
      wrote_at_(clock.Steady()) {}

void WatchStream::Start() {
  absl::MutexLock lock(&mu_);
  self_ = shared_from_this();
  metrics_.WatchOpened();
  // Alone and first: a first write that carries them with a buffer hint never arrives.
  StartSendInitialMetadata();
}

bool WatchStream::Attach(std::shared_ptr<Game> game, uint64_t version, std::optional<uint64_t> after_version) {
  absl::MutexLock lock(&mu_);
  if (done_) return false;
  game_ = std::move(game);
  cursor_ = after_version.value_or(0);
  snapshot_due_ = !after_version.has_value();
  snapshot_from_ = version;
  Pump();
  return true;
}

std::shared_ptr<Game> WatchStream::game() const {
  absl::MutexLock lock(&mu_);
  return game_;
}

void WatchStream::Wake() {
  absl::MutexLock lock(&mu_);
  Pump();
}

void WatchStream::Stop(const grpc::Status& status) {
  absl::MutexLock lock(&mu_);
  if (!end_with_.has_value()) end_with_ = status;
  Pump();
}

void WatchStream::Cut() {
  absl::MutexLock lock(&mu_);
  if (writing_ && !done_) context_->TryCancel();
}

void WatchStream::Beat(absl::Duration now) {
  absl::MutexLock lock(&mu_);
  if (writing_ || finished_ || now - wrote_at_ < heartbeat_) return;
  Pump();
  // A heartbeat says that everything up to the cursor was sent: none before the snapshot.
  if (!writing_ && !finished_ && game_ != nullptr && !snapshot_due_) Send(hooks_.heartbeat(cursor_), false);
}

std::optional<absl::Duration> WatchStream::StalledSince() const {
  absl::MutexLock lock(&mu_);
  if (!writing_ || done_) return std::nullopt;
  return wrote_at_;
}

void WatchStream::Pump() {
  if (writing_ || finished_) return;
  if (end_with_.has_value()) return End(*end_with_);
  if (game_ == nullptr) return;
  if (snapshot_due_) {
    if (game_->version() < snapshot_from_) return;
    snapshot_due_ = false;
    const auto snapshot = game_->Read();
    cursor_ = snapshot->table.version;
    const bool over = snapshot->table.state == GameState::kFinished;
    return Send(hooks_.snapshot(*game_, *snapshot, hooks_.expires(snapshot->table)), over);
  }
  if (next_ == burst_.bytes.size() && game_->version() > cursor_) {
    burst_ = game_->EventsFrom(cursor_ + 1);
    next_ = 0;
  }
  if (next_ < burst_.bytes.size()) return SendNext();
  up_to_date_ = true;
  if (game_->state() == GameState::kFinished && game_->version() == cursor_) End(grpc::Status::OK);
}

void WatchStream::SendNext() {
  const Bytes event = std::move(burst_.bytes[next_++]);
  ++cursor_;
  metrics_.EventSent();
  // Events of older versions are history to whoever catches up: only the newest one's time is told.
  if (up_to_date_ && cursor_ == game_->version()) news_of_ = absl::FromUnixMillis(game_->time_ms());
  const bool more = next_ < burst_.bytes.size();
  const bool last = !more && burst_.end;
  if (!more) burst_ = {};
  if (!more) next_ = 0;
  Send(event, last, more);
}

void WatchStream::Send(const Bytes& bytes, bool last, bool more) {
  wrote_at_ = clock_.Steady();
  buffer_ = Share(bytes);
  metrics_.MessageSent(Method::kWatchGame);
  writing_ = true;
  if (last) {
    finished_ = true;
    return StartWriteAndFinish(&buffer_, grpc::WriteOptions(), grpc::Status::OK);
  }
  // What more follows at once goes out with it: a hundredth of the cost of a packet of its own.
  grpc::WriteOptions options;
  if (more) options.set_buffer_hint();
  StartWrite(&buffer_, options);
}

void WatchStream::End(const grpc::Status& status) {
  finished_ = true;
  ended_with_ = status;
  Finish(status);
}

void WatchStream::OnSendInitialMetadataDone(bool ok) { OnWriteDone(ok); }

void WatchStream::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mu_);
  writing_ = false;
  if (ok && news_of_.has_value()) metrics_.WatchLag(std::max(clock_.Wall() - *news_of_, absl::ZeroDuration()));
  news_of_.reset();
  if (!ok && !end_with_.has_value()) end_with_ = grpc::Status::CANCELLED;
  Pump();
}

void WatchStream::OnCancel() {
  absl::MutexLock lock(&mu_);
  if (!end_with_.has_value()) end_with_ = grpc::Status::CANCELLED;
  Pump();
}

void WatchStream::OnDone() {
  std::shared_ptr<WatchStream> self;
  std::shared_ptr<Game> game;
  grpc::Status status;
  {
    absl::MutexLock lock(&mu_);
    finished_ = true;
    done_ = true;
    status = ended_with_;
    self = std::move(self_);
    game = game_;
  }
  if (game != nullptr) game->RemoveWatcher(self);
  watches_.Remove(self);
  metrics_.WatchClosed();
  hooks_.over(status);
}

Watches::Admission Watches::Add(const std::shared_ptr<WatchStream>& stream) {
  absl::MutexLock lock(&mu_);
  if (stopping_) return Admission::kStopping;
  if (streams_.size() >= limit_) return Admission::kTooMany;
  streams_.insert(stream);
  return Admission::kAdmitted;
}

void Watches::Remove(const std::shared_ptr<WatchStream>& stream) {
  absl::MutexLock lock(&mu_);
  streams_.erase(stream);
}

std::vector<std::shared_ptr<WatchStream>> Watches::All() const {
  absl::MutexLock lock(&mu_);
  return {streams_.begin(), streams_.end()};
}

void Watches::Tick(absl::Duration now, absl::Duration stall_limit,
                   const std::function<bool(const Game&)>& kept) {
  for (const auto& stream : All()) {
    stream->Beat(now);
    const auto since = stream->StalledSince();
    const auto game = stream->game();
    if (since.has_value() && now - *since > stall_limit && game != nullptr && !kept(*game)) stream->Cut();
  }
}

void Watches::Stop(const grpc::Status& status) {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  for (const auto& stream : All()) stream->Stop(status);
}

void Watches::CutStalled() {
  for (const auto& stream : All()) stream->Cut();
}

size_t Watches::count() const {
  absl::MutexLock lock(&mu_);
  return streams_.size();
}

}  // namespace reversi
