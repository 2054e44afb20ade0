#include "tests/bench/record_tape.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/random.h"
#include "service/record.h"

namespace reversi::bench {
namespace {

constexpr uint64_t kKinds = 64;

std::vector<Bytes> RecordsOfAGame(uint64_t seed) {
  SplitMix64 random(seed);
  Start start;
  start.rules = std::get<Rules>(MakeRules({}));
  start.seats.resize(static_cast<size_t>(start.rules.players));
  start.created = absl::FromUnixSeconds(1'700'000'000);
  start.nonce = std::string(16, 'n');
  Record record = Record::Begin(start, random.Next());
  std::vector<Bytes> records = {record.bytes()};
  absl::Time time = start.created;
  for (Position position(start.rules); !position.over();) {
    const std::vector<Move> moves = position.LegalMoves();
    const Move move = moves[random.Below(moves.size())];
    Command command{.move = move, .time = time + absl::Milliseconds(1 + random.Below(1000))};
    record = record.With(command, std::exchange(time, command.time), random.Next());
    records.push_back(record.bytes());
    position = std::get<Played>(position.Play(move)).next;
  }
  return records;
}

}  // namespace

RecordTape::RecordTape(std::string name, size_t games) : name_(std::move(name)) {
  for (uint64_t seed = 0; seed < kKinds; ++seed) kinds_.push_back(RecordsOfAGame(seed));
  while (begun_ < games) games_.push_back({begun_++});
}

RecordTape::Put RecordTape::Next() {
  Playing& game = games_[turn_++ % games_.size()];
  const std::vector<Bytes>* records = &kinds_[game.number % kKinds];
  if (game.puts == records->size()) {
    game = {begun_++};
    records = &kinds_[game.number % kKinds];
  }
  const size_t version = game.puts++;
  // As long as an id that the service makes.
  std::string id = absl::StrCat(name_, absl::Dec(game.number, absl::kZeroPad12));
  id.resize(26, 'x');
  return {std::move(id), version, &(*records)[version]};
}

}  // namespace reversi::bench
