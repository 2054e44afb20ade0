#include "tests/e2e/concurrent_play.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "tests/e2e/api_client.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/tcp_relay.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/watch_stand.h"
#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

using Outcome = ObservedCall::Outcome;

// One game, as all players share it.
struct Table {
  v1::CreateGameRequest wish;
  absl::Mutex mutex;
  TestGame game ABSL_GUARDED_BY(mutex);
  v1::Game latest ABSL_GUARDED_BY(mutex);  // the newest state that anybody saw
  std::vector<v1::SubmitMoveRequest> sent ABSL_GUARDED_BY(mutex);
  std::vector<ObservedCall> calls ABSL_GUARDED_BY(mutex);
  std::map<std::string, uint64_t> answers ABSL_GUARDED_BY(mutex);

  void Saw(const v1::Game& now) {
    absl::MutexLock lock(&mutex);
    if (now.version() > latest.version()) latest = now;
  }
  v1::Game Latest() {
    absl::MutexLock lock(&mutex);
    return latest;
  }
  TestGame Secrets() {
    absl::MutexLock lock(&mutex);
    return game;
  }
};

// The counter that orders what everybody saw.
std::atomic<uint64_t> ticks{1};

bool Unknown(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE || status.error_code() == grpc::StatusCode::CANCELLED ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
}

constexpr char kGivenUp[] = "given up";

std::string EndOf(const grpc::Status& status) {
  if (status.ok()) return "OK";
  const std::string reason = Details(status).reason;
  return reason.empty() ? "code " + std::to_string(status.error_code()) : reason;
}

// One player: a connection through the relay, random calls on random games. A call whose outcome is not known is
// sent again until it is.
class Player {
 public:
  Player(const std::string& address, uint64_t seed, std::vector<std::unique_ptr<Table>>& tables)
      : caller_(address), chance_(seed), tables_(tables) {}

  void Create(Table& table);
  void Play(const PlaySize& size);

 private:
  void Call();
  Table& AnyTable() { return *tables_[Below(chance_, tables_.size())]; }
  void Move(Table& table);
  void Repeat(Table& table);
  void Submit(Table& table, const v1::SubmitMoveRequest& request);
  void Read(Table& table);
  void Join(Table& table);
  void Resign(Table& table);

  // Sends until the outcome is known; records every try. `accept` fills in what an OK tells.
  template <class Request, class Response, class Accept>
  void Send(Table& table,
            grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
            const Request& request, const std::string& command, const std::string& event, Accept accept);

  Caller caller_;
  Chance chance_;
  std::vector<std::unique_ptr<Table>>& tables_;
};

template <class Request, class Response, class Accept>
void Player::Send(Table& table,
                  grpc::Status (v1::GameService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
                  const Request& request, const std::string& command, const std::string& event, Accept accept) {
  for (bool known = false; !known;) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    // Some tries are given up almost at once: the server may or may not have done it.
    const bool brief = Below(chance_, 8) == 0;
    context.set_deadline(std::chrono::system_clock::now() +
                         (brief ? std::chrono::microseconds(Below(chance_, 1500)) : kPatience));
    ObservedCall call{command, event, Outcome::kUnknown, 0, ticks++, 0};
    Response response;
    const grpc::Status status = (caller_.stub()->*method)(&context, request, &response);
    call.answered = ticks++;
    const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
    // Nobody answers any more: sending again would never end.
    known = !Unknown(status) || (late && !brief);
    std::vector<ObservedCall> calls = {call};
    if (status.ok()) {
      calls = accept(call, response);
    } else if (!Unknown(status)) {
      const ErrorDetails details = Details(status);
      calls[0].outcome = Outcome::kRefused;
      if (const auto at = details.metadata.find("current_version"); at != details.metadata.end()) {
        calls[0].version = std::stoull(at->second);
      }
    }
    absl::MutexLock lock(&table.mutex);
    table.calls.insert(table.calls.end(), calls.begin(), calls.end());
    ++table.answers[late && brief ? kGivenUp : EndOf(status)];
  }
}

// An accepted call, and what its answer tells about the game now.
std::vector<ObservedCall> AcceptedAndRead(ObservedCall call, uint64_t version, uint64_t now) {
  ObservedCall read{"", "", Outcome::kRead, now, call.sent, call.answered};
  call.outcome = Outcome::kAccepted;
  call.version = version;
  return {call, read};
}

