#include "tests/e2e/concurrent_play.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

#include "tests/e2e/api_client.h"
#include "tests/e2e/player.h"
#include "tests/e2e/tcp_relay.h"
#include "tests/e2e/watch_promises.h"
#include "tests/e2e/watch_stand.h"
#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

using Outcome = ObservedCall::Outcome;

void Play(Player player, const PlaySize& size) {
  for (int i = 0; i < size.calls || (size.more && size.more()); ++i) {
    player.Call();
    std::this_thread::sleep_for(size.pause);
  }
}

// The log of a game that is over; what has come of it when patience runs out.
std::vector<LoggedEvent> ReadLog(Caller& caller, const std::string& id, Hall& hall) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    Watcher watcher(caller.stub(), WatchAfter(id, 0));
    const bool ended = watcher.AwaitEnd(hall.patience()).ok();
    if (!ended && std::chrono::steady_clock::now() - begin < hall.patience()) continue;
    if (!ended) hall.LosePatience();
    std::vector<LoggedEvent> log;
    for (const v1::WatchGameResponse& message : watcher.Record().messages) {
      log.push_back({InWords(message.event()), StateInWords(message.event())});
    }
    return log;
  }
}

// Ends the game and reads its log, through every server.
GameRecord Finish(Player& player, std::vector<std::unique_ptr<Caller>>& callers, Hall& hall, Table& table) {
  GameRecord record;
  record.id = table.Id();
  if (!table.Secrets().owner.empty()) {
    player.Abort(table);
    record.log = ReadLog(*callers.front(), record.id, hall);
    for (auto& caller : callers) record.one_log = record.one_log && ReadLog(*caller, record.id, hall) == record.log;
  }
  absl::MutexLock lock(&table.mutex);
  record.calls = table.calls;
  record.answers = table.answers;
  return record;
}

// What only the log tells: which version a join is, and which one is the last.
void SetVersions(GameRecord& record) {
  for (ObservedCall& call : record.calls) {
    if (call.version == kLastVersion) call.version = record.log.size();
    if (call.outcome != Outcome::kAccepted || call.version != 0) continue;
    const auto joined = std::find_if(record.log.begin(), record.log.end(),
                                     [&](const LoggedEvent& logged) { return logged.event == call.event; });
    call.version = static_cast<uint64_t>(joined - record.log.begin()) + 1;
  }
}

v1::CreateGameRequest Wish(Chance& chance, int number) {
  v1::CreateGameRequest wish;
  const std::string name = "concurrent-play-" + std::to_string(chance()) + "-" + std::to_string(number);
  wish.set_request_id(name);
  // Of others the server chooses the id.
  if (number % 4 < 2) wish.set_game_id(name);
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
    absl::MutexLock lock(&tables.back()->mutex);
    tables.back()->game.id = tables.back()->wish.game_id();
  }
  Hall hall(std::move(tables), static_cast<size_t>(size.open == 0 ? size.games : size.open), size.patience);
  // Two or more ways that are cut now and then, and the straight ones.
  std::vector<std::unique_ptr<TcpRelay>> relays;
  std::vector<std::string> cut_ways;
  std::vector<std::string> ways = addresses;
  for (size_t i = 0; i < std::max<size_t>(2, addresses.size()); ++i) {
    relays.push_back(std::make_unique<TcpRelay>(addresses[i % addresses.size()]));
    cut_ways.push_back(relays.back()->address());
  }
  ways.insert(ways.end(), cut_ways.begin(), cut_ways.end());
  WatchStand stand(ways, chance(), size.watchers, hall.size(), [&](Chance& luck) {
    const size_t game = hall.Any(luck);
    return std::pair(game, hall.at(game).Id());
  });
  std::atomic<int> playing = size.players;
  std::vector<std::jthread> players;
  for (int i = 0; i < size.players; ++i) {
    players.emplace_back([&, luck = chance()] {
      Play(Player(cut_ways, luck, hall), size);
      --playing;
    });
  }
  for (uint64_t step = 0; playing > 0;) {
    // In step with the calls.
    if (step > hall.tries()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      continue;
    }
    stand.Step();
    ++step;
    if (size.cuts && step % 200 == 0) relays[step / 200 % relays.size()]->Cut();
    if (disturb) disturb(step);
  }
  players.clear();
  std::vector<std::unique_ptr<Caller>> callers;
  for (const std::string& address : addresses) callers.push_back(std::make_unique<Caller>(address));
  Player last(addresses, chance(), hall);
  std::vector<GameRecord> records;
  for (size_t i = 0; i < hall.size(); ++i) records.push_back(Finish(last, callers, hall, hall.at(i)));
  std::vector<WatchStand::Seen> seen = stand.Finish(hall.patience());
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].watches = std::move(seen[i].watches);
    records[i].calls.insert(records[i].calls.end(), seen[i].calls.begin(), seen[i].calls.end());
    SetVersions(records[i]);
  }
  return records;
}

namespace {

// Whether a status may be seen by somebody whose connection is cut and who cancels, beside OK and refusals.
bool MayEndWith(int code) {
  return code == grpc::StatusCode::OK || code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
}

// Refusals that nobody here has given a reason for.
const std::vector<std::string> kNeverDeserved = {"BAD_SQUARE",        "BAD_TOKEN",      "GAME_ID_TAKEN",
                                                 "MALFORMED_REQUEST", "TOO_MANY_GAMES", "UNSUPPORTED_RULES"};

std::vector<std::string> StrangeEnds(const GameRecord& record) {
  std::vector<std::string> faults;
  for (const auto& [end, times] : record.answers) {
    const bool strange = end.rfind("code ", 0) == 0 ? !MayEndWith(std::stoi(end.substr(5)))
                                                    : std::count(kNeverDeserved.begin(), kNeverDeserved.end(), end) > 0;
    if (strange || end == kNoAnswer) faults.push_back(std::to_string(times) + " calls ended with " + end);
  }
  for (const WatchRecord& watch : record.watches) {
    // There was no game yet.
    if (watch.end.error_code() == grpc::StatusCode::NOT_FOUND && watch.messages.empty()) continue;
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
    if (!record.one_log) faults.push_back(record.id + " two servers tell different logs");
  }
  return faults;
}

}  // namespace reversi::e2e
