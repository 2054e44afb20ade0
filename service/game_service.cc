#include "service/game_service.h"

#include <utility>

#include <grpcpp/impl/codegen/proto_utils.h>

#include "service/call_log.h"
#include "service/convert.h"
#include "service/requests.h"

namespace reversi {
namespace {

// Refuses a watch.
class RefusedWatch : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  explicit RefusedWatch(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

Error Draining() {
  return {.reason = Reason::kServerDraining,
          .message = "this server stops; another one serves",
          .retry_after = absl::Milliseconds(100)};
}

Bytes SnapshotBytes(const Game& game, const Snapshot& snapshot, absl::Time expires) {
  v1::WatchGameResponse message;
  FillGame(game.id(), snapshot.record, snapshot.table, expires, true, message.mutable_snapshot());
  return Bytes(message.SerializeAsString());
}

Bytes HeartbeatBytes(uint64_t version) {
  v1::WatchGameResponse message;
  message.mutable_heartbeat()->set_version(version);
  return Bytes(message.SerializeAsString());
}

}  // namespace

// What every call needs from its beginning to its end.
class GameService::Call {
 public:
  Call(GameService& service, Context* context, Method method)
      : Call(service, context, method, service.clock_.Steady()) {
    service.metrics_.CallStarted(method);
    service.metrics_.MessageReceived(method);
  }
  // One that has been counted when it began.
  Call(GameService& service, Context* context, Method method, absl::Duration begun)
      : service_(&service), context_(context), method_(method), begun_(begun) {}

  // A call that is refused before its request is looked at.
  std::optional<Error> Admit(bool begins_something) const {
    if (service_->access_.limits()) {
      if (auto limited = service_->access_.Admit(CallerOf(*context_), begun_)) return limited;
    }
    if (begins_something && service_->draining_.load(std::memory_order_relaxed)) return Draining();
    return std::nullopt;
  }

  // The call is over, or its status is about to be sent.
  void Over(const grpc::Status& status, std::string_view reason = {}) const {
    const absl::Duration duration = service_->clock_.Steady() - begun_;
    service_->metrics_.CallHandled(method_, status.error_code(), duration);
    LogCall(*context_, MethodName(method_), status, reason, duration);
  }
  // The game that the call is about has been found.
  void About(const Game& game) {
    if (game.version() != 0) variant_ = game.variant();
  }
  grpc::Status Refuse(const Error& error) const {
    const grpc::Status status = Refusal(error);
    Over(status, ReasonName(error.reason));
    return status;
  }
  // The same for a call whose end is told by its stream.
  grpc::Status Refusal(const Error& error) const {
    service_->metrics_.Refused(method_, error.reason);
    if (method_ == Method::kSubmitMove) service_->metrics_.MoveRefused(variant_, error.reason);
    return ToStatus(error);
  }

  Reactor* End(Reactor* reactor, const grpc::Status& status) const {
    if (status.ok()) service_->metrics_.MessageSent(method_);
    Over(status);
    reactor->Finish(status);
    return reactor;
  }
  Reactor* End(Reactor* reactor, const Error& error) const {
    reactor->Finish(Refuse(error));
    return reactor;
  }
  // The end of a command: true if it was accepted and the answer has still to be filled.
  bool Granted(Reactor* reactor, const Answer& answer) const {
    if (const auto* error = std::get_if<Error>(&answer)) {
      End(reactor, *error);
    } else if (std::holds_alternative<Abandoned>(answer)) {
      End(reactor, grpc::Status::CANCELLED);
    } else {
      if (std::get<Accepted>(answer).again) service_->metrics_.RetryAnswered(method_);
      return true;
    }
    return false;
  }

  Context* context() const { return context_; }

