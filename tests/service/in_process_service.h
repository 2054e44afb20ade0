// The real handlers behind an in-process channel: no port, a clock and a store that the test moves.
#ifndef REVERSI_TESTS_SERVICE_IN_PROCESS_SERVICE_H_
#define REVERSI_TESTS_SERVICE_IN_PROCESS_SERVICE_H_

#include <grpcpp/channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <cstdint>
#include <memory>
#include <string>

#include "service/game_service.h"
#include "tests/service/fake_clock.h"
#include "tests/service/scripted_store.h"

namespace reversi {

struct InProcessService {
  explicit InProcessService(GameLimits limits = {100, 16}, uint64_t max_watchers = 16)
      : tokens({std::string(kMinKeyBytes, 'k')}),
        access(0, 1),
        games(store, tokens, clock, metrics, {absl::Hours(1), absl::Hours(1), absl::Hours(1)}, limits),
        watches(max_watchers),
        service(games, watches, tokens, clock, metrics, access, max_watchers) {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    server = builder.BuildAndStart();
    channel = server->InProcessChannel({});
  }
  ~InProcessService() {
    service.Drain();
    server->Shutdown();
  }

  FakeClock clock;
  ScriptedStore store;
  Tokens tokens;
  Metrics metrics;
  Access access;
  Games games;
  Watches watches;
  GameService service;
  std::unique_ptr<grpc::Server> server;
  std::shared_ptr<grpc::Channel> channel;
};

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_IN_PROCESS_SERVICE_H_
