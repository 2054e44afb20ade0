// Texts of moves, squares, boards, transcripts and diagrams. The first byte chooses what the rest is read as; what is
// accepted must come back from its own canonical text.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/notation.h"
#include "engine/rules.h"
#include "tests/fuzz/check.h"

namespace reversi {
namespace {

void ReadMove(std::string_view text) {
  const std::optional<Move> move = ParseMove(text);
  if (!move) return;
  const std::string canonical = MoveText(*move);
  FUZZ_CHECK(canonical.size() <= kMaxMoveText);
  FUZZ_CHECK(ParseMove(canonical) == move);
}

void ReadSquare(std::string_view text) {
  const std::optional<Square> square = ParseSquare(text);
  if (!square) return;
  FUZZ_CHECK(SquareName(*square) == text);
  FUZZ_CHECK(OnBoard(Board::k10x10, *square));
}

void ReadTranscript(std::string_view text) {
  const auto parsed = ParseTranscript(text);
  if (const auto* error = std::get_if<TranscriptError>(&parsed)) {
    FUZZ_CHECK(error->offset <= text.size());
    return;
  }
  const auto& moves = std::get<std::vector<Move>>(parsed);
  FUZZ_CHECK(std::get<std::vector<Move>>(ParseTranscript(TranscriptText(moves))) == moves);
}

void ReadDiagram(std::string_view text, uint8_t choice) {
  const VariantSpec& spec = Variants()[choice % Variants().size()];
  RulesRequest request;
  request.variant = spec.variant;
  request.board = spec.boards[choice / 8 % spec.boards.size()];
  const Rules rules = std::get<Rules>(MakeRules(request));
  const Color turn = choice % 5 == 0 ? Color::kNone : Color::kBlack;
  const std::optional<Position> position = ParseDiagram(rules, text, turn);
  if (!position) return;
  const std::string diagram = DiagramText(*position);
  FUZZ_CHECK(ParseDiagram(rules, diagram, turn) == position);
  // Whatever was drawn can be looked at and played on.
  for (const Move& move : position->LegalMoves()) FUZZ_CHECK(std::holds_alternative<Played>(position->Play(move)));
}

}  // namespace
}  // namespace reversi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: reversi::ReadMove(text); break;
    case 1: reversi::ReadSquare(text); break;
    case 2: reversi::ReadTranscript(text); break;
    default: reversi::ReadDiagram(text, data[0] / 4); break;
  }
  return 0;
}
