// What callers wish of a game, and the one place that says whether they get it, in the order of precedence of the
// errors. Pure: the committed state in, a ruling out.
#ifndef REVERSI_SERVICE_JUDGE_H_
#define REVERSI_SERVICE_JUDGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "engine/position.h"
#include "service/errors.h"
#include "service/record.h"
#include "service/table.h"
#include "service/tokens.h"

namespace reversi {

struct CreateWish {
  Start start;  // `created` and `nonce` are set when it is granted
};
struct JoinWish {
  int wanted = -1;  // -1 = the first open seat
  std::string name = {};
  std::string request = {};  // digest of the request_id; empty = no deduplication
};
struct MoveWish {
  std::string token;
  Move move;
  uint64_t expected_version = 0;  // 0 = whatever the version is
};
struct ResignWish {
  std::string token;
};
struct AbortWish {
  std::string token;
};
// The server's own: ends the game if it is still at this version.
struct ExpireWish {
  uint64_t version = 0;
};
using Wish = std::variant<CreateWish, JoinWish, MoveWish, ResignWish, AbortWish, ExpireWish>;

// Accepted before: the event of that version is the answer again.
struct Again {
  uint64_t version;
};
using Ruling = std::variant<Command, Again, Error>;

// The game as committed. `table` is null while there is no game under this id.
struct Committed {
  std::string_view game_id;
  const Record& record;
  const Table* table;
};

// Rules on every wish but the creation. A command's time is left to the caller.
Ruling Judge(const Wish& wish, const Committed& game, const Tokens& tokens);
// Rules on a creation where a game of that id stands: Again{1} or a refusal.
Ruling JudgeCreation(const CreateWish& wish, const Committed& game);

// The command that a turn limit which has run out becomes: the seat on turn leaves, or a legal move is made for it.
Command OnTimeout(const Table& table);

Error IllegalMove(std::string_view field, const Move& move, WhyIllegal why);
Error IllegalOpening(const Start& start, const BadOpening& bad);
Error GameOver();
// "COLOR_BLACK", … as the API spells it.
std::string_view ApiColorName(Color color);

}  // namespace reversi

#endif  // REVERSI_SERVICE_JUDGE_H_
