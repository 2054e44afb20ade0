#include "tests/load/tape.h"

#include "absl/time/clock.h"
#include "engine/notation.h"
#include "service/convert.h"
#include "service/table.h"
#include "tests/load/load_game.h"

namespace reversi::load {

Tape::Tape(const RulesRequest& wish, uint64_t game_seed) : kind(wish), seed(game_seed) {
  Start start;
  start.rules = std::get<Rules>(MakeRules(kind));
  start.seats.resize(static_cast<size_t>(start.rules.players));
  start.created = absl::Now();
  start.nonce = std::string(16, 'n');
  Event event = std::get<Event>(Begin(start));
  FillGame(std::string(26, 'a'), Record::Begin(start, 1), event.after, absl::Now(), true, created.mutable_game());
  for (int seat = 0; seat < start.rules.players; ++seat) created.add_seat_tokens(std::string(23, 't'));
  created.set_owner_token(std::string(23, 't'));

  std::string fault;
  v1::SubmitMoveRequest request;
  for (LoadGame game(kind, created, seed, &fault); !game.over();) {
    game.NextMove(&request);
    event = std::get<Event>(Apply(event.after, {.move = *ParseMove(request.move()), .time = absl::Now()}));
    v1::SubmitMoveResponse response;
    FillEvent(event, response.mutable_event());
    answers.push_back(response.SerializeAsString());
  }
}

}  // namespace reversi::load
