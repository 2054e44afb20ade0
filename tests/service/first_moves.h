// Plays over the API by the first legal move of whoever is on turn.
#ifndef REVERSI_TESTS_SERVICE_FIRST_MOVES_H_
#define REVERSI_TESTS_SERVICE_FIRST_MOVES_H_

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include "reversi/v1/reversi.grpc.pb.h"

namespace reversi {

// From the game's position on, so many moves, to the end or to a move that is refused, which fails the test; position and
// version move along. Returns how many moves were sent.
inline int PlayFirstMoves(v1::GameService::Stub& stub, v1::CreateGameResponse& game, int moves) {
  v1::Game& now = *game.mutable_game();
  int made = 0;
  for (; made < moves && now.position().legal_moves_size() > 0; ++made) {
    v1::SubmitMoveRequest request;
    request.set_game_id(now.game_id());
    request.set_seat_token(game.seat_tokens(now.position().turn() - 1));
    request.set_move(now.position().legal_moves(0));
    request.set_expected_version(now.version());
    grpc::ClientContext context;
    v1::SubmitMoveResponse response;
    const grpc::Status status = stub.SubmitMove(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    *now.mutable_position() = response.event().position();
    now.set_version(response.event().version());
  }
  return made;
}

}  // namespace reversi

#endif  // REVERSI_TESTS_SERVICE_FIRST_MOVES_H_
