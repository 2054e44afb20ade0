#include "service/watch_stream.h"

#include <algorithm>
#include <utility>

#include <grpcpp/support/slice.h>

#include "service/errors.h"

namespace reversi {
namespace {

// The same bytes for every watcher: the slice holds a reference.
grpc::Slice Share(const Bytes& bytes) {
  auto* held = new Bytes(bytes);
  const std::string_view view = held->view();
  return {const_cast<char*>(view.data()), view.size(), [](void* user) { delete static_cast<Bytes*>(user); }, held};
}

}  // namespace

WatchStream::WatchStream(grpc::CallbackServerContext* call, absl::Duration heartbeat, const WatchContext& context)
    : call_(call),
      context_(context),
      heartbeat_(heartbeat),
      begun_(context.clock.Steady()),
      wrote_at_(begun_) {}

void WatchStream::Start() {
  absl::MutexLock lock(&mu_);
  self_ = shared_from_this();
  context_.metrics.WatchOpened();
  // Alone and first: a first write that carries them with a buffer hint never arrives.
  StartSendInitialMetadata();
}

bool WatchStream::Attach(std::shared_ptr<Game> game, uint64_t version, std::optional<uint64_t> after_version) {
  Step step;
  {
    absl::MutexLock lock(&mu_);
    if (done_) return false;
    game_ = std::move(game);
    cursor_ = after_version.value_or(version);
    snapshot_due_ = !after_version.has_value();
    step = Next();
  }
  Take(step);
  return true;
}

void WatchStream::Wake() {
  absl::ReleasableMutexLock lock(&mu_);
  const Step step = Next();
  lock.Release();
  Take(step);
}

void WatchStream::Stop(const grpc::Status& status) {
  absl::ReleasableMutexLock lock(&mu_);
  EndWith(status);
  const Step step = Next();
  lock.Release();
  Take(step);
}

void WatchStream::Cut() {
  absl::MutexLock lock(&mu_);
  if (writing_ && !done_) call_->TryCancel();
}

void WatchStream::Beat(absl::Duration now) {
  absl::ReleasableMutexLock lock(&mu_);
  if (writing_ || finished_ || now - wrote_at_ < heartbeat_) return;
  Step step = Next();
  // A heartbeat says that everything up to the cursor was sent: none before the snapshot.
  const bool idle = !writing_ && !finished_ && game_ != nullptr && !snapshot_due_;
  if (idle) step = Write(context_.heartbeat(cursor_), false);
  lock.Release();
  Take(step);
}

std::shared_ptr<Game> WatchStream::StalledIn(absl::Duration before) const {
  absl::MutexLock lock(&mu_);
  return writing_ && !done_ && wrote_at_ < before ? game_ : nullptr;
}

WatchStream::Step WatchStream::Next() {
  if (writing_ || finished_) return {};
  if (end_ != nullptr) {
    finished_ = true;
    return {.status = end_.get()};
  }
  if (game_ == nullptr) return {};
  if (snapshot_due_) {
    if (game_->version() < cursor_) return NothingMore();
    snapshot_due_ = false;
    const auto snapshot = game_->Read();
    cursor_ = snapshot->table.version;
    const bool over = snapshot->table.state == GameState::kFinished;
    return Write(context_.snapshot(*game_, *snapshot, context_.expires(snapshot->table)), over);
  }
  if (burst_ != nullptr) return NextOfBurst();
  if (game_->version() > cursor_) {
    Game::Events events = game_->EventsFrom(cursor_ + 1);
    if (events.bytes.size() == 1) return WriteEvent(events.bytes.front(), events.end);
    if (!events.bytes.empty()) {
      burst_ = std::make_unique<Burst>(Burst{std::move(events)});
      return NextOfBurst();
    }
  }
  up_to_date_ = true;
  if (game_->state() != GameState::kFinished || game_->version() != cursor_) return NothingMore();
  finished_ = true;
  return {.status = &grpc::Status::OK};
}

WatchStream::Step WatchStream::NothingMore() {
  if (!game_->gone()) return {};
  EndWith(ToStatus(GameNotFound(game_->id().text())));
  finished_ = true;
  return {.status = end_.get()};
}

WatchStream::Step WatchStream::NextOfBurst() {
  const Bytes event = std::move(burst_->events.bytes[burst_->next++]);
  const bool more = burst_->next < burst_->events.bytes.size();
  const bool last = !more && burst_->events.end;
  if (!more) burst_.reset();
  return WriteEvent(event, last, more);
}

WatchStream::Step WatchStream::WriteEvent(const Bytes& event, bool last, bool more) {
  ++cursor_;
  context_.metrics.EventSent();
  // Events of older versions are history to whoever catches up: only the newest one's time is told.
  if (up_to_date_ && cursor_ == game_->version()) news_of_ = absl::FromUnixMillis(game_->time_ms());
  return Write(event, last, more);
}

WatchStream::Step WatchStream::Write(const Bytes& bytes, bool last, bool more) {
  wrote_at_ = context_.clock.Steady();
  const grpc::Slice slice = Share(bytes);
  grpc::ByteBuffer message(&slice, 1);
  message_.Swap(&message);  // to assign it would be to copy it
  context_.metrics.MessageSent(Method::kWatchGame);
  writing_ = true;
  finished_ = last;
  return {.message = &message_, .more = more, .status = last ? &grpc::Status::OK : nullptr};
}

void WatchStream::EndWith(const grpc::Status& status) {
  if (end_ == nullptr && !finished_) end_ = std::make_unique<const grpc::Status>(status);
}

void WatchStream::Take(const Step& step) {
  grpc::WriteOptions options;
  // What more follows at once goes out with it: a hundredth of the cost of a packet of its own.
  if (step.more) options.set_buffer_hint();
  if (step.message != nullptr && step.status != nullptr) {
    StartWriteAndFinish(step.message, options, *step.status);
  } else if (step.message != nullptr) {
    StartWrite(step.message, options);
  } else if (step.status != nullptr) {
    Finish(*step.status);
  }
}

void WatchStream::OnSendInitialMetadataDone(bool ok) { OnWriteDone(ok); }

void WatchStream::OnWriteDone(bool ok) {
  absl::ReleasableMutexLock lock(&mu_);
  writing_ = false;
  message_.Clear();
  const absl::Time news_of = std::exchange(news_of_, absl::InfinitePast());
  if (!ok) EndWith(grpc::Status::CANCELLED);
  const Step step = Next();
  lock.Release();
  if (ok && news_of != absl::InfinitePast()) {
    context_.metrics.WatchLag(std::max(context_.clock.Wall() - news_of, absl::ZeroDuration()));
  }
  Take(step);
}

void WatchStream::OnCancel() { Stop(grpc::Status::CANCELLED); }

void WatchStream::OnDone() {
  std::shared_ptr<WatchStream> self;
  std::shared_ptr<Game> game;
  const grpc::Status* status = nullptr;
  {
    absl::MutexLock lock(&mu_);
    finished_ = true;
    done_ = true;
    self = std::move(self_);
    game = game_;
    status = end_ != nullptr ? end_.get() : &grpc::Status::OK;
  }
  if (game != nullptr) game->RemoveWatcher(self);
  context_.watches.Remove(self);
  context_.metrics.WatchClosed();
  context_.over(call_, begun_, *status);
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
    const auto game = stream->StalledIn(now - stall_limit);
    if (game != nullptr && !kept(*game)) stream->Cut();
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
