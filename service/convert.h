// From the service's values to the messages of the API.
#ifndef REVERSI_SERVICE_CONVERT_H_
#define REVERSI_SERVICE_CONVERT_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "reversi/v1/reversi.pb.h"
#include "service/bytes.h"
#include "service/record.h"
#include "service/table.h"

namespace reversi {

v1::Variant ToApi(Variant variant);
v1::Board ToApi(Board board);
v1::Objective ToApi(Objective objective);
v1::Color ToApi(Color color);
v1::GameState ToApi(GameState state);
v1::ResultReason ToApi(EndReason reason);
v1::TimeoutAction ToApi(TimeoutAction action);

void FillRules(const Rules& rules, v1::Rules* message);
// `over`: the game is over, be it that the position has moves left.
void FillPosition(const Position& position, bool over, v1::Position* message);
// For a message that is sent: the position is in it as bytes, so that has_position() is false until it was parsed again.
void FillEvent(const Event& event, v1::GameEvent* message);
// `expires` = when the server drops the game; infinite = never.
void FillGame(std::string_view game_id, const Record& record, const Table& table, absl::Time expires,
              bool with_moves, v1::Game* message);
void FillVariants(v1::ListVariantsResponse* message);

// A serialized WatchGameResponse with this event.
Bytes SerializeForWatchers(const Event& event);

}  // namespace reversi

#endif  // REVERSI_SERVICE_CONVERT_H_
