#include "tests/e2e/list_promises.h"

#include <google/protobuf/util/time_util.h>

#include <set>

#include "tests/e2e/wire_words.h"

namespace reversi::e2e {
namespace {

// What the request's zero stands for.
constexpr int kUsualPage = 50;

std::string InList(const std::string& what, const std::string& id, const ListRecord& list) {
  return what + " (" + id + ", " + list.request.ShortDebugString() + ")";
}

}  // namespace

ListedGame AsListed(const v1::Game& game, uint64_t answered) {
  return {.id = game.game_id(),
          .version = game.version(),
          .state = game.state(),
          .variant = game.rules().variant(),
          .unlisted = game.unlisted(),
          .moves = game.moves_size(),
          .created_ms = google::protobuf::util::TimeUtil::TimestampToMilliseconds(game.create_time()),
          .words = StateInWords(game),
          .answered = answered};
}

bool Matches(const v1::ListGamesRequest& request, v1::GameState state, v1::Variant variant) {
  return (request.state() == v1::GAME_STATE_UNSPECIFIED || request.state() == state) &&
         (request.variant() == v1::VARIANT_UNSPECIFIED || request.variant() == variant);
}

std::vector<std::string> NotAtRest(const ListRecord& list) {
  std::vector<std::string> faults;
  std::map<std::string, uint64_t> shown;
  for (const ListedGame& game : list.games) shown[game.id] = game.version;
  for (const auto& [id, due] : list.due) {
    const auto found = shown.find(id);
    if (found == shown.end()) {
      if (due.matches) faults.push_back(InList("complete: not shown", id, list));
    } else if (!due.matches || found->second < due.version) {
      faults.push_back(InList("as new as the games: shown as it was", id, list));
    }
  }
  return faults;
}

std::vector<std::string> BrokenPromises(const ListRecord& list) {
  std::vector<std::string> faults = NotAtRest(list);
  const auto fault = [&](const std::string& what, const std::string& id) { faults.push_back(InList(what, id, list)); };
  std::set<std::string> shown;
  int64_t before_ms = list.games.empty() ? 0 : list.games.front().created_ms;
  for (const ListedGame& game : list.games) {
    if (!shown.insert(game.id).second) fault("once: a game came twice", game.id);
    if (game.created_ms > before_ms) fault("newest first: a game after an older one", game.id);
    before_ms = game.created_ms;
    if (!Matches(list.request, game.state, game.variant)) {
      fault("what was asked for: shown in " + v1::GameState_Name(game.state) + " " + v1::Variant_Name(game.variant),
            game.id);
    }
    if (game.unlisted) fault("no unlisted game", game.id);
    if (game.moves != 0) fault("no moves", game.id);
  }
  const int most = list.request.page_size() == 0 ? kUsualPage : list.request.page_size();
  if (list.longest_page > most) fault("no more on a page: " + std::to_string(list.longest_page), "");
  return faults;
}

}  // namespace reversi::e2e
