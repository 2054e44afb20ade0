#include "tests/load/follower.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/load/process.h"

namespace reversi::load {
namespace {

constexpr int64_t kHeartbeatSeconds = 300;

grpc::ByteBuffer RequestFor(const LoadGame& game, uint64_t after_version) {
  v1::WatchGameRequest request;
  request.set_game_id(game.id());
  request.set_after_version(after_version);
  request.mutable_heartbeat_interval()->set_seconds(kHeartbeatSeconds);
  const grpc::Slice slice(request.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

std::string BytesOf(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  std::string bytes;
  message.Dump(&slices);
  for (const grpc::Slice& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return bytes;
}

}  // namespace

Follower::Follower(Generator& generator, Connection& connection, std::shared_ptr<LoadGame> game,
                   uint64_t after_version)
    : generator_(generator),
      game_(std::move(game)),
      cursor_(after_version),
      begun_(Now()),
      request_(RequestFor(*game_, after_version)) {
  const char* method =
      generator.options().bare ? "/reversi.bare.v1.Bare/Follow" : "/reversi.v1.GameService/WatchGame";
  stream_ = connection.generic->PrepareCall(&context_, method, generator.queue());
  stream_->StartCall(this);
}

void Follower::Ready(bool ok) {
  switch (step_) {
    case Step::kStart:
      if (!ok) break;
      step_ = Step::kWrite;
      return stream_->WriteLast(request_, grpc::WriteOptions(), this);
    case Step::kWrite:
      if (!ok) break;
      step_ = Step::kMetadata;
      return stream_->ReadInitialMetadata(this);
    case Step::kMetadata:
      generator_.Opened();
      if (!ok) break;
      step_ = Step::kRead;
      return stream_->Read(&message_, this);
    case Step::kRead:
      if (!ok) break;
      Got();
      return stream_->Read(&message_, this);
    case Step::kFinish:
      return generator_.Gone(this, status_);
  }
  step_ = Step::kFinish;
  stream_->Finish(&status_, this);
}

void Follower::Got() {
  ++cursor_;
  if (!generator_.options().bare) {
    const std::string fault = game_->CheckWatched(cursor_, BytesOf(message_));
    if (!fault.empty()) generator_.tally().Fault(absl::StrCat("WatchGame, version ", cursor_, ": ", fault));
  }
  generator_.Delivered(*game_, cursor_);
}

}  // namespace reversi::load
