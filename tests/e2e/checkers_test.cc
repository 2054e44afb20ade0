// The checkers of the end-to-end tests, on histories made by hand: good ones pass, each bad one is found.
#include <gmock/gmock.h>

#include <functional>

#include "tests/e2e/linearizable.h"
#include "tests/e2e/list_promises.h"
#include "tests/e2e/watch_promises.h"

namespace reversi::e2e {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Outcome = ObservedCall::Outcome;

// Black's d3 on a board of four columns and the answer by White, enough for a follower.
v1::Position PositionOf(std::vector<std::string> rows, v1::Color turn, std::vector<std::string> legal,
                        std::vector<uint32_t> discs, uint32_t empty, uint32_t ply) {
  v1::Position position;
  for (const std::string& row : rows) position.add_rows(row);
  position.set_turn(turn);
  for (const std::string& move : legal) position.add_legal_moves(move);
  for (const uint32_t count : discs) position.add_discs(count);
  position.set_empty(empty);
  position.set_ply(ply);
  return position;
}

v1::GameEvent Event(uint64_t version) {
  v1::GameEvent event;
  event.set_version(version);
  event.set_state(v1::GAME_STATE_ACTIVE);
  if (version == 1) {
    event.mutable_created();
    *event.mutable_position() = PositionOf({"WB--", "----"}, v1::COLOR_WHITE, {"c1"}, {1, 1}, 6, 0);
  } else if (version == 2) {
    event.mutable_moved()->set_color(v1::COLOR_WHITE);
    event.mutable_moved()->set_move("c1");
    event.mutable_moved()->add_flipped("b1");
    *event.mutable_position() = PositionOf({"WWW-", "----"}, v1::COLOR_BLACK, {"d1"}, {0, 3}, 5, 1);
    event.mutable_position()->set_placement(true);
  } else {
    event.mutable_moved()->set_color(v1::COLOR_BLACK);
    event.mutable_moved()->set_move("d1");
    *event.mutable_position() = PositionOf({"WWWB", "----"}, v1::COLOR_UNSPECIFIED, {}, {1, 3}, 4, 2);
    event.set_state(v1::GAME_STATE_FINISHED);
    v1::Result& result = *event.mutable_result();
    result.set_reason(v1::RESULT_REASON_COMPLETED);
    result.set_winner(v1::COLOR_WHITE);
    result.add_discs(1);
    result.add_discs(3);
    result.set_empty(4);
  }
  return event;
}

void AddEvent(WatchRecord& record, uint64_t version) {
  *record.messages.emplace_back().mutable_event() = Event(version);
}

void AddHeartbeat(WatchRecord& record, uint64_t version) {
  record.messages.emplace_back().mutable_heartbeat()->set_version(version);
}

void AddSnapshot(WatchRecord& record, uint64_t version) {
  v1::Game& game = *record.messages.emplace_back().mutable_snapshot();
  const v1::GameEvent event = Event(version);
  game.set_version(version);
  game.set_state(event.state());
  *game.mutable_position() = event.position();
}

WatchRecord FromSnapshot() {
  WatchRecord record;
  AddSnapshot(record, 1);
  AddEvent(record, 2);
  AddHeartbeat(record, 2);
  AddEvent(record, 3);
  record.end = grpc::Status::OK;
  return record;
}

TEST(WatchPromises, HoldInGoodRecords) {
  EXPECT_THAT(BrokenPromises(FromSnapshot()), IsEmpty());
  WatchRecord resumed;
  resumed.request.set_after_version(0);
  for (uint64_t v = 1; v <= 3; ++v) AddEvent(resumed, v);
  resumed.end = grpc::Status::OK;
  EXPECT_THAT(BrokenPromises({resumed, FromSnapshot()}, 3), IsEmpty());
  EXPECT_THAT(BrokenPromises(WatchRecord()), IsEmpty());
}

struct BadRecord {
  const char* promise;
  std::function<void(WatchRecord&)> spoil;  // of FromSnapshot()
};

class BadRecords : public testing::TestWithParam<BadRecord> {};

TEST_P(BadRecords, AreFound) {
  WatchRecord record = FromSnapshot();
  GetParam().spoil(record);
  EXPECT_THAT(BrokenPromises({record}, 3), Contains(StartsWith(GetParam().promise)));
}

INSTANTIATE_TEST_SUITE_P(
    WatchPromises, BadRecords,
    testing::Values(
        BadRecord{"ordered", [](WatchRecord& r) { std::swap(r.messages[1], r.messages[3]); }},
        BadRecord{"unique", [](WatchRecord& r) { r.messages.insert(r.messages.begin() + 1, r.messages[1]); }},
        BadRecord{"reliable", [](WatchRecord& r) { r.messages.erase(r.messages.begin() + 1); }},
        BadRecord{"reliable", [](WatchRecord& r) { r.messages.pop_back(); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages.erase(r.messages.begin()); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages.push_back(r.messages[0]); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages.emplace_back(); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages[1].mutable_event()->mutable_moved()->clear_flipped(); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages[1].mutable_event()->mutable_position()->set_ply(7); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages[1].mutable_event()->mutable_position()->set_discs(0, 2); }},
        BadRecord{"atomic", [](WatchRecord& r) { r.messages[3].mutable_event()->clear_result(); }},
        BadRecord{"resumable", [](WatchRecord& r) { r.request.set_after_version(1); }},
        BadRecord{"bookmarkable", [](WatchRecord& r) { r.messages[2].mutable_heartbeat()->set_version(3); }},
        BadRecord{"bookmarkable", [](WatchRecord& r) { r.messages[2].mutable_heartbeat()->set_version(1); }}));

TEST(WatchPromises, TwoWatchesToldDifferentEventsAreFound) {
  WatchRecord other = FromSnapshot();
  other.messages[1].mutable_event()->mutable_time()->set_seconds(1);
  EXPECT_THAT(BrokenPromises({FromSnapshot(), other}, 3), Contains(StartsWith("unique: two events")));
}

// Two games at rest; the list of all that are over leaves the older one out.
ListRecord GoodList() {
  ListRecord list;
  list.longest_page = 1;
  list.request.set_page_size(1);
  list.games = {{.id = "y", .version = 3, .state = v1::GAME_STATE_FINISHED, .variant = v1::VARIANT_ROLIT, .created_ms = 2},
                {.id = "x", .version = 2, .state = v1::GAME_STATE_ACTIVE, .variant = v1::VARIANT_ROLIT, .created_ms = 1}};
  list.due = {{"x", {2, true}}, {"y", {3, true}}};
  return list;
}

ListRecord GoodListOfFinished() {
  ListRecord list = GoodList();
  list.request.set_state(v1::GAME_STATE_FINISHED);
  list.games.pop_back();
  list.due["x"].matches = false;
  return list;
}

TEST(ListPromises, HoldInGoodRecords) {
  EXPECT_THAT(BrokenPromises(GoodList()), IsEmpty());
  EXPECT_THAT(BrokenPromises(GoodListOfFinished()), IsEmpty());
  EXPECT_THAT(BrokenPromises(ListRecord()), IsEmpty());
  // While games are played a list may be late, and hold others' games.
  ListRecord early = GoodList();
  early.due.clear();
  early.games[1].id = "z";
  EXPECT_THAT(BrokenPromises(early), IsEmpty());
}

struct BadList {
  const char* promise;
  std::function<void(ListRecord&)> spoil;  // of GoodListOfFinished()
};

class BadLists : public testing::TestWithParam<BadList> {};

TEST_P(BadLists, AreFound) {
  ListRecord list = GoodListOfFinished();
  GetParam().spoil(list);
  EXPECT_THAT(BrokenPromises(list), Contains(StartsWith(GetParam().promise)));
}

INSTANTIATE_TEST_SUITE_P(
    ListPromises, BadLists,
    testing::Values(BadList{"newest first", [](auto& l) { l.games.insert(l.games.begin(), GoodList().games[1]); }},
                    BadList{"once", [](auto& l) { l.games.push_back(l.games[0]); }},
                    BadList{"what was asked for", [](auto& l) { l.games.push_back(GoodList().games[1]); }},
                    BadList{"what was asked for", [](auto& l) { l.request.set_variant(v1::VARIANT_ROYAL); }},
                    BadList{"no more on a page", [](auto& l) { l.longest_page = 2; }},
                    BadList{"no more on a page", [](auto& l) { l.request.set_page_size(0), l.longest_page = 51; }},
                    BadList{"no unlisted game", [](auto& l) { l.games[0].unlisted = true; }},
                    BadList{"no moves", [](auto& l) { l.games[0].moves = 1; }},
                    BadList{"complete", [](auto& l) { l.games.clear(); }},
                    BadList{"as new as the games", [](auto& l) { l.due["y"].version = 4; }},
                    BadList{"as new as the games", [](auto& l) { l.due["y"].matches = false; }}));

const std::vector<LoggedEvent> kLog = {{"created", "start"}, {"joined W", "full"}, {"moved B d3", "d3 played"}};

// Two callers: one joins (and asks again), one moves while a third reads.
std::vector<ObservedCall> GoodCalls() {
  return {{"create", "created", Outcome::kAccepted, 1, 1, 2, 1},
          {"join x", "joined W", Outcome::kAccepted, 2, 3, 5},
          {"", "", Outcome::kRead, 1, 4, 6, 0, "start"},
          {"join x", "joined W", Outcome::kAccepted, 2, 7, 10},
          {"move B d3 at 2", "moved B d3", Outcome::kAccepted, 3, 8, 11, 3, "d3 played"},
          {"", "", Outcome::kRead, 2, 9, 12, 0, "full"},
          {"move W e3 at 1", "moved W e3", Outcome::kRefused, 3, 13, 14, 2}};
}

TEST(Linearizable, GoodHistoryIsExplained) { EXPECT_THAT(Unlinearizable(kLog, GoodCalls()), IsEmpty()); }

TEST(Linearizable, CutCommandExplainsAnEventThatNobodyWasTold) {
  auto calls = GoodCalls();
  calls[4].outcome = Outcome::kUnknown;
  calls[4].state.clear();
  EXPECT_THAT(Unlinearizable(kLog, calls), IsEmpty());
  calls[4].event = "moved B e6";
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("nobody sent moved B d3")));
}

