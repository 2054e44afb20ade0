// ListGames: order, pages, filters, what never shows.
#include <gmock/gmock.h>
#include <google/protobuf/util/time_util.h>

#include <set>

#include "tests/e2e/refusal.h"
#include "tests/e2e/serving_test.h"

namespace reversi::e2e {
namespace {

using google::protobuf::operator<=;
using testing::Contains;
using testing::Not;

class ListTest : public ServingTest {
 protected:
  // All pages, which hold every game once.
  std::vector<v1::Game> All(v1::ListGamesRequest request) {
    std::vector<v1::Game> games;
    std::set<std::string> tokens;
    do {
      const auto answer = caller().Call(request);
      EXPECT_TRUE(answer.ok()) << Describe(answer.status);
      games.insert(games.end(), answer.response.games().begin(), answer.response.games().end());
      request.set_page_token(answer.response.next_page_token());
      EXPECT_TRUE(tokens.insert(request.page_token()).second) << "a page token came twice";
    } while (!request.page_token().empty() && !HasFailure());
    return games;
  }
  // Games of one moment have no order of their own.
  static void ExpectNewestFirst(const std::vector<v1::Game>& games) {
    for (size_t i = 1; i < games.size(); ++i) EXPECT_LE(games[i].create_time(), games[i - 1].create_time());
  }
  static std::vector<std::string> Ids(const std::vector<v1::Game>& games) {
    std::vector<std::string> ids;
    for (const v1::Game& game : games) ids.push_back(game.game_id());
    return ids;
  }
  static TestGame NewOf(v1::Variant variant, bool open = false, bool unlisted = false) {
    v1::CreateGameRequest request;
    request.mutable_rules()->set_variant(variant);
    request.set_unlisted(unlisted);
    if (open) {
      for (int i = 0; i < 4; ++i) request.add_seats()->set_kind(v1::SEAT_KIND_OPEN);
    }
    return NewGame(caller(), request);
  }
};

TEST_F(ListTest, PagesTogetherAreAllGamesNewestFirstEachOnce) {
  std::set<std::string> made;
  for (int i = 0; i < 120; ++i) made.insert(NewOf(v1::VARIANT_MULTIPLAYER).id);
  for (const int size : {0, 1, 7, 119, 120, 121, 1000, 2147483647}) {
    v1::ListGamesRequest request;
    request.set_page_size(size);
    const auto games = All(request);
    ExpectNewestFirst(games);
    const auto ids = Ids(games);
    const std::set<std::string> different(ids.begin(), ids.end());
    EXPECT_EQ(different.size(), ids.size()) << "a game came twice, page size " << size;
    EXPECT_THAT(different, testing::IsSupersetOf(made)) << size;
  }
  v1::ListGamesRequest request;
  EXPECT_EQ(caller().Call(request).response.games_size(), 50);
  request.set_page_size(100);
  EXPECT_EQ(caller().Call(request).response.games_size(), 100);
}

TEST_F(ListTest, GamesMadeBetweenPagesMoveNothingThatIsOnThem) {
  std::set<std::string> made;
  for (int i = 0; i < 20; ++i) made.insert(NewOf(v1::VARIANT_MULTIPLAYER).id);
  v1::ListGamesRequest request;
  request.set_page_size(3);
  std::vector<v1::Game> seen;
  do {
    const auto answer = caller().Call(request);
    ASSERT_TRUE(answer.ok());
    seen.insert(seen.end(), answer.response.games().begin(), answer.response.games().end());
    request.set_page_token(answer.response.next_page_token());
    NewOf(v1::VARIANT_MULTIPLAYER);
  } while (!request.page_token().empty());
  ExpectNewestFirst(seen);
  const auto ids = Ids(seen);
  const std::set<std::string> different(ids.begin(), ids.end());
  EXPECT_EQ(different.size(), ids.size());
  EXPECT_THAT(different, testing::IsSupersetOf(made));
}

TEST_F(ListTest, FiltersByStateAndVariantAndNeverShowsUnlisted) {
  const TestGame waiting = NewOf(v1::VARIANT_MULTIPLAYER, true);
  const TestGame active = NewOf(v1::VARIANT_MULTIPLAYER);
  const TestGame finished = NewOf(v1::VARIANT_STANDARD);
  PlayRandomly(caller(), finished);
  const TestGame royal = NewOf(v1::VARIANT_ROYAL);
  const TestGame unlisted = NewOf(v1::VARIANT_MULTIPLAYER, false, true);
  const auto ids = [&](v1::GameState state, v1::Variant variant) {
    v1::ListGamesRequest request;
    request.set_state(state);
    request.set_variant(variant);
    const auto games = All(request);
    for (const v1::Game& game : games) {
      if (state != v1::GAME_STATE_UNSPECIFIED) {
        EXPECT_EQ(game.state(), state);
      }
      if (variant != v1::VARIANT_UNSPECIFIED) {
        EXPECT_EQ(game.rules().variant(), variant);
      }
      EXPECT_EQ(game.moves_size(), 0);
      EXPECT_FALSE(game.unlisted());
    }
    EXPECT_THAT(Ids(games), Not(Contains(unlisted.id)));
    return Ids(games);
  };
  EXPECT_THAT(ids(v1::GAME_STATE_WAITING, v1::VARIANT_UNSPECIFIED), Contains(waiting.id));
  EXPECT_THAT(ids(v1::GAME_STATE_ACTIVE, v1::VARIANT_UNSPECIFIED),
              testing::AllOf(Contains(active.id), Contains(royal.id)));
  EXPECT_THAT(ids(v1::GAME_STATE_FINISHED, v1::VARIANT_UNSPECIFIED), Contains(finished.id));
  EXPECT_THAT(ids(v1::GAME_STATE_UNSPECIFIED, v1::VARIANT_ROYAL), testing::ElementsAre(royal.id));
  EXPECT_THAT(ids(v1::GAME_STATE_FINISHED, v1::VARIANT_ROYAL), testing::IsEmpty());
  EXPECT_THAT(ids(v1::GAME_STATE_FINISHED, v1::VARIANT_STANDARD), testing::ElementsAre(finished.id));
  // An unlisted game is there for who knows its id.
  EXPECT_EQ(caller().Get(unlisted.id).game_id(), unlisted.id);
}

TEST_F(ListTest, ListedGameIsTheGameWithoutItsMoves) {
  const TestGame game = NewOf(v1::VARIANT_ROLIT);
  PlayRandomly(caller(), game, 9);
  v1::ListGamesRequest request;
  request.set_variant(v1::VARIANT_ROLIT);
  const auto games = All(request);
  ASSERT_EQ(games.size(), 1u);
  v1::Game whole = caller().Get(game.id);
  EXPECT_EQ(whole.moves_size(), 9);
  whole.clear_moves();
  EXPECT_TRUE(Same(games[0], whole)) << games[0].ShortDebugString() << "\n" << whole.ShortDebugString();
}

TEST_F(ListTest, WrongRequestsAreRefused) {
  NewOf(v1::VARIANT_MULTIPLAYER);
  NewOf(v1::VARIANT_MULTIPLAYER);
  v1::ListGamesRequest request;
  for (const int size : {-1, -2147483647 - 1}) {
    request.set_page_size(size);
    EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "page_size"));
  }
  request.set_page_size(1);
  const std::string good = caller().Call(request).response.next_page_token();
  ASSERT_FALSE(good.empty());
  using namespace std::string_literals;
  for (const std::string& token : {"x"s, "0"s, "-1"s, good + "!", "\0"s, std::string(1 << 20, 'a'), "é"s}) {
    request.set_page_token(token);
    EXPECT_TRUE(Refused(caller().Call(request), "MALFORMED_REQUEST", "page_token")) << token.substr(0, 50);
  }
  for (const int number : {-1, 4, 99}) {
    v1::ListGamesRequest state;
    state.set_state(static_cast<v1::GameState>(number));
    EXPECT_TRUE(Refused(caller().Call(state), "MALFORMED_REQUEST", "state"));
  }
  for (const int number : {-1, 5, 99}) {
    v1::ListGamesRequest variant;
    variant.set_variant(static_cast<v1::Variant>(number));
    EXPECT_TRUE(Refused(caller().Call(variant), "MALFORMED_REQUEST", "variant"));
  }
}

}  // namespace
}  // namespace reversi::e2e
