#include "tests/e2e/concurrent_play.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <set>
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

std::vector<ListRecord> Play(Player player, const PlaySize& size) {
  for (int i = 0; i < size.calls || (size.more && size.more()); ++i) {
    player.Call();
    std::this_thread::sleep_for(size.pause);
  }
  return player.TakeLists();
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

bool IsMade(Table& table) { return !table.Secrets().owner.empty(); }

// Reads the game's log, through every server.
GameRecord Finish(std::vector<std::unique_ptr<Caller>>& callers, Hall& hall, Table& table) {
  GameRecord record;
  record.id = table.Id();
  record.unlisted = table.wish.unlisted();
  if (IsMade(table)) {
    record.log = ReadLog(*callers.front(), record.id, hall);
    for (auto& caller : callers) record.one_log = record.one_log && ReadLog(*caller, record.id, hall) == record.log;
  }
  absl::MutexLock lock(&table.mutex);
  record.calls = table.calls;
  record.answers = table.answers;
  return record;
}

// How every game must show in this list, as the service says when it is asked for the game itself.
std::map<std::string, ListRecord::Due> Due(const v1::ListGamesRequest& request, Player& player, Hall& hall) {
  std::map<std::string, ListRecord::Due> due;
  for (size_t i = 0; i < hall.size(); ++i) {
    Table& table = hall.at(i);
    if (!IsMade(table) || table.wish.unlisted()) continue;
    if (!table.Over()) player.Read(table);
    const v1::Game now = table.Latest();
    due[table.Id()] = {now.version(), Matches(request, now.state(), now.rules().variant())};
  }
  return due;
}

// What every server lists when nobody plays any more, by all that may be asked for. It may take a while until one has
// heard of everything.
void ListAtRest(const std::vector<std::string>& addresses, Player& player, Hall& hall, Chance& chance,
                std::vector<ListRecord>& lists) {
  std::vector<v1::ListGamesRequest> requests(1);
  for (int state = 1; state < v1::GameState_ARRAYSIZE; ++state) {
    requests.emplace_back().set_state(static_cast<v1::GameState>(state));
  }
  for (int variant = 1; variant < v1::Variant_ARRAYSIZE; ++variant) {
    requests.emplace_back().set_variant(static_cast<v1::Variant>(variant));
  }
  for (const std::string& address : addresses) {
    Player here({address}, chance(), hall);
    const auto begin = std::chrono::steady_clock::now();
    for (v1::ListGamesRequest& request : requests) {
      request.set_page_size(static_cast<int>(20 + Below(chance, 1000)));
      for (;;) {
        const auto due = Due(request, player, hall);
        ListRecord list = here.Walk(request, hall.size());
        list.due = due;
        const bool right = NotAtRest(list).empty();
        const bool late = std::chrono::steady_clock::now() - begin >= hall.patience();
        if (right || late) lists.push_back(std::move(list));
        if (right) break;
        if (late) return hall.LosePatience();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
  }
}

// Adds what the lists showed of each game, as calls that read; and the games that they showed although there are none.
void AddListed(const std::vector<ListRecord>& lists, Caller& caller, std::vector<GameRecord>& records) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < records.size(); ++i) places[records[i].id] = i;
  std::set<std::string> others;
  for (const ListRecord& list : lists) {
    for (const ListedGame& game : list.games) {
      auto found = places.find(game.id);
      if (found == places.end() && others.insert(game.id).second) {
        v1::GetGameRequest request;
        request.set_game_id(game.id);
        if (caller.Call(request).status.error_code() != grpc::StatusCode::NOT_FOUND) continue;
        found = places.try_emplace(game.id, records.size()).first;
        records.emplace_back().id = game.id;
      }
      if (found == places.end()) continue;
      // It may be late.
      records[found->second].calls.push_back({.version = game.version, .answered = game.answered, .state = game.words});
    }
  }
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
  if (number % 5 == 3) wish.mutable_rules()->set_variant(v1::VARIANT_ROLIT);
  wish.set_unlisted(number % 7 == 1);
  if (number % 2 == 0) {
    for (uint32_t i = 0; i < wish.rules().players(); ++i) {
      wish.add_seats()->set_kind(Below(chance, 2) == 0 ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
    }
  }
  return wish;
}

}  // namespace

History PlayConcurrently(const std::vector<std::string>& addresses, uint64_t seed, const PlaySize& size,
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
  std::vector<std::vector<ListRecord>> listed(static_cast<size_t>(size.players));
  std::vector<std::jthread> players;
  for (std::vector<ListRecord>& mine : listed) {
    players.emplace_back([&, luck = chance()] {
      mine = Play(Player(cut_ways, luck, hall), size);
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
  History history;
  for (std::vector<ListRecord>& lists : listed) {
    std::move(lists.begin(), lists.end(), std::back_inserter(history.lists));
  }
  Player last(addresses, chance(), hall);
  ListAtRest(addresses, last, hall, chance, history.lists);
  for (size_t i = 0; i < hall.size(); ++i) {
    if (IsMade(hall.at(i))) last.Abort(hall.at(i));
  }
  ListAtRest(addresses, last, hall, chance, history.lists);
  std::vector<std::unique_ptr<Caller>> callers;
  for (const std::string& address : addresses) callers.push_back(std::make_unique<Caller>(address));
  std::vector<GameRecord>& records = history.games;
  for (size_t i = 0; i < hall.size(); ++i) records.push_back(Finish(callers, hall, hall.at(i)));
  std::vector<WatchStand::Seen> seen = stand.Finish(hall.patience());
  for (size_t i = 0; i < hall.size(); ++i) {
    records[i].watches = std::move(seen[i].watches);
    records[i].calls.insert(records[i].calls.end(), seen[i].calls.begin(), seen[i].calls.end());
    SetVersions(records[i]);
  }
  AddListed(history.lists, *callers.front(), records);
  return history;
}

namespace {

// Whether a status may be seen by somebody whose connection is cut and who cancels, beside OK and refusals.
bool MayEndWith(int code) {
  return code == grpc::StatusCode::OK || code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED;
}

// Refusals that nobody here has given a reason for.
const std::vector<std::string> kNeverDeserved = {"BAD_SQUARE",        "BAD_TOKEN",      "GAME_ID_TAKEN",
                                                 "MALFORMED_REQUEST", "TOO_MANY_GAMES", "UNSUPPORTED_RULES"};

std::vector<std::string> StrangeEnds(const std::map<std::string, uint64_t>& answers,
                                     const std::vector<WatchRecord>& watches) {
  std::vector<std::string> faults;
  for (const auto& [end, times] : answers) {
    const bool strange = end.rfind("code ", 0) == 0 ? !MayEndWith(std::stoi(end.substr(5)))
                                                    : std::count(kNeverDeserved.begin(), kNeverDeserved.end(), end) > 0;
    if (strange || end == kNoAnswer) faults.push_back(std::to_string(times) + " calls ended with " + end);
  }
  for (const WatchRecord& watch : watches) {
    // There was no game yet.
    if (watch.end.error_code() == grpc::StatusCode::NOT_FOUND && watch.messages.empty()) continue;
    if (!MayEndWith(watch.end.error_code())) faults.push_back("a watch ended with " + Describe(watch.end));
  }
  return faults;
}

}  // namespace

std::vector<std::string> Faults(const History& history) {
  std::vector<std::string> faults;
  const auto add = [&](const std::string& whose, const std::vector<std::string>& more) {
    for (const std::string& fault : more) faults.push_back(whose + fault);
  };
  for (const GameRecord& record : history.games) {
    const std::string whose = record.id + " ";
    add(whose, Unlinearizable(record.log, record.calls));
    add(whose, BrokenPromises(record.watches, record.log.size()));
    add(whose, StrangeEnds(record.answers, record.watches));
    if (!record.one_log) faults.push_back(whose + "two servers tell different logs");
  }
  for (const ListRecord& list : history.lists) {
    add("a list: ", BrokenPromises(list));
    add("a list: ", StrangeEnds(list.answers, {}));
  }
  return faults;
}

}  // namespace reversi::e2e
