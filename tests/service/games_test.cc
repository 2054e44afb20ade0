// All games together: lists, retention, limits, deadlines, under a clock that the test moves.
#include "service/games.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/service/fake_clock.h"
#include "tests/service/scripted_store.h"

namespace reversi {
namespace {

class GamesTest : public testing::Test {
 protected:
  GamesTest() : tokens_({std::string(32, 'k')}) { Make({absl::Hours(1), absl::Hours(2), absl::Hours(3)}, 1000); }

  void Make(Retention retention, uint64_t limit) {
    games_ = std::make_unique<Games>(store_, tokens_, clock_, metrics_, retention, GameLimits{limit, 256});
  }

  static CreateWish Creation(bool open = false) {
    CreateWish wish;
    wish.start.rules = std::get<Rules>(MakeRules({}));
    wish.start.seats.resize(4);
    wish.start.seats[3].open = open;
    return wish;
  }

  std::optional<Reason> Create(const std::string& id, CreateWish wish) {
    std::optional<Reason> reason;
    bool answered = false;
    games_->Create(id, std::move(wish), nullptr, [&](Answer answer, const std::shared_ptr<Game>&) {
      answered = true;
      if (const auto* error = std::get_if<Error>(&answer)) reason = error->reason;
    });
    EXPECT_TRUE(answered);
    return reason;
  }

  void Abort(const std::string& id) {
    const auto game = games_->Find(id);
    auto proposal = std::make_unique<Proposal>();
    proposal->wish = AbortWish{tokens_.OwnerToken(id, game->Read()->record.nonce())};
    proposal->answer = [](Answer answer) { EXPECT_TRUE(std::holds_alternative<Accepted>(answer)); };
    game->Submit(std::move(proposal));
  }

  void SweepAll() {
    for (int i = 0; i < Games::kSweepCalls; ++i) games_->Sweep();
  }

  std::vector<std::string> ListAll(int page_size, Games::Filter filter = {}) {
    std::vector<std::string> ids;
    std::string token;
    do {
      auto listed = games_->List(page_size, token, filter);
      auto& page = std::get<Games::Page>(listed);
      EXPECT_LE(page.games.size(), static_cast<size_t>(page_size));
      for (const Games::Current& one : page.games) ids.emplace_back(one.game->id());
      token = page.next_page_token;
    } while (!token.empty());
    return ids;
  }

  FakeClock clock_;
  ScriptedStore store_;
  Tokens tokens_;
  Metrics metrics_;
  std::unique_ptr<Games> games_;
};

TEST_F(GamesTest, ListsNewestFirstWhateverThePageSize) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < 10; ++i) {
    const std::string id = "game-" + std::to_string(i);
    EXPECT_EQ(Create(id, Creation()), std::nullopt);
    newest_first.insert(newest_first.begin(), id);
    clock_.Advance(absl::Milliseconds(1));
  }
  CreateWish unlisted = Creation();
  unlisted.start.unlisted = true;
  Create("hidden", std::move(unlisted));
  for (int page_size : {1, 3, 10, 1000}) EXPECT_EQ(ListAll(page_size), newest_first) << page_size;
}

TEST_F(GamesTest, GamesOfOneInstantAreListedOnceEach) {
  std::set<std::string> ids;
  for (int i = 0; i < 10; ++i) ids.insert("game-" + std::to_string(i));
  for (const std::string& id : ids) Create(id, Creation());
  const std::vector<std::string> listed = ListAll(3);
  EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), ids);
  EXPECT_EQ(listed.size(), ids.size());
}

TEST_F(GamesTest, FiltersByStateAndVariant) {
  Create("waiting", Creation(true));
  Create("active", Creation());
  Create("finished", Creation());
  Abort("finished");
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ListAll(50, {GameState::kWaiting, {}}), Ids{"waiting"});
  EXPECT_EQ(ListAll(50, {GameState::kActive, {}}), Ids{"active"});
  EXPECT_EQ(ListAll(50, {GameState::kFinished, {}}), Ids{"finished"});
  EXPECT_EQ(ListAll(50, {{}, Variant::kMultiplayer}).size(), 3u);
  EXPECT_EQ(ListAll(50, {{}, Variant::kRoyal}), Ids{});
}