TEST(Linearizable, CutCommandMayLandLateOrNever) {
  auto calls = GoodCalls();
  // Cut at once, seen long after; and cut at once, with no trace.
  calls[4] = {"move B d3 at 2", "moved B d3", Outcome::kUnknown, 0, 8, 9, 3};
  calls[5].answered = 10, calls[5].sent = 10, calls[3].answered = 12;
  calls.push_back({"join y", "joined R", Outcome::kUnknown, 0, 15, 16});
  calls.push_back({"", "", Outcome::kRead, 3, 17, 18});
  EXPECT_THAT(Unlinearizable(kLog, calls), IsEmpty());
}

TEST(Linearizable, CutCommandExplainsNothingFromBeforeItWasSent) {
  auto calls = GoodCalls();
  calls[4] = {"move B d3 at 2", "moved B d3", Outcome::kUnknown, 0, 15, 16, 3};
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("was sent")));
}

TEST(Linearizable, CutCommandExplainsOnlyTheVersionThatItCanBecome) {
  auto calls = GoodCalls();
  calls[4] = {"move B d3 at 5", "moved B d3", Outcome::kUnknown, 0, 8, 9, 6};
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("nobody sent moved B d3")));
}

TEST(Linearizable, CutCommandThatLandedIsNotRefusedWhenItIsSentAgain) {
  auto calls = GoodCalls();
  calls[4] = {"move B d3 at 2", "moved B d3", Outcome::kUnknown, 0, 8, 9, 3};
  calls.push_back({"move B d3 at 2", "moved B d3", Outcome::kRefused, 3, 15, 16, 3});
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("the retry of an accepted command was refused")));
  // Refused at the version before, it was just not there yet.
  calls.back() = {"move B d3 at 2", "moved B d3", Outcome::kRefused, 2, 9, 10, 3};
  EXPECT_THAT(Unlinearizable(kLog, calls), IsEmpty());
}

