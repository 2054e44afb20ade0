// The methods of reversi.v1.GameService: check the request, ask the game, map the error, fill the answer.
#ifndef REVERSI_SERVICE_GAME_SERVICE_H_
#define REVERSI_SERVICE_GAME_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include "absl/time/time.h"
#include "reversi/v1/reversi.grpc.pb.h"
#include "service/access.h"
#include "service/arena_messages.h"
#include "service/clock.h"
#include "service/games.h"
#include "service/metrics.h"
#include "service/requests.h"
#include "service/tokens.h"
#include "service/watch_stream.h"

namespace reversi {

// Callbacks for all; WatchGame in raw bytes, so that an event is serialized once for all its watchers.
using CallbackGameService = v1::GameService::WithCallbackMethod_CreateGame<
    v1::GameService::WithCallbackMethod_JoinGame<v1::GameService::WithCallbackMethod_GetGame<
        v1::GameService::WithCallbackMethod_ListGames<v1::GameService::WithCallbackMethod_SubmitMove<
            v1::GameService::WithCallbackMethod_ResignGame<v1::GameService::WithCallbackMethod_AbortGame<
                v1::GameService::WithRawCallbackMethod_WatchGame<
                    v1::GameService::WithCallbackMethod_ListVariants<v1::GameService::Service>>>>>>>>>;

class GameService final : public CallbackGameService {
 public:
  // All references outlive it.
  GameService(Games& games, Watches& watches, const Tokens& tokens, const Clock& clock, Metrics& metrics,
              Access& access, uint64_t max_watchers_per_game);

  // From now on new games and watches are refused and open watches end.
  void Drain();

  using Reactor = grpc::ServerUnaryReactor;
  using Context = grpc::CallbackServerContext;
  Reactor* CreateGame(Context* context, const v1::CreateGameRequest* request,
                      v1::CreateGameResponse* response) override;
  Reactor* JoinGame(Context* context, const v1::JoinGameRequest* request, v1::JoinGameResponse* response) override;
  Reactor* GetGame(Context* context, const v1::GetGameRequest* request, v1::GetGameResponse* response) override;
  Reactor* ListGames(Context* context, const v1::ListGamesRequest* request,
                     v1::ListGamesResponse* response) override;
  Reactor* SubmitMove(Context* context, const v1::SubmitMoveRequest* request,
                      v1::SubmitMoveResponse* response) override;
  Reactor* ResignGame(Context* context, const v1::ResignGameRequest* request,
                      v1::ResignGameResponse* response) override;
  Reactor* AbortGame(Context* context, const v1::AbortGameRequest* request,
                     v1::AbortGameResponse* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* WatchGame(Context* context, const grpc::ByteBuffer* request) override;
  Reactor* ListVariants(Context* context, const v1::ListVariantsRequest* request,
                        v1::ListVariantsResponse* response) override;

 private:
  class Call;
  template <typename Request, typename Response>
  Reactor* Command(Context* context, Method method, const Request* request, Response* response);
  std::string CreationId(const CreateCall& create);
  // Lets the stream follow the game, which is at `version`.
  std::optional<Error> BeginWatch(const std::shared_ptr<WatchStream>& stream, const std::shared_ptr<Game>& game,
                                  uint64_t version, std::optional<uint64_t> after_version);
  void FillCreated(const Game& game, v1::CreateGameResponse* response) const;

  Games& games_;
  Watches& watches_;
  const Tokens& tokens_;
  const Clock& clock_;
  Metrics& metrics_;
  Access& access_;
  const uint64_t max_watchers_per_game_;
  const WatchContext watch_context_;
  std::atomic<bool> draining_ = false;
  ArenaMessages<v1::SubmitMoveRequest, v1::SubmitMoveResponse> move_messages_;
};

}  // namespace reversi

#endif  // REVERSI_SERVICE_GAME_SERVICE_H_
