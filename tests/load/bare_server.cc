// The bare twin: a gRPC callback server that does nothing, set up as the service is, so that the difference between
// the two is what the service itself costs. Prints its port, serves until it is killed.
#include <csignal>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "bare.grpc.pb.h"

namespace reversi::load {
namespace {

namespace bare = reversi::bare::v1;

// A stream that writes what it is given, one write at a time. What comes while a write is under way is counted and
// written afterwards: the buffer is the same.
class Follower : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  using Gone = std::function<void(Follower*)>;
  explicit Follower(Gone gone) : gone_(std::move(gone)) { StartSendInitialMetadata(); }

  void Write(const grpc::ByteBuffer& message) ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    if (!busy_) message_ = message;
    ++waiting_;
    Pump();
  }
  void OnSendInitialMetadataDone(bool ok) override { OnWriteDone(ok); }
  void OnWriteDone(bool ok) override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    busy_ = false;
    over_ = over_ || !ok;
    Pump();
  }
  void OnCancel() override ABSL_LOCKS_EXCLUDED(mu_) {
    absl::MutexLock lock(&mu_);
    over_ = true;
    Pump();
  }
  void OnDone() override { gone_(this); }

 private:
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (busy_ || finished_) return;
    if (over_) {
      finished_ = true;
      Finish(grpc::Status::CANCELLED);
    } else if (waiting_ > 0) {
      --waiting_;
      busy_ = true;
      StartWrite(&message_);
    }
  }

  const Gone gone_;
  absl::Mutex mu_;
  grpc::ByteBuffer message_ ABSL_GUARDED_BY(mu_);
  int waiting_ ABSL_GUARDED_BY(mu_) = 0;
  bool busy_ ABSL_GUARDED_BY(mu_) = true;  // the initial metadata count as a write
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
};

using Callbacks = bare::Bare::WithCallbackMethod_Echo<
    bare::Bare::WithCallbackMethod_Publish<bare::Bare::WithRawCallbackMethod_Follow<bare::Bare::Service>>>;

class BareService : public Callbacks {
 public:
  grpc::ServerUnaryReactor* Echo(grpc::CallbackServerContext* context, const bare::EchoRequest* request,
                                 bare::EchoResponse* response) override {
    response->mutable_payload()->resize(request->answer_bytes());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

  grpc::ServerUnaryReactor* Publish(grpc::CallbackServerContext* context, const bare::PublishRequest* request,
                                    bare::EchoResponse* response) override {
    response->mutable_payload()->resize(request->answer_bytes());
    auto* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    const std::string text(request->event_bytes(), 'x');
    const grpc::Slice slice(text);
    const grpc::ByteBuffer message(&slice, 1);
    // Under the lock, so that no follower goes meanwhile: nothing else is done in it.
    absl::MutexLock lock(&mu_);
    for (Follower* follower : followers_) follower->Write(message);
    return reactor;
  }

  grpc::ServerWriteReactor<grpc::ByteBuffer>* Follow(grpc::CallbackServerContext*, const grpc::ByteBuffer*) override {
    auto* follower = new Follower([this](Follower* gone) {
      {
        absl::MutexLock lock(&mu_);
        followers_.erase(gone);
      }
      delete gone;
    });
    absl::MutexLock lock(&mu_);
    followers_.insert(follower);
    return follower;
  }

 private:
  absl::Mutex mu_;
  absl::flat_hash_set<Follower*> followers_ ABSL_GUARDED_BY(mu_);
};

int Run() {
  std::signal(SIGPIPE, SIG_IGN);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  BareService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (server == nullptr) {
    std::cerr << "bare_server: cannot listen\n";
    return 1;
  }
  std::cout << "bare_server listening grpc=127.0.0.1:" << port << std::endl;
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace reversi::load

int main() { return reversi::load::Run(); }