 private:
  GameService* service_;
  Context* context_;
  Method method_;
  absl::Duration begun_;
  std::optional<Variant> variant_ = std::nullopt;
};

GameService::GameService(Games& games, Watches& watches, const Tokens& tokens, const Clock& clock, Metrics& metrics,
                         Access& access, uint64_t max_watchers_per_game)
    : games_(games),
      watches_(watches),
      tokens_(tokens),
      clock_(clock),
      metrics_(metrics),
      access_(access),
      max_watchers_per_game_(max_watchers_per_game),
      watch_context_{.clock = clock,
                     .metrics = metrics,
                     .watches = watches,
                     .snapshot = SnapshotBytes,
                     .heartbeat = HeartbeatBytes,
                     .expires = [this](const Table& table) { return games_.Expires(table); },
                     .over =
                         [this](Context* context, absl::Duration begun, const grpc::Status& status) {
                           Call(*this, context, Method::kWatchGame, begun).Over(status);
                         }} {
  SetMessageAllocatorFor_SubmitMove(&move_messages_);
}

void GameService::Drain() {
  draining_.store(true, std::memory_order_relaxed);
  watches_.Stop(ToStatus(Draining()));
}

std::string GameService::CreationId(const CreateCall& create) {
  const std::string& request = create.wish.start.request;
  if (!create.game_id.empty()) return create.game_id;
  return request.empty() ? RandomGameId() : tokens_.GameIds(request).front();
}

void GameService::FillCreated(const Game& game, v1::CreateGameResponse* response) const {
  const auto snapshot = game.Read();
  const Record& record = snapshot->record;
  FillGame(game.id(), record, snapshot->table, games_.Expires(snapshot->table), true, response->mutable_game());
  const Start start = record.start();
  for (size_t seat = 0; seat < start.seats.size(); ++seat) {
    response->add_seat_tokens(start.seats[seat].open
                                  ? std::string()
                                  : tokens_.SeatToken(game.id(), record.nonce(), static_cast<int>(seat)));
  }
  response->set_owner_token(tokens_.OwnerToken(game.id(), record.nonce()));
}

GameService::Reactor* GameService::CreateGame(Context* context, const v1::CreateGameRequest* request,
                                              v1::CreateGameResponse* response) {
  const Call call(*this, context, Method::kCreateGame);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(true)) return call.End(reactor, *refused);
  const std::string caller = CallerOf(*context);
  const uint64_t seed = request->rules().random_blocked() != 0 ? RandomBits() : 0;
  auto checked = Check(*request, caller, seed);
  if (const auto* error = std::get_if<Error>(&checked)) return call.End(reactor, *error);
  auto& create = std::get<CreateCall>(checked);
  std::string id = CreationId(create);
  games_.Create(
      std::move(id), std::move(create.wish), [context] { return context->IsCancelled(); },
      [this, call, reactor, response](Answer answer, const std::shared_ptr<Game>& game) {
        if (!call.Granted(reactor, answer)) return;
        FillCreated(*game, response);
        call.End(reactor, grpc::Status::OK);
      });
  return reactor;
}

GameService::Reactor* GameService::JoinGame(Context* context, const v1::JoinGameRequest* request,
                                            v1::JoinGameResponse* response) {
  const Call call(*this, context, Method::kJoinGame);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(false)) return call.End(reactor, *refused);
  auto checked = Check(*request);
  if (const auto* error = std::get_if<Error>(&checked)) return call.End(reactor, *error);
  games_.Locate(request->game_id(), [this, call, context, reactor, response,
                                     wish = std::get<JoinWish>(std::move(checked))](auto located) mutable {
    if (const auto* error = std::get_if<Error>(&located)) return void(call.End(reactor, *error));
    const auto& game = std::get<std::shared_ptr<Game>>(located);
    auto proposal = std::make_unique<Proposal>();
    proposal->wish = std::move(wish);
    proposal->abandoned = [context] { return context->IsCancelled(); };
    proposal->answer = [this, call, reactor, response, game](Answer answer) {
      if (!call.Granted(reactor, answer)) return;
      const int seat = std::get<Accepted>(answer).event.command.seat;
      const auto snapshot = game->Read();
      FillGame(game->id(), snapshot->record, snapshot->table, games_.Expires(snapshot->table), true,
               response->mutable_game());
      response->set_color(ToApi(static_cast<Color>(seat)));
      response->set_seat_token(tokens_.SeatToken(game->id(), snapshot->record.nonce(), seat));
      call.End(reactor, grpc::Status::OK);
    };
    if (auto back = game->Submit(std::move(proposal))) back->answer(GameNotFound(game->id()));
  });
  return reactor;
}