TEST_F(GamesTest, ForgedPageTokensAreRefused) {
  for (const char* token : {"x", "!!!!", "MTIz", "MTIzL2EvYg", "L2E"}) {
    const auto listed = games_->List(10, token, {});
    ASSERT_TRUE(std::holds_alternative<Error>(listed)) << token;
    EXPECT_EQ(std::get<Error>(listed).reason, Reason::kMalformedRequest);
    EXPECT_EQ(std::get<Error>(listed).field, "page_token");
  }
}

TEST_F(GamesTest, EachKindOfGameIsDroppedAfterItsOwnLimit) {
  Create("waiting", Creation(true));
  Create("active", Creation());
  Create("finished", Creation());
  Abort("finished");
  const auto present = [&] {
    SweepAll();
    std::string all;
    for (const char* id : {"waiting", "active", "finished"}) all += games_->Find(id) == nullptr ? "-" : "x";
    return all;
  };
  clock_.Advance(absl::Minutes(59));
  EXPECT_EQ(present(), "xxx");
  clock_.Advance(absl::Minutes(1));
  EXPECT_EQ(present(), "xx-");
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(present(), "-x-");
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(present(), "---");
  EXPECT_EQ(games_->count(), 0u);
  EXPECT_TRUE(ListAll(50).empty());
  store_.Get("active", [](bool, Stored stored) { EXPECT_EQ(stored.version, 0u); });
}

TEST_F(GamesTest, AGameThatWasNotFinishedTellsItsWatchersThatItExpired) {
  Create("active", Creation());
  const auto game = games_->Find("active");
  clock_.Advance(absl::Hours(3));
  SweepAll();
  EXPECT_EQ(games_->Find("active"), nullptr);
  const Snapshot last = *game->Read();
  EXPECT_EQ(last.table.version, 2u);
  EXPECT_EQ(last.table.reason, EndReason::kExpired);
}

TEST_F(GamesTest, AFinishedGameThatNobodyHoldsIsLeftToTheStore) {
  CreateWish wish = Creation();
  wish.start.request = "request";
  const std::string id = tokens_.GameIds("request").front();
  Make({absl::Hours(1), absl::Hours(2), absl::Hours(3)}, 2);
  Create(id, wish);
  Create("active", Creation());
  Abort(id);
  const std::weak_ptr<Game> finished = games_->Find(id);
  const std::weak_ptr<Game> active = games_->Find("active");
  {
    const auto held = games_->Find(id);
    SweepAll();
    EXPECT_EQ(games_->Find(id), held);
  }
  const Snapshot before = *games_->Find(id)->Read();
  SweepAll();
  EXPECT_TRUE(finished.expired());
  EXPECT_FALSE(active.expired());
  // Whoever asks gets it as it was.
  const auto again = games_->Find(id);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->state(), GameState::kFinished);
  EXPECT_EQ(again->time_ms(), absl::ToUnixMillis(before.table.time));
  const Snapshot after = *again->Read();
  EXPECT_TRUE(after.record.Continues(before.record) && before.record.Continues(after.record));
  EXPECT_EQ(after.table.position, before.table.position);
  EXPECT_EQ(after.table.version, before.table.version);
  EXPECT_EQ(after.table.reason, EndReason::kAborted);
  EXPECT_EQ(again->EventsFrom(1).bytes.size(), 2u);
  EXPECT_TRUE(again->EventsFrom(1).end);
  // It takes its place, its id and its request as before.
  EXPECT_EQ(games_->count(), 2u);
  EXPECT_EQ(Create("third", Creation()), Reason::kTooManyGames);
  EXPECT_EQ(Create(id, Creation()), Reason::kGameIdTaken);
  EXPECT_EQ(games_->MadeBy("request"), id);
  EXPECT_EQ(Create("other", wish), std::nullopt);
  EXPECT_EQ(games_->count(), 2u);
  EXPECT_EQ(ListAll(50).size(), 2u);
  EXPECT_EQ(ListAll(50, {GameState::kFinished, {}}), std::vector<std::string>{id});
  clock_.Advance(absl::Hours(1));
  SweepAll();
  EXPECT_EQ(games_->Find(id), nullptr);
  EXPECT_EQ(games_->count(), 1u);
  EXPECT_EQ(ListAll(50), std::vector<std::string>{"active"});
  store_.Get(id, [](bool, Stored stored) { EXPECT_EQ(stored.version, 0u); });
}

