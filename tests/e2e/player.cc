#include "tests/e2e/player.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

using Outcome = ObservedCall::Outcome;

// What a refusal tells of the game's version when it was made.
void TakeRefusal(const ErrorDetails& details, ObservedCall& call) {
  call.outcome = Outcome::kRefused;
  if (const auto at = details.metadata.find("current_version"); at != details.metadata.end()) {
    call.version = std::stoull(at->second);
  } else if (details.reason == "GAME_OVER") {
    call.version = kLastVersion;
  } else if (details.reason == "GAME_NOT_FOUND") {
    call.outcome = Outcome::kRead;
    call.command.clear();
  } else if (details.reason == "NOT_YOUR_TURN" || details.reason == "ILLEGAL_MOVE" ||
             details.reason == "GAME_NOT_STARTED") {
    // Ranks after STALE_VERSION.
    if (call.only != 0) call.version = call.only - 1;
  }
}

// An accepted call, and what its answer tells about the game now.
std::vector<ObservedCall> AcceptedAndRead(ObservedCall call, uint64_t version, const v1::Game& now) {
  ObservedCall read{.version = now.version(), .sent = call.sent, .answered = call.answered, .state = StateInWords(now)};
  call.outcome = Outcome::kAccepted;
  call.version = version;
  return {call, read};
}

// An accepted call that was answered with its event.
std::vector<ObservedCall> AcceptedAs(ObservedCall call, const v1::GameEvent& event) {
  call.outcome = Outcome::kAccepted;
  call.event = InWords(event);
  call.version = event.version();
  call.state = StateInWords(event);
  return {call};
}

}  // namespace

void Table::Saw(const v1::Game& now) {
  absl::MutexLock lock(&mutex);
  if (now.version() > latest.version()) latest = now;
}

v1::Game Table::Latest() {
  absl::MutexLock lock(&mutex);
  return latest;
}

bool Table::Over() {
  absl::MutexLock lock(&mutex);
  return latest.state() == v1::GAME_STATE_FINISHED;
}

TestGame Table::Secrets() {
  absl::MutexLock lock(&mutex);
  return game;
}

std::string Table::Id() {
  absl::MutexLock lock(&mutex);
  return game.id;
}

size_t Hall::Any(Chance& chance) {
  size_t first = first_;
  while (first < tables_.size() && tables_[first]->Over()) first_ = ++first;
  const size_t end = std::min(first + open_, tables_.size());
  const size_t from = first == end || Below(chance, 8) == 0 ? 0 : first;
  return from + Below(chance, end - from);
}

Player::Player(const std::vector<std::string>& addresses, uint64_t seed, Hall& hall) : chance_(seed), hall_(hall) {
  for (const std::string& address : addresses) callers_.push_back(std::make_unique<Caller>(address));
}

Caller& Player::AnyCaller() {
  size_t i = Below(chance_, callers_.size());
  for (size_t tries = 1; tries < callers_.size(); ++tries) {
    if (callers_[i]->channel()->GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) break;
    i = (i + 1) % callers_.size();
  }
  return *callers_[i];
}

template <class Response>
bool Player::Try<Response>::unknown() const {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE || status.error_code() == grpc::StatusCode::CANCELLED ||
         late() || details.reason == "RATE_LIMITED";
}

template <class Response>
std::string Player::Try<Response>::end() const {
  if (status.ok()) return "OK";
  if (late()) return kGivenUp;
  return details.reason.empty() ? "code " + std::to_string(status.error_code()) : details.reason;
}

