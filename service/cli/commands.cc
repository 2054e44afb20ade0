#include "service/cli/commands.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

using Stub = v1::GameService::Stub;

int VariantsCommand(const Session& session) {
  v1::ListVariantsResponse response;
  const auto status = session.server.CallAgain(&Stub::ListVariants, v1::ListVariantsRequest(), &response);
  if (!status.ok()) return session.Fail(status);
  if (session.options.json) {
    for (const auto& variant : response.variants()) session.PrintJson(variant);
  } else {
    session.out << VariantsText(response);
  }
  return kDone;
}

int ListCommand(const Session& session) {
  v1::ListGamesRequest request = session.options.list;
  uint32_t left = session.options.limit;
  while (left > 0) {
    v1::ListGamesResponse response;
    request.set_page_size(static_cast<int32_t>(std::min(left, 1000u)));
    const auto status = session.server.CallAgain(&Stub::ListGames, request, &response);
    if (!status.ok()) return session.Fail(status);
    for (const auto& game : response.games()) {
      if (session.options.json) {
        session.PrintJson(game);
      } else {
        session.out << GameLine(game) << "\n";
      }
    }
    left -= std::min(left, static_cast<uint32_t>(response.games_size()));
    if (response.next_page_token().empty()) break;
    request.set_page_token(response.next_page_token());
  }
  return kDone;
}

// The game now. Prints the refusal when there is one and leaves its exit code in `code`.
bool GetGame(const Session& session, v1::Game* game, int* code) {
  v1::GetGameRequest request;
  v1::GetGameResponse response;
  request.set_game_id(session.options.game_id);
  const auto status = session.server.CallAgain(&Stub::GetGame, request, &response);
  if (!status.ok()) *code = session.Fail(status);
  *game = std::move(*response.mutable_game());
  return status.ok();
}

int ShowCommand(const Session& session) {
  v1::Game game;
  if (int code = kDone; !GetGame(session, &game, &code)) return code;
  if (session.options.json) {
    session.PrintJson(game);
    return kDone;
  }
  session.out << DrawGame(game, session.style());
  if (session.options.with_moves && game.moves_size() > 0) session.out << "\n" << MovesText(game);
  return kDone;
}

int CreateCommand(const Session& session) {
  v1::CreateGameResponse made;
  const auto status = CreateGame(session, session.options.game, &made);
  if (!status.ok()) return session.Fail(status);
  if (session.options.json) {
    session.PrintJson(made);
  } else {
    session.out << DrawGame(made.game(), session.style()) << "\n";
  }
  if (auto saved = ShowTokens(session, TokensOf(made)); !saved.ok()) return session.Fail(saved);
  return kDone;
}

int MoveCommand(const Session& session) {
  const Options& o = session.options;
  const auto tokens = GivenTokens(session);
  if (!tokens.ok()) return session.Fail(tokens.status());
  v1::Game game;
  if (int code = kDone; !GetGame(session, &game, &code)) return code;
  // A file knows its seats: the one asked for, else the one on turn. A single token is its own seat.
  const v1::Color seat = o.seat != v1::COLOR_UNSPECIFIED ? o.seat : game.position().turn();
  const auto token = o.tokens_file.empty() ? tokens->seats.begin() : tokens->seats.find(seat);
  if (token == tokens->seats.end()) {
    return session.Fail(kForbidden, absl::StrCat("no token of ", Word(seat), " in ", o.tokens_file));
  }
  v1::SubmitMoveRequest request;
  v1::SubmitMoveResponse response;
  request.set_game_id(o.game_id);
  request.set_seat_token(token->second);
  request.set_move(o.move);
  request.set_expected_version(o.version.value_or(game.version()));
  // A version of 0 gives up retry safety.
  const auto status = request.expected_version() == 0
                          ? session.server.Call(&Stub::SubmitMove, request, &response)
                          : session.server.CallAgain(&Stub::SubmitMove, request, &response);
  if (!status.ok()) return session.Fail(status);
  if (o.json) {
    session.PrintJson(response.event());
    return kDone;
  }
  session.out << EventLine(response.event()) << "\n";
  return kDone;
}

int JoinCommand(const Session& session) {
  const Options& o = session.options;
  v1::JoinGameRequest request;
  v1::JoinGameResponse response;
  request.set_game_id(o.game_id);
  request.set_request_id(NewRequestId());
  request.set_color(o.seat);
  request.set_display_name(o.name);
  const auto status = session.server.CallAgain(&Stub::JoinGame, request, &response);
  if (!status.ok()) return session.Fail(status);
  if (o.json) {
    session.PrintJson(response);
  } else {
    session.out << DrawGame(response.game(), session.style()) << "\nYou are " << Word(response.color()) << ".\n";
  }
  const Tokens tokens{.game_id = o.game_id, .seats = {{response.color(), response.seat_token()}}, .owner = {}};
  if (auto saved = ShowTokens(session, tokens); !saved.ok()) return session.Fail(saved);
  return kDone;
}

// Shows the event that a leaving or an abort became.
int ShowEvent(const Session& session, const grpc::Status& status, const v1::GameEvent& event) {
  if (!status.ok()) return session.Fail(status);
  if (session.options.json) {
    session.PrintJson(event);
  } else {
    session.out << EventLine(event) << "\n";
  }
  return kDone;
}

int ResignCommand(const Session& session) {
  const Options& o = session.options;
  const auto tokens = GivenTokens(session);
  if (!tokens.ok()) return session.Fail(tokens.status());
  if (tokens->seats.size() != 1 && o.seat == v1::COLOR_UNSPECIFIED) {
    return session.Fail(kUsage, "the file holds several seats: name one with --seat");
  }
  const auto token = tokens->seats.size() == 1 ? tokens->seats.begin() : tokens->seats.find(o.seat);
  if (token == tokens->seats.end() || (o.seat != v1::COLOR_UNSPECIFIED && token->first != o.seat)) {
    return session.Fail(kForbidden, absl::StrCat("no token of ", Word(o.seat), " in ", o.tokens_file));
  }
  v1::ResignGameRequest request;
  v1::ResignGameResponse response;
  request.set_game_id(o.game_id);
  request.set_seat_token(token->second);
  const auto status = session.server.CallAgain(&Stub::ResignGame, request, &response);
  return ShowEvent(session, status, response.event());
}

int AbortCommand(const Session& session) {
  const auto tokens = GivenTokens(session);
  if (!tokens.ok()) return session.Fail(tokens.status());
  if (tokens->owner.empty()) {
    return session.Fail(kForbidden, absl::StrCat("no token of the owner in ", session.options.tokens_file));
  }
  v1::AbortGameRequest request;
  v1::AbortGameResponse response;
  request.set_game_id(session.options.game_id);
  request.set_owner_token(tokens->owner);
  const auto status = session.server.CallAgain(&Stub::AbortGame, request, &response);
  return ShowEvent(session, status, response.event());
}

}  // namespace

int RunCommand(const Session& session) {
  static const auto& commands = *new std::map<std::string, int (*)(const Session&)>{
      {"variants", VariantsCommand}, {"list", ListCommand},     {"create", CreateCommand}, {"show", ShowCommand},
      {"move", MoveCommand},         {"join", JoinCommand},     {"resign", ResignCommand}, {"abort", AbortCommand},
      {"watch", WatchCommand},       {"play", PlayCommand},     {"demo", DemoCommand},
      {"export", ExportCommand},     {"import", ImportCommand}, {"perft", PerftCommand}};
  return commands.at(session.options.command)(session);
}

}  // namespace reversi::cli
