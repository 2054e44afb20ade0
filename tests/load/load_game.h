// A game as the generator plays it: what the engine says will come, to be compared with what the server answers.
#ifndef REVERSI_TESTS_LOAD_LOAD_GAME_H_
#define REVERSI_TESTS_LOAD_LOAD_GAME_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/position.h"
#include "engine/random.h"
#include "engine/rules.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::load {

// The kinds of games to play, by the text of a flag: "all", or names separated by commas such as "8x8/4" (board and
// players of Reversi for three or four) or "royal/2". Empty = the text makes no sense.
std::vector<RulesRequest> KindsOf(std::string_view text);

class LoadGame {
 public:
  // The game of this answer; `fault` is filled when the answer is not the game that was asked for.
  // `seed` chooses the moves.
  LoadGame(const RulesRequest& wish, const v1::CreateGameResponse& created, uint64_t seed, std::string* fault);

  static void FillRequest(const RulesRequest& wish, v1::CreateGameRequest* request);

  const std::string& id() const { return id_; }
  uint64_t version() const { return events_.size(); }
  bool over() const { return last().next.over(); }
  int ply() const { return last().next.ply(); }

  // Chooses a legal move and plays it here; the request for it. Requires: not over.
  void NextMove(v1::SubmitMoveRequest* request);

  // What is wrong with an event of this game; empty = it is what the rules say. Events can be asked for up to
  // version(), the move on its way included.
  std::string Check(const v1::GameEvent& event) const;
  std::string Check(const v1::Game& game) const;

  // Checks a serialized WatchGameResponse that must be event `version`: the first of a version whole, the others must
  // be the same bytes. `sent` of that version for latency.
  std::string CheckWatched(uint64_t version, std::string_view bytes);
  void KeepSent(int64_t when) { sent_.push_back(when); }
  // When the move that became this version was sent; 0 = it was none of ours.
  int64_t sent(uint64_t version) const { return version < sent_.size() + 2 && version >= 2 ? sent_[version - 2] : 0; }

 private:
  const Played& last() const { return events_.back(); }
  std::string CheckPosition(const Position& position, const v1::Position& shown) const;

  std::string id_;
  std::vector<std::string> tokens_;
  Rules rules_;
  SplitMix64 random_;
  std::vector<Played> events_;  // [version - 1]; of the first only `next` and `passed` mean something
  std::vector<std::string> watched_;
  std::vector<int64_t> sent_;
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_LOAD_GAME_H_
