#include <random>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/random.h"
#include "service/cli/commands.h"
#include "service/cli/watch.h"

namespace reversi::cli {
namespace {

using Stub = v1::GameService::Stub;

// The game as the watch brings it, shown as it goes on.
class Demo {
 public:
  Demo(const Session& session, const std::string& game_id)
      : session_(session), watch_(session.server, game_id, std::nullopt, session.options.reconnect_for) {}

  const v1::Game& game() const { return game_; }

  // Waits until the watch has brought the game to `version`. `asked` took the move. Returns false, with the exit code,
  // when the watch will not, or left a version out or brought one twice.
  bool Follow(uint64_t version, const std::string& asked, int* code) {
    const absl::Time patience = absl::Now() + session_.options.server.timeout;
    while (game_.version() < version) {
      const auto news = watch_.Next(absl::Seconds(1));
      if (!news) {
        if (absl::Now() < patience) continue;
        *code = session_.Fail(kUnreachable, absl::StrCat("the watch did not bring version ", version));
        return false;
      }
      if (news->kind == Watch::News::Kind::kFailed) {
        *code = session_.Fail(news->failure);
        return false;
      }
      if (news->kind == Watch::News::Kind::kLost) Lost(news->server);
      if (news->message.has_snapshot()) game_ = news->message.snapshot();
      if (news->message.has_event() && news->message.event().version() != game_.version() + 1) {
        *code = session_.Fail(kFailed, absl::StrCat("the watch brought version ", news->message.event().version(),
                                                    " after ", game_.version()));
        return false;
      }
      if (news->message.has_event()) ApplyEvent(news->message.event(), &game_);
      if (news->message.has_snapshot() || news->message.has_event()) Show(*news, asked);
    }
    return true;
  }

 private:
  void Show(const Watch::News& news, const std::string& asked) const {
    const bool event = news.message.has_event();
    if (session_.options.json) {
      if (event) session_.PrintJson(news.message.event());
    } else if (session_.terminal.live) {
      session_.out << kClearScreen << DrawGame(game_, session_.style()) << std::flush;
    } else if (event) {
      session_.out << EventLine(news.message.event());
      if (session_.server.servers() > 1) session_.out << "; played at " << asked << ", seen at " << news.server;
      session_.out << std::endl;
    } else {
      session_.out << DrawGame(game_, session_.style()) << std::flush;
    }
  }

  void Lost(const std::string& server) const {
    if (!session_.options.json) session_.err << "reversi: the watch lost " << server << " and looks for a server again\n";
  }

  const Session& session_;
  Watch watch_;
  v1::Game game_;
};

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

  Demo demo(session, made.game().game_id());
  const v1::Game& game = demo.game();
  SplitMix64 chance(seed);
  int code = kDone;
  if (!demo.Follow(made.game().version(), session.server.asked(), &code)) return code;
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
    if (!demo.Follow(response.event().version(), session.server.asked(), &code)) return code;
    absl::SleepFor(delay);
  }
  if (!o.json && !session.terminal.live) session.out << DrawGame(game, session.style());
  if (!o.json) session.out << "\nSeed " << seed << ": `reversi demo --seed " << seed << "` plays this game again.\n";
  return kDone;
}

}  // namespace reversi::cli