template <class Request, class Response, class Tried>
Player::Try<Response> Player::Insist(grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&,
                                                                                   Response*),
                                     const Request& request, Tried tried) {
  for (const auto start = std::chrono::steady_clock::now();;) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    // Some tries are given up almost at once, many before a server that has stopped goes on: the server may or may not
    // have done it.
    std::chrono::microseconds patience = hall_.patience();
    const size_t kind = Below(chance_, 8);
    if (kind == 0) patience = std::chrono::microseconds(Below(chance_, 1500));
    if (kind >= 4) patience = std::chrono::milliseconds(20 + Below(chance_, 80));
    context.set_deadline(std::chrono::system_clock::now() + patience);
    Try<Response> now;
    now.sent = NextMoment();
    ++hall_.tries();
    now.status = (AnyCaller().stub()->*method)(&context, request, &now.response);
    now.answered = NextMoment();
    now.details = Details(now.status);
    tried(now);
    if (!now.unknown()) return now;
    // Where nobody knows any more, sending again would never end.
    if (std::chrono::steady_clock::now() - start >= hall_.patience()) {
      hall_.LosePatience();
      return now;
    }
    if (!now.late()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

template <class Request, class Response, class Accept>
bool Player::Send(Table& table,
                  grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, const ObservedCall& blank, Accept accept) {
  const auto last = Insist(method, request, [&](const Try<Response>& tried) {
    ObservedCall call = blank;
    call.outcome = Outcome::kUnknown;
    call.sent = tried.sent;
    call.answered = tried.answered;
    std::vector<ObservedCall> calls = {call};
    if (tried.status.ok()) {
      calls = accept(call, tried.response);
    } else if (!tried.unknown()) {
      TakeRefusal(tried.details, calls[0]);
    }
    absl::MutexLock lock(&table.mutex);
    table.calls.insert(table.calls.end(), calls.begin(), calls.end());
    ++table.answers[tried.end()];
  });
  if (last.unknown()) {
    absl::MutexLock lock(&table.mutex);
    ++table.answers[kNoAnswer];
  }
  return last.status.ok();
}

void Player::Call() {
  if (Below(chance_, 16) == 0) return List();
  Table& table = hall_.at(hall_.Any(chance_));
  if (table.Secrets().owner.empty()) return Below(chance_, 3) == 0 ? Read(table) : Create(table);
  switch (Below(chance_, 20)) {
    case 0:
      return Create(table);
    case 1:
      return Read(table);
    case 2:
      return Resign(table);
    case 3:
    case 4:
    case 5:
      return Repeat(table);
    case 6:
    case 7:
    case 8:
      return Join(table);
    default:
      return Move(table);
  }
}

void Player::Create(Table& table) {
  Send(table, &v1::GameService::Stub::CreateGame, table.wish, {.command = "create", .event = "created", .only = 1},
       [&](const ObservedCall& call, const v1::CreateGameResponse& response) {
         table.Saw(response.game());
         absl::MutexLock lock(&table.mutex);
         TestGame& game = table.game;
         std::vector<std::string> tokens(response.seat_tokens().begin(), response.seat_tokens().end());
         for (size_t i = 0; i < game.tokens.size() && i < tokens.size(); ++i) {
           if (tokens[i].empty()) tokens[i] = game.tokens[i];
         }
         std::vector<ObservedCall> calls = AcceptedAndRead(call, 1, response.game());
         if (!game.owner.empty() && (game.id != response.game().game_id() || game.owner != response.owner_token())) {
           calls[0].event = "created as another game";
         }
         game.id = response.game().game_id();
         game.owner = response.owner_token();
         game.tokens = std::move(tokens);
         return calls;
       });
}

void Player::Move(Table& table) {
  const v1::Game now = table.Latest();
  const TestGame secrets = table.Secrets();
  const v1::Position& position = now.position();
  if (now.state() != v1::GAME_STATE_ACTIVE) return;
  v1::SubmitMoveRequest request;
  request.set_game_id(secrets.id);
  // Now and then a seat out of turn, or a version that is not the current one.
  const v1::Color seat = Below(chance_, 10) == 0 ? v1::COLOR_WHITE : position.turn();
  request.set_seat_token(secrets.TokenOf(seat));
  // Few different moves, so that the same command comes from several players.
  request.set_move(position.legal_moves(static_cast<int>(Below(chance_, std::min(2, position.legal_moves_size())))));
  request.set_expected_version(now.version() + (Below(chance_, 15) == 0 ? 1 : 0));
  if (request.seat_token().empty()) return;
  // Whoever looks next, wherever, must see it.
  if (Submit(table, request) && Below(chance_, 3) == 0) Read(table);
}

void Player::Repeat(Table& table) {
  v1::SubmitMoveRequest request;
  {
    absl::MutexLock lock(&table.mutex);
    if (table.sent.empty()) return;
    // Old ones and the newest.
    const size_t back = 1 + Below(chance_, std::min<size_t>(table.sent.size(), Below(chance_, 2) == 0 ? 2 : 1000));
    request = table.sent[table.sent.size() - back];
  }
  Submit(table, request);
}

bool Player::Submit(Table& table, const v1::SubmitMoveRequest& request) {
  const TestGame secrets = table.Secrets();
  const auto seat = std::find(secrets.tokens.begin(), secrets.tokens.end(), request.seat_token());
  const auto color = static_cast<v1::Color>(seat - secrets.tokens.begin() + 1);
  const std::string words = std::string("moved ") + Letter(color) + " " + request.move();
  // A move can only become the version after the one that it was chosen at.
  const ObservedCall blank{.command = words + " at " + std::to_string(request.expected_version()),
                           .event = words,
                           .only = request.expected_version() + 1};
  return Send(table, &v1::GameService::Stub::SubmitMove, request, blank,
              [&](const ObservedCall& call, const v1::SubmitMoveResponse& response) {
                const v1::GameEvent& event = response.event();
                std::vector<ObservedCall> calls = AcceptedAs(call, event);
                if (event.version() != call.only) calls[0].event = "another version's event";
                absl::MutexLock lock(&table.mutex);
                table.sent.push_back(request);
                if (event.version() > table.latest.version()) {
                  table.latest.set_version(event.version());
                  table.latest.set_state(event.state());
                  *table.latest.mutable_position() = event.position();
                }
                return calls;
              });
}

void Player::Read(Table& table) {
  v1::GetGameRequest request;
  request.set_game_id(table.Id());
  if (request.game_id().empty()) return;
  Send(table, &v1::GameService::Stub::GetGame, request, {},
       [&](ObservedCall call, const v1::GetGameResponse& response) {
         table.Saw(response.game());
         call.outcome = Outcome::kRead;
         call.version = response.game().version();
         call.state = StateInWords(response.game());
         return std::vector{call};
       });
}

void Player::Join(Table& table) {
  const v1::Game now = table.Latest();
  v1::JoinGameRequest request;
  request.set_game_id(now.game_id());
  const size_t seat = Below(chance_, static_cast<size_t>(now.seats_size()));
  request.set_color(static_cast<v1::Color>(seat + 1));
  // Most ask for what is open; some again for what they, or others, have.
  const bool open =
      now.state() == v1::GAME_STATE_WAITING && now.seats(static_cast<int>(seat)).kind() == v1::SEAT_KIND_OPEN;
  if (!open && Below(chance_, 4) != 0) return;
  // Few names, so that some of them come again.
  request.set_request_id("request-to-join-number-" + std::to_string(seat * 2 + Below(chance_, 2)));
  const std::string words = std::string("joined ") + Letter(request.color());
  Send(table, &v1::GameService::Stub::JoinGame, request, {.command = request.request_id(), .event = words},
       [&](const ObservedCall& call, const v1::JoinGameResponse& response) {
         table.Saw(response.game());
         absl::MutexLock lock(&table.mutex);
         table.game.tokens[seat] = response.seat_token();
         // Which version the join is, the log will tell.
         return AcceptedAndRead(call, 0, response.game());
       });
}

void Player::Resign(Table& table) {
  if (Below(chance_, 6) != 0) return;
  const TestGame secrets = table.Secrets();
  const size_t seat = Below(chance_, secrets.tokens.size());
  if (secrets.tokens[seat].empty()) return;
  v1::ResignGameRequest request;
  request.set_game_id(secrets.id);
  request.set_seat_token(secrets.tokens[seat]);
  const std::string words = std::string("resigned ") + Letter(static_cast<v1::Color>(seat + 1));
  Send(table, &v1::GameService::Stub::ResignGame, request, {.command = words, .event = words},
       [](const ObservedCall& call, const v1::ResignGameResponse& response) {
         return AcceptedAs(call, response.event());
       });
}

void Player::Abort(Table& table) {
  const TestGame secrets = table.Secrets();
  v1::AbortGameRequest request;
  request.set_game_id(secrets.id);
  request.set_owner_token(secrets.owner);
  Send(table, &v1::GameService::Stub::AbortGame, request, {.command = "abort", .event = "aborted"},
       [](const ObservedCall& call, const v1::AbortGameResponse& response) {
         return AcceptedAs(call, response.event());
       });
}

void Player::List() {
  v1::ListGamesRequest request;
  request.set_state(static_cast<v1::GameState>(Below(chance_, v1::GameState_ARRAYSIZE)));
  if (Below(chance_, 2) == 0) request.set_variant(static_cast<v1::Variant>(Below(chance_, v1::Variant_ARRAYSIZE)));
  // Often so few that games come and change between the pages.
  request.set_page_size(static_cast<int>(Below(chance_, Below(chance_, 2) == 0 ? 5 : 60)));
  // Mostly the newest ones; now and then all.
  const bool all = Below(chance_, 4) == 0;
  lists_.push_back(Walk(request, all ? hall_.size() : 1 + Below(chance_, 3)));
}

ListRecord Player::Walk(const v1::ListGamesRequest& first, size_t pages) {
  const auto begun = std::chrono::duration_cast<std::chrono::milliseconds>(hall_.begun().time_since_epoch());
  ListRecord list;
  list.request = first;
  v1::ListGamesRequest request = first;
  do {
    const auto page = Insist(&v1::GameService::Stub::ListGames, request,
                             [&](const Try<v1::ListGamesResponse>& tried) { ++list.answers[tried.end()]; });
    if (page.unknown()) ++list.answers[kNoAnswer];
    list.longest_page = std::max(list.longest_page, page.response.games_size());
    for (const v1::Game& game : page.response.games()) {
      list.games.push_back(AsListed(game, page.answered));
      if (list.games.back().created_ms >= begun.count()) continue;
      list.games.pop_back();
      return list;
    }
    request.set_page_token(page.response.next_page_token());
  } while (!request.page_token().empty() && --pages > 0);
  return list;
}

}  // namespace reversi::e2e
