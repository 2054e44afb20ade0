// Records as the service puts them: those of random games, a move in one game after the other.
#ifndef REVERSI_TESTS_BENCH_RECORD_TAPE_H_
#define REVERSI_TESTS_BENCH_RECORD_TAPE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "service/bytes.h"

namespace reversi::bench {

class RecordTape {
 public:
  struct Put {
    std::string game_id;
    uint64_t expected_version;
    const Bytes* record;
  };

  // So many games go on at a time; ids begin with `name`. 8x8 for four, as the load generator plays it.
  RecordTape(std::string name, size_t games);

  // The next put. A finished game is followed by a new one under a new id.
  Put Next();

 private:
  struct Playing {
    size_t number;  // of the game
    size_t puts = 0;
  };
  const std::string name_;
  std::vector<std::vector<Bytes>> kinds_;  // the records of some games, from the creation to the end
  std::vector<Playing> games_;
  size_t turn_ = 0;
  size_t begun_ = 0;
};

}  // namespace reversi::bench

#endif  // REVERSI_TESTS_BENCH_RECORD_TAPE_H_
