// A watch of one game that checks every byte, or a stream of the bare twin.
#ifndef REVERSI_TESTS_LOAD_FOLLOWER_H_
#define REVERSI_TESTS_LOAD_FOLLOWER_H_

#include <memory>
#include <string>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "tests/load/generator.h"

namespace reversi::load {

class Follower final : public Tag {
 public:
  // Asks for the events after this version.
  Follower(Generator& generator, Connection& connection, std::shared_ptr<LoadGame> game, uint64_t after_version);

  void Ready(bool ok) override;
  void Cancel() { context_.TryCancel(); }
  int64_t begun() const { return begun_; }
  const LoadGame& game() const { return *game_; }
  uint64_t cursor() const { return cursor_; }

 private:
  enum class Step : uint8_t { kStart, kWrite, kMetadata, kRead, kFinish };
  void Got();

  Generator& generator_;
  const std::shared_ptr<LoadGame> game_;
  uint64_t cursor_;
  const int64_t begun_;
  Step step_ = Step::kStart;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer message_;
  grpc::Status status_;
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_FOLLOWER_H_