void Player::Create(Table& table) {
  Send(table, &v1::GameService::Stub::CreateGame, table.wish, "create", "created",
       [&](const ObservedCall& call, const v1::CreateGameResponse& response) {
         table.Saw(response.game());
         absl::MutexLock lock(&table.mutex);
         table.game.id = response.game().game_id();
         table.game.owner = response.owner_token();
         table.game.tokens.resize(static_cast<size_t>(response.seat_tokens_size()));
         for (int i = 0; i < response.seat_tokens_size(); ++i) {
           if (!response.seat_tokens(i).empty()) table.game.tokens[i] = response.seat_tokens(i);
         }
         return AcceptedAndRead(call, 1, response.game().version());
       });
}

void Player::Play(const PlaySize& size) {
  for (int i = 0; i < size.calls || (size.more && size.more()); ++i) {
    Call();
    std::this_thread::sleep_for(size.pause);
  }
}

void Player::Call() {
  Table& table = AnyTable();
  switch (Below(chance_, 20)) {
    case 0:
      Create(table);
      break;
    case 1:
      Read(table);
      break;
    case 2:
      Resign(table);
      break;
    case 3:
    case 4:
    case 5:
      Repeat(table);
      break;
    case 6:
    case 7:
    case 8:
      Join(table);
      break;
    default:
      Move(table);
      break;
  }
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
  Submit(table, request);
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

void Player::Submit(Table& table, const v1::SubmitMoveRequest& request) {
  const TestGame secrets = table.Secrets();
  const auto seat = std::find(secrets.tokens.begin(), secrets.tokens.end(), request.seat_token());
  const auto color = static_cast<v1::Color>(seat - secrets.tokens.begin() + 1);
  const std::string words = std::string("moved ") + Letter(color) + " " + request.move();
  Send(table, &v1::GameService::Stub::SubmitMove, request, words + " at " + std::to_string(request.expected_version()),
       words, [&](ObservedCall call, const v1::SubmitMoveResponse& response) {
         const v1::GameEvent& event = response.event();
         // A move can only become the version after the one that it was chosen at.
         call.event = event.version() == request.expected_version() + 1 ? InWords(event) : "another version's event";
         call.outcome = Outcome::kAccepted;
         call.version = event.version();
         absl::MutexLock lock(&table.mutex);
         table.sent.push_back(request);
         if (event.version() > table.latest.version()) {
           table.latest.set_version(event.version());
           table.latest.set_state(event.state());
           *table.latest.mutable_position() = event.position();
         }
         return std::vector{call};
       });
}

void Player::Read(Table& table) {
  v1::GetGameRequest request;
  request.set_game_id(table.Secrets().id);
  Send(table, &v1::GameService::Stub::GetGame, request, "", "",
       [&](ObservedCall call, const v1::GetGameResponse& response) {
         table.Saw(response.game());
         call.outcome = Outcome::kRead;
         call.version = response.game().version();
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
  Send(table, &v1::GameService::Stub::JoinGame, request, request.request_id(), words,
       [&](const ObservedCall& call, const v1::JoinGameResponse& response) {
         table.Saw(response.game());
         absl::MutexLock lock(&table.mutex);
         table.game.tokens[seat] = response.seat_token();
         // Which version the join is, the log will tell: see Finish().
         return AcceptedAndRead(call, 0, response.game().version());
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
  Send(table, &v1::GameService::Stub::ResignGame, request, words, words,
       [](ObservedCall call, const v1::ResignGameResponse& response) {
         call.event = InWords(response.event());
         call.outcome = Outcome::kAccepted;
         call.version = response.event().version();
         return std::vector{call};
       });
}

// Plays the game to its end and reads its log.
void Finish(Caller& caller, Table& table, GameRecord& record) {
  const TestGame secrets = table.Secrets();
  record.id = secrets.id;
  v1::AbortGameRequest abort;
  abort.set_game_id(secrets.id);
  abort.set_owner_token(secrets.owner);
  caller.Call(abort);  // refused where the game is over already
  const auto log = caller.Call(WatchAfter(secrets.id, 0));
  for (const v1::WatchGameResponse& message : log.response) record.log.push_back(InWords(message.event()));
  absl::MutexLock lock(&table.mutex);
  record.calls = table.calls;
  record.answers = table.answers;
  if (!record.log.empty() && record.log.back() == "aborted") {
    record.calls.push_back({"abort", "aborted", Outcome::kAccepted, record.log.size(), ticks++, ticks++});
  }
  for (ObservedCall& call : record.calls) {
    if (call.outcome != Outcome::kAccepted || call.version != 0) continue;
    const auto joined = std::find(record.log.begin(), record.log.end(), call.event);
    call.version = static_cast<uint64_t>(joined - record.log.begin()) + 1;
  }
}

v1::CreateGameRequest Wish(Chance& chance, int number) {
  v1::CreateGameRequest wish;
  wish.set_request_id("concurrent-play-" + std::to_string(chance()) + "-" + std::to_string(number));
  wish.mutable_rules()->set_players(number % 3 == 0 ? 3 : 4);
  wish.mutable_rules()->set_board(number % 5 == 0 ? v1::BOARD_OCTAGON : v1::BOARD_8X8);
  if (number % 2 == 0) {
    for (uint32_t i = 0; i < wish.rules().players(); ++i) {
      wish.add_seats()->set_kind(Below(chance, 2) == 0 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
    }
  }
  return wish;
}

}  // namespace

std::vector<GameRecord> PlayConcurrently(const std::vector<std::string>& addresses, uint64_t seed, const PlaySize& size,
                                         const std::function<void(uint64_t step)>& disturb) {
  Chance chance(seed);
  std::vector<std::unique_ptr<Table>> tables;
  for (int i = 0; i < size.games; ++i) {
    tables.push_back(std::make_unique<Table>());
    tables.back()->wish = Wish(chance, i);
    Player(addresses[static_cast<size_t>(i) % addresses.size()], chance(), tables).Create(*tables.back());
  }
  // Two or more ways that are cut now and then, and the straight ones.
  std::vector<std::unique_ptr<TcpRelay>> relays;
  std::vector<std::string> ways = addresses;
  for (size_t i = 0; i < std::max<size_t>(2, addresses.size()); ++i) {
    relays.push_back(std::make_unique<TcpRelay>(addresses[i % addresses.size()]));
    ways.push_back(relays.back()->address());
  }
  std::vector<std::string> games;
  for (const auto& table : tables) games.push_back(table->Secrets().id);
  WatchStand stand(ways, chance(), size.watchers, games);
  std::atomic<int> playing = size.players;
  std::vector<std::jthread> players;
  for (int i = 0; i < size.players; ++i) {
    players.emplace_back([&, by = relays[static_cast<size_t>(i) % relays.size()]->address(), luck = chance()] {
      Player(by, luck, tables).Play(size);
      --playing;
    });
  }
  const uint64_t before = ticks;
  for (uint64_t step = 0; playing > 0;) {
    // In step with the calls: each takes two ticks.
    if (step > (ticks - before) / 2) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      continue;
    }
    stand.Step();
    ++step;
    if (size.cuts && step % 200 == 0) relays[step / 200 % relays.size()]->Cut();
    if (disturb) disturb(step);
  }
  players.clear();
  std::vector<GameRecord> records(tables.size());
  Caller direct(addresses.front());
  for (size_t i = 0; i < tables.size(); ++i) Finish(direct, *tables[i], records[i]);
  std::vector<std::vector<WatchRecord>> watches = stand.Finish();
  for (size_t i = 0; i < records.size(); ++i) records[i].watches = std::move(watches[i]);
  return records;
}

namespace {

// Whether a status may be seen by somebody whose connection is cut and who cancels, beside OK and refusals.
bool MayEndWith(int code) {
  return code == grpc::StatusCode::OK || code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
}

std::vector<std::string> StrangeEnds(const GameRecord& record) {
  std::vector<std::string> faults;
  for (const auto& [end, times] : record.answers) {
    if (end.rfind("code ", 0) == 0 && !MayEndWith(std::stoi(end.substr(5)))) {
      faults.push_back(std::to_string(times) + " calls ended with " + end);
    }
  }
  for (const WatchRecord& watch : record.watches) {
    if (!MayEndWith(watch.end.error_code())) faults.push_back("a watch ended with " + Describe(watch.end));
  }
  return faults;
}

}  // namespace

std::vector<std::string> Faults(const std::vector<GameRecord>& records) {
  std::vector<std::string> faults;
  for (const GameRecord& record : records) {
    for (const std::string& fault : Unlinearizable(record.log, record.calls)) faults.push_back(record.id + " " + fault);
    for (const std::string& fault : BrokenPromises(record.watches, record.log.size())) {
      faults.push_back(record.id + " " + fault);
    }
    for (const std::string& fault : StrangeEnds(record)) faults.push_back(record.id + " " + fault);
  }
  return faults;
}

}  // namespace reversi::e2e
