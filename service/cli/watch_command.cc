#include "absl/strings/str_cat.h"
#include "service/cli/commands.h"
#include "service/cli/watch.h"

namespace reversi::cli {
namespace {

// Shows one update; keeps `game` current where there was a snapshot.
void ShowUpdate(const Session& session, const v1::WatchGameResponse& update, v1::Game* game) {
  if (session.options.json) return session.PrintJson(update);
  if (update.has_snapshot()) {
    *game = update.snapshot();
    if (!session.terminal.live) session.out << DrawGame(*game, session.style()) << std::flush;
  }
  if (update.has_event()) {
    ApplyEvent(update.event(), game);
    // Without a snapshot there is no board of one's own to draw on.
    const bool draws = session.terminal.live && game->has_rules();
    if (!draws) session.out << EventLine(update.event()) << std::endl;
  }
}

}  // namespace

int WatchCommand(const Session& session) {
  const Options& o = session.options;
  const bool live = session.terminal.live && !o.json;
  if (live) session.out << ScrollAway(session.terminal);
  Watch watch(session.server, o.game_id, o.version, o.reconnect_for);
  v1::Game game;
  while (true) {
    const auto news = watch.Next(absl::Seconds(1));
    if (news) {
      switch (news->kind) {
        case Watch::News::Kind::kUpdate: ShowUpdate(session, news->message, &game); break;
        case Watch::News::Kind::kLost:
          if (!o.json) session.err << "reversi: connection lost, looking for the server again" << std::endl;
          continue;
        case Watch::News::Kind::kFailed: return session.Fail(news->failure);
        case Watch::News::Kind::kEnded:
          if (!o.json && !live && game.has_rules()) session.out << DrawGame(game, session.style()) << std::flush;
          return kDone;
      }
    }
    // Also without news where a clock is running.
    if (live && game.has_rules() && (news || game.has_turn_deadline())) {
      session.out << kClearScreen << DrawGame(game, session.style()) << std::flush;
    }
  }
}

}  // namespace reversi::cli