TEST(Linearizable, ThereMayBeNoGameUntilItHasBeenSeen) {
  auto calls = GoodCalls();
  calls.push_back({"", "", Outcome::kRead, 0, 1, 20});
  EXPECT_THAT(Unlinearizable(kLog, calls), IsEmpty());
  EXPECT_THAT(Unlinearizable({}, {calls.back()}), IsEmpty());
  calls.back().sent = 4;
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("told an old version")));
}

TEST(Linearizable, WhoOnlyShowsAVersionMayBeLateButNotEarly) {
  auto calls = GoodCalls();
  calls.push_back({"", "", Outcome::kRead, 1, 0, 20});
  EXPECT_THAT(Unlinearizable(kLog, calls), IsEmpty());
  calls.back() = {"", "", Outcome::kRead, 3, 0, 7};
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr("was sent")));
}

struct BadHistory {
  const char* fault;
  std::function<void(std::vector<ObservedCall>&)> spoil;
};

class BadHistories : public testing::TestWithParam<BadHistory> {};

TEST_P(BadHistories, AreFound) {
  auto calls = GoodCalls();
  GetParam().spoil(calls);
  EXPECT_THAT(Unlinearizable(kLog, calls), Contains(HasSubstr(GetParam().fault)));
}

INSTANTIATE_TEST_SUITE_P(
    Linearizable, BadHistories,
    testing::Values(BadHistory{"two commands own one event", [](auto& c) { c[3].command = "join y"; }},
                    BadHistory{"a command became two events",
                               [](auto& c) { c[4] = {"join x", "moved B d3", Outcome::kAccepted, 3, 8, 11}; }},
                    BadHistory{"the answer differs from the log", [](auto& c) { c[4].event = "moved B e6"; }},
                    BadHistory{"another state", [](auto& c) { c[4].state = "e6 played"; }},
                    BadHistory{"another state", [](auto& c) { c[5].state = "start"; }},
                    BadHistory{"not in the log", [](auto& c) { c[5].version = 4; }},
                    BadHistory{"not in the log", [](auto& c) { c[4].version = 4; }},
                    BadHistory{"nobody sent joined W", [](auto& c) { c.erase(c.begin() + 3), c.erase(c.begin() + 1); }},
                    BadHistory{"the retry of an accepted command was refused",
                               [](auto& c) { c[3].outcome = Outcome::kRefused, c[3].version = 0; }},
                    BadHistory{"the retry of an accepted command was refused",
                               [](auto& c) { c[3].outcome = Outcome::kRefused, c[3].version = 2; }},
                    BadHistory{"told an old version", [](auto& c) { c[5].version = 1; }},
                    BadHistory{"told an old version", [](auto& c) { c[6].version = 2; }},
                    BadHistory{"was sent", [](auto& c) { c[2].version = 3; }},
                    BadHistory{"was sent", [](auto& c) {
                                 c[1].sent = 12, c[1].answered = 15, c[3].sent = 16, c[3].answered = 17,
                                 c[5].version = 1;
                               }}));

}  // namespace
}  // namespace reversi::e2e