TEST_F(GamesTest, AChosenIdFindsItsRequestAfterTheGameIsLeftToTheStore) {
  CreateWish wish = Creation();
  wish.start.request = "request";
  Create("chosen", wish);
  Abort("chosen");
  SweepAll();
  EXPECT_EQ(games_->MadeBy("request"), "chosen");
  EXPECT_EQ(Create("chosen", wish), std::nullopt) << "the same request again";
  clock_.Advance(absl::Hours(1));
  SweepAll();
  EXPECT_EQ(games_->MadeBy("request"), std::nullopt);
  EXPECT_EQ(games_->count(), 0u);
}

TEST_F(GamesTest, ZeroKeepsForEver) {
  Make({absl::ZeroDuration(), absl::ZeroDuration(), absl::ZeroDuration()}, 10);
  Create("active", Creation());
  Create("finished", Creation());
  Abort("finished");
  clock_.Advance(absl::Hours(1'000'000));
  SweepAll();
  EXPECT_NE(games_->Find("active"), nullptr);
  EXPECT_NE(games_->Find("finished"), nullptr);
}

TEST_F(GamesTest, ARunningTurnLimitIsNotIdleness) {
  CreateWish timed = Creation();
  timed.start.turn_limit = absl::Hours(24 * 30);
  Create("timed", std::move(timed));
  clock_.Advance(absl::Hours(24 * 29));
  games_->RunDeadlines();
  SweepAll();
  ASSERT_NE(games_->Find("timed"), nullptr);
  EXPECT_EQ(games_->Find("timed")->version(), 1u);
}

TEST_F(GamesTest, DeadlinesComeUpOneAfterTheOther) {
  CreateWish timed = Creation();
  timed.start.turn_limit = absl::Seconds(5);
  Create("timed", std::move(timed));
  for (uint64_t version = 2; version <= 4; ++version) {
    clock_.Advance(absl::Milliseconds(4999));
    games_->RunDeadlines();
    EXPECT_EQ(games_->Find("timed")->version(), version - 1);
    clock_.Advance(absl::Milliseconds(1));
    games_->RunDeadlines();
    EXPECT_EQ(games_->Find("timed")->version(), version);
  }
  EXPECT_EQ(games_->Find("timed")->state(), GameState::kFinished);
}

TEST_F(GamesTest, TheLimitRefusesAndDroppedGamesMakeRoom) {
  Make({absl::Hours(1), absl::Hours(1), absl::Hours(1)}, 2);
  EXPECT_EQ(Create("one", Creation()), std::nullopt);
  EXPECT_EQ(Create("two", Creation()), std::nullopt);
  EXPECT_EQ(Create("three", Creation()), Reason::kTooManyGames);
  EXPECT_EQ(Create("one", Creation()), Reason::kGameIdTaken);
  CreateWish illegal = Creation();
  illegal.start.opening = {{Move::Kind::kPlace, {0, 0}, 0}};
  EXPECT_EQ(Create("three", std::move(illegal)), Reason::kIllegalMove);
  clock_.Advance(absl::Hours(1));
  SweepAll();
  EXPECT_EQ(Create("three", Creation()), std::nullopt);
}

