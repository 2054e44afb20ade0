// A game followed through its events alone, as a client would: does each event say what follows from the ones
// before it?
#ifndef REVERSI_TESTS_E2E_FOLLOWED_GAME_H_
#define REVERSI_TESTS_E2E_FOLLOWED_GAME_H_

#include <set>
#include <string>
#include <vector>

#include "reversi/v1/reversi.pb.h"

namespace reversi::e2e {

class FollowedGame {
 public:
  // Begins with what a watcher was told first.
  void Begin(const v1::Game& snapshot);
  // Adds the next event; returns what does not agree, empty when all does. The first call without Begin() takes
  // the event's position as it is.
  std::vector<std::string> Add(const v1::GameEvent& event);

 private:
  void Check(bool right, const std::string& what);
  void PlayMoved(const v1::GameEvent& event);
  void Leave(v1::Color color);
  void CheckPosition(const v1::GameEvent& event, bool first);
  void CheckTurn(const v1::GameEvent& event, v1::Color from);
  void CheckEnd(const v1::GameEvent& event);

  bool begun_ = false;
  uint64_t version_ = 0;
  v1::GameState state_ = v1::GAME_STATE_UNSPECIFIED;
  v1::Position position_;  // of the last event
  std::vector<std::string> rows_;
  std::set<v1::Color> out_;
  std::vector<std::string> wrong_;
};

// What is wrong with a position in itself: counts against rows, order and squares of the legal moves.
std::vector<std::string> WrongIn(const v1::Position& position, const std::set<v1::Color>& out = {});

}  // namespace reversi::e2e

#endif  // REVERSI_TESTS_E2E_FOLLOWED_GAME_H_
