// Does ListGames keep its promises? Newest first · every game once, over all pages · what was asked for, and no more on a
// page · no unlisted game, no moves · complete, and as new as the games, once nobody plays.
#ifndef REVERSI_TESTS_E2E_LIST_PROMISES_H_
#define REVERSI_TESTS_E2E_LIST_PROMISES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reversi/v1/reversi.pb.h"

namespace reversi::e2e {

// A game as a list showed it.
struct ListedGame {
  std::string id;
  uint64_t version = 0;
  v1::GameState state = v1::GAME_STATE_UNSPECIFIED;
  v1::Variant variant = v1::VARIANT_UNSPECIFIED;
  bool unlisted = false;
  int moves = 0;
  int64_t created_ms = 0;
  std::string words = {};  // its state (StateInWords)
  uint64_t answered = 0;    // when its page came (NextMoment)
};
ListedGame AsListed(const v1::Game& game, uint64_t answered);

// One walk over pages.
struct ListRecord {
  v1::ListGamesRequest request;  // of the first page
  std::vector<ListedGame> games;
  int longest_page = 0;  // of games
  // How often tries ended how, as in Table.
  std::map<std::string, uint64_t> answers;
  // At rest: games that were made, and how each must show.
  struct Due {
    uint64_t version;  // or a later one
    bool matches;      // what was asked for; the others do not show
  };
  std::map<std::string, Due> due;
};

// Whether a request asks for such games.
bool Matches(const v1::ListGamesRequest& request, v1::GameState state, v1::Variant variant);

// What is due and did not show as it must; a server may have to hear of it first.
std::vector<std::string> NotAtRest(const ListRecord& list);
// That, and what else one walk breaks by itself; whether the games it shows were ever in such a state, their logs tell.
std::vector<std::string> BrokenPromises(const ListRecord& list);

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_LIST_PROMISES_H_