GameService::Reactor* GameService::GetGame(Context* context, const v1::GetGameRequest* request,
                                           v1::GetGameResponse* response) {
  const Call call(*this, context, Method::kGetGame);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(false)) return call.End(reactor, *refused);
  if (const auto wrong = Check(*request)) return call.End(reactor, *wrong);
  games_.Read(request->game_id(), [this, call, reactor, response](auto read) {
    if (const auto* error = std::get_if<Error>(&read)) return void(call.End(reactor, *error));
    const auto& [game, snapshot] = std::get<Games::Current>(read);
    FillGame(game->id(), snapshot.record, snapshot.table, games_.Expires(snapshot.table), true,
             response->mutable_game());
    call.End(reactor, grpc::Status::OK);
  });
  return reactor;
}

GameService::Reactor* GameService::ListGames(Context* context, const v1::ListGamesRequest* request,
                                             v1::ListGamesResponse* response) {
  const Call call(*this, context, Method::kListGames);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(false)) return call.End(reactor, *refused);
  const auto checked = Check(*request);
  if (const auto* error = std::get_if<Error>(&checked)) return call.End(reactor, *error);
  auto fill = [this, call, reactor, response, list = std::get<ListCall>(checked)](bool all_here) {
    auto listed = games_.List(list.page_size, list.page_token, {list.state, list.variant});
    if (const auto* error = std::get_if<Error>(&listed)) return void(call.End(reactor, *error));
    // A part is not shown as if it were all.
    if (!all_here) return void(call.End(reactor, StoreUnavailable()));
    auto& page = std::get<Games::Page>(listed);
    for (const auto& [game, snapshot] : page.games) {
      FillGame(game->id(), snapshot.record, snapshot.table, games_.Expires(snapshot.table), false,
               response->add_games());
    }
    response->set_next_page_token(std::move(page.next_page_token));
    call.End(reactor, grpc::Status::OK);
  };
  games_.AwaitAll(std::move(fill));
  return reactor;
}

// SubmitMove, ResignGame and AbortGame: a wish in, an event out.
template <typename Request, typename Response>
GameService::Reactor* GameService::Command(Context* context, Method method, const Request* request,
                                           Response* response) {
  Call call(*this, context, method);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(false)) return call.End(reactor, *refused);
  auto checked = Check(*request);
  if (const auto* error = std::get_if<Error>(&checked)) return call.End(reactor, *error);
  auto submit = [call, context, reactor, response, wish = std::get<0>(std::move(checked))](auto located) mutable {
    if (const auto* error = std::get_if<Error>(&located)) return void(call.End(reactor, *error));
    const auto& game = std::get<std::shared_ptr<Game>>(located);
    call.About(*game);
    auto proposal = std::make_unique<Proposal>();
    proposal->wish = std::move(wish);
    proposal->abandoned = [context] { return context->IsCancelled(); };
    proposal->answer = [call, reactor, response](Answer answer) {
      if (!call.Granted(reactor, answer)) return;
      FillEvent(std::get<Accepted>(answer).event, response->mutable_event());
      call.End(reactor, grpc::Status::OK);
    };
    if (auto back = game->Submit(std::move(proposal))) back->answer(GameNotFound(game->id()));
  };
  games_.Locate(request->game_id(), std::move(submit));
  return reactor;
}

