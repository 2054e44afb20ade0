#include <random>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/random.h"
#include "service/cli/commands.h"
#include "service/cli/watch.h"

namespace reversi::cli {
namespace {

using Stub = v1::GameService::Stub;

void Show(const Session& session, const v1::Game& game, const v1::GameEvent* event) {
  if (session.options.json) {
    if (event != nullptr) session.PrintJson(*event);
  } else if (session.terminal.live) {
    session.out << kClearScreen << DrawGame(game, session.style()) << std::flush;
  } else if (event != nullptr) {
    session.out << EventLine(*event) << std::endl;
  } else {
    session.out << DrawGame(game, session.style()) << std::flush;
  }
}

// Waits until the watch has brought the game to `version`. Returns false, with the exit code, when it will not.
bool Follow(const Session& session, uint64_t version, Watch* watch, v1::Game* game, int* code) {
  const absl::Time patience = absl::Now() + session.options.server.timeout;
  while (game->version() < version) {
    const auto news = watch->Next(absl::Seconds(1));
    if (!news) {
      if (absl::Now() < patience) continue;
      *code = session.Fail(kUnreachable, absl::StrCat("the watch did not bring version ", version));
      return false;
    }
    if (news->kind == Watch::News::Kind::kFailed) {
      *code = session.Fail(news->failure);
      return false;
    }
    if (news->message.has_snapshot()) {
      *game = news->message.snapshot();
      Show(session, *game, nullptr);
    } else if (news->message.has_event()) {
      ApplyEvent(news->message.event(), game);
      Show(session, *game, &news->message.event());
    }
  }
  return true;
}

v1::CreateGameRequest DemoGame(const Options& o) {
  v1::CreateGameRequest request = o.game;
  if (!o.rules_given) {
    request.mutable_rules()->set_players(4);
    request.mutable_rules()->set_board(v1::BOARD_OCTAGON);
  }
  return request;
}

}  // namespace

int DemoCommand(const Session& session) {
  const Options& o = session.options;
  const uint64_t seed = o.seed.value_or(std::random_device()());
  const absl::Duration delay =
      o.delay.value_or(session.terminal.live && !o.json ? absl::Milliseconds(150) : absl::ZeroDuration());
  v1::CreateGameResponse made;
  if (auto status = CreateGame(session, DemoGame(o), &made); !status.ok()) return session.Fail(status);
  if (o.json) session.PrintJson(made.game());
  if (!o.json) session.out << ScrollAway(session.terminal);

  Watch watch(session.server, made.game().game_id(), std::nullopt, o.reconnect_for);
  v1::Game game;
  SplitMix64 chance(seed);
  int code = kDone;
  if (!Follow(session, made.game().version(), &watch, &game, &code)) return code;
  while (game.state() == v1::GAME_STATE_ACTIVE) {
    const v1::Position& position = game.position();
    const auto choice = chance.Below(static_cast<uint64_t>(position.legal_moves_size()));
    v1::SubmitMoveRequest request;
    v1::SubmitMoveResponse response;
    request.set_game_id(game.game_id());
    request.set_seat_token(made.seat_tokens(position.turn() - 1));
    request.set_move(position.legal_moves(static_cast<int>(choice)));
    request.set_expected_version(game.version());
    const auto status = session.server.CallAgain(&Stub::SubmitMove, request, &response);
    if (!status.ok()) return session.Fail(status);
    if (!Follow(session, response.event().version(), &watch, &game, &code)) return code;
    absl::SleepFor(delay);
  }
  if (!o.json && !session.terminal.live) session.out << DrawGame(game, session.style());
  if (!o.json) session.out << "\nSeed " << seed << ": `reversi demo --seed " << seed << "` plays this game again.\n";
  return kDone;
}

}  // namespace reversi::cli
