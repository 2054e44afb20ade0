// One game with every answer that the service would give, made in this process: what the generator plays against the
// bare twin, so that its own work and the sizes of all messages are those of a run against the service.
#ifndef REVERSI_TESTS_LOAD_TAPE_H_
#define REVERSI_TESTS_LOAD_TAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/rules.h"
#include "reversi/v1/reversi.pb.h"

namespace reversi::load {

struct Tape {
  Tape(const RulesRequest& kind, uint64_t seed);

  RulesRequest kind;
  uint64_t seed;  // of the LoadGame that plays along
  v1::CreateGameResponse created;
  std::vector<std::string> answers;  // serialized SubmitMoveResponse: [0] is that of the first move
};

}  // namespace reversi::load

#endif  // REVERSI_TESTS_LOAD_TAPE_H_
