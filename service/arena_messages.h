// The request and the answer of a call in one block of memory that is used again: their strings, lists and parts are
// not allocated one by one.
#ifndef REVERSI_SERVICE_ARENA_MESSAGES_H_
#define REVERSI_SERVICE_ARENA_MESSAGES_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <google/protobuf/arena.h>
#include <grpcpp/support/message_allocator.h>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace reversi {

// For a method whose messages fit a block nearly always; more is allocated where they do not. Outlives the server.
template <typename Request, typename Response>
class ArenaMessages final : public grpc::MessageAllocator<Request, Response> {
 public:
  grpc::MessageHolder<Request, Response>* AllocateMessages() override ABSL_LOCKS_EXCLUDED(mu_) {
    std::unique_ptr<Pair> pair;
    {
      absl::MutexLock lock(&mu_);
      if (!kept_.empty()) {
        pair = std::move(kept_.back());
        kept_.pop_back();
      }
    }
    if (pair == nullptr) pair = std::make_unique<Pair>(*this);
    pair->Begin();
    return pair.release();
  }

 private:
  static constexpr size_t kBlockBytes = 8192;
  // About as many as are in flight at busy times.
  static constexpr size_t kMostKept = 512;

  class Pair final : public grpc::MessageHolder<Request, Response> {
   public:
    explicit Pair(ArenaMessages& owner) : owner_(owner), arena_(block_, sizeof(block_)) {}
    void Begin() {
      this->set_request(google::protobuf::Arena::CreateMessage<Request>(&arena_));
      this->set_response(google::protobuf::Arena::CreateMessage<Response>(&arena_));
    }
    void Release() override {
      arena_.Reset();
      owner_.Keep(std::unique_ptr<Pair>(this));
    }

   private:
    ArenaMessages& owner_;
    alignas(std::max_align_t) char block_[kBlockBytes];
    google::protobuf::Arena arena_;
  };

  void Keep(std::unique_ptr<Pair> pair) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (kept_.size() < kMostKept) kept_.push_back(std::move(pair));
  }

  absl::Mutex mu_;
  std::vector<std::unique_ptr<Pair>> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_ARENA_MESSAGES_H_