GameService::Reactor* GameService::SubmitMove(Context* context, const v1::SubmitMoveRequest* request,
                                              v1::SubmitMoveResponse* response) {
  return Command(context, Method::kSubmitMove, request, response);
}

GameService::Reactor* GameService::ResignGame(Context* context, const v1::ResignGameRequest* request,
                                              v1::ResignGameResponse* response) {
  return Command(context, Method::kResignGame, request, response);
}

GameService::Reactor* GameService::AbortGame(Context* context, const v1::AbortGameRequest* request,
                                             v1::AbortGameResponse* response) {
  return Command(context, Method::kAbortGame, request, response);
}

std::optional<Error> GameService::BeginWatch(const std::shared_ptr<WatchStream>& stream,
                                             const std::shared_ptr<Game>& game, uint64_t version,
                                             std::optional<uint64_t> after_version) {
  if (after_version.value_or(0) > version) {
    return Error{.reason = Reason::kVersionInFuture,
                 .message = "the game has not come to this version",
                 .metadata = {{"current_version", std::to_string(version)}}};
  }
  const Error too_many = {.reason = Reason::kTooManyWatchers,
                          .message = "as many watch as may",
                          .retry_after = absl::Seconds(5)};
  switch (watches_.Add(stream)) {
    case Watches::Admission::kStopping: return Draining();
    case Watches::Admission::kTooMany: return too_many;
    case Watches::Admission::kAdmitted: break;
  }
  if (!game->AddWatcher(stream, max_watchers_per_game_)) {
    watches_.Remove(stream);
    return too_many;
  }
  if (!stream->Attach(game, version, after_version)) {
    // Its caller has gone meanwhile.
    game->RemoveWatcher(stream);
    watches_.Remove(stream);
  }
  return std::nullopt;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* GameService::WatchGame(Context* context,
                                                                   const grpc::ByteBuffer* bytes) {
  const Call call(*this, context, Method::kWatchGame);
  const auto refused = [&call](const Error& error) { return new RefusedWatch(call.Refuse(error)); };
  if (const auto error = call.Admit(true)) return refused(*error);
  v1::WatchGameRequest request;
  grpc::ByteBuffer copy(*bytes);
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, v1::WatchGameRequest>(&copy, &request).ok()) {
    return refused(Malformed("request", "does not parse"));
  }
  const auto checked = Check(request);
  if (const auto* error = std::get_if<Error>(&checked)) return refused(*error);
  const auto& watch = std::get<WatchCall>(checked);
  const auto stream = std::make_shared<WatchStream>(context, watch.heartbeat, watch_context_);
  auto begin = [this, stream, after = watch.after_version](const OrError<Games::Current>& read) -> std::optional<Error> {
    if (const auto* error = std::get_if<Error>(&read)) return *error;
    const auto& [game, snapshot] = std::get<Games::Current>(read);
    return BeginWatch(stream, game, snapshot.table.version, after);
  };
  if (games_.shared()) {
    // The headers go out while the store is asked.
    stream->Start();
    games_.Read(request.game_id(), [call, stream, begin](const auto& read) {
      if (const auto error = begin(read)) stream->Stop(call.Refusal(*error));
    });
    return stream.get();
  }
  std::optional<Error> error;
  games_.Read(request.game_id(), [&](const auto& read) { error = begin(read); });
  if (error.has_value()) return refused(*error);
  stream->Start();
  return stream.get();
}

GameService::Reactor* GameService::ListVariants(Context* context, const v1::ListVariantsRequest*,
                                                v1::ListVariantsResponse* response) {
  const Call call(*this, context, Method::kListVariants);
  Reactor* reactor = context->DefaultReactor();
  if (const auto refused = call.Admit(false)) return call.End(reactor, *refused);
  FillVariants(response);
  return call.End(reactor, grpc::Status::OK);
}

}  // namespace reversi