TEST_F(GamesTest, ACreationThatFailsLeavesNothingBehind) {
  CreateWish illegal = Creation();
  illegal.start.opening = {{Move::Kind::kPlace, {0, 0}, 0}};
  EXPECT_EQ(Create("game", std::move(illegal)), Reason::kIllegalMove);
  EXPECT_EQ(games_->Find("game"), nullptr);
  EXPECT_EQ(games_->count(), 0u);
  EXPECT_EQ(Create("game", Creation()), std::nullopt);
}

TEST_F(GamesTest, ARequestFindsItsGameUnderAnyId) {
  CreateWish chosen = Creation();
  chosen.start.request = "first request";
  Create("chosen", std::move(chosen));
  CreateWish derived = Creation();
  derived.start.request = "second request";
  const std::string id = tokens_.GameIds("second request").front();
  Create(id, std::move(derived));
  EXPECT_EQ(games_->MadeBy("first request"), "chosen");
  EXPECT_EQ(games_->MadeBy("second request"), id);
  EXPECT_EQ(games_->MadeBy("third request"), std::nullopt);
  clock_.Advance(absl::Hours(3));
  SweepAll();
  EXPECT_EQ(games_->MadeBy("first request"), std::nullopt);
  EXPECT_EQ(games_->MadeBy("second request"), std::nullopt);
}

TEST_F(GamesTest, ARequestFindsItsGameAfterAChangeOfKeys) {
  CreateWish wish = Creation();
  wish.start.request = "request";
  CreateWish retry = wish;
  const Tokens old_key({std::string(32, 'k')});
  const Tokens both({std::string(32, 'n'), std::string(32, 'k')});
  games_ = std::make_unique<Games>(store_, both, clock_, metrics_, Retention{}, GameLimits{10, 16});
  const std::string id = old_key.GameIds("request").front();
  ASSERT_NE(id, both.GameIds("request").front());
  EXPECT_EQ(Create(id, std::move(wish)), std::nullopt);
  EXPECT_EQ(Create(both.GameIds("request").front(), std::move(retry)), std::nullopt);
  EXPECT_EQ(games_->count(), 1u);
}

TEST_F(GamesTest, OneRequestUnderTwoIdsAtATimeMakesOneGame) {
  const auto wish = [](const char* body) {
    CreateWish one = Creation();
    one.start.request = "request";
    one.start.body = body;
    return one;
  };
  store_.Hold();
  std::vector<std::optional<Reason>> answers;
  const auto create = [&](const char* id) {
    games_->Create(id, wish(id), nullptr, [&](Answer answer, const std::shared_ptr<Game>&) {
      const auto* error = std::get_if<Error>(&answer);
      answers.push_back(error == nullptr ? std::nullopt : std::optional(error->reason));
    });
  };
  create("first");
  create("second");
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0], Reason::kMalformedRequest);
  create("first");
  store_.LetGo();
  EXPECT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[1], std::nullopt);
  EXPECT_EQ(answers[2], std::nullopt);
  EXPECT_EQ(games_->count(), 1u);
  // Afterwards as ever; and a creation that failed leaves the request free.
  EXPECT_EQ(Create("second", wish("second")), Reason::kMalformedRequest);
  CreateWish illegal = Creation();
  illegal.start.request = "another";
  illegal.start.opening = {{Move::Kind::kPlace, {0, 0}, 0}};
  EXPECT_EQ(Create("third", std::move(illegal)), Reason::kIllegalMove);
  CreateWish legal = Creation();
  legal.start.request = "another";
  EXPECT_EQ(Create("fourth", std::move(legal)), std::nullopt);
}

TEST_F(GamesTest, AStoreThatFailsToDeleteIsAskedAgain) {
  Create("finished", Creation());
  Abort("finished");
  // Somebody else's record stands there: not ours to delete.
  store_.Delete("finished", 2, [](PutResult) {});
  clock_.Advance(absl::Hours(1));
  SweepAll();
  EXPECT_EQ(games_->Find("finished"), nullptr);
}

}  // namespace
}  // namespace reversi
