#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "service/cli/commands.h"
#include "service/cli/watch.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

using Stub = v1::GameService::Stub;

constexpr char kHelp[] =
    "  d3            play there (Royal: d3:n,ne turns those rows only; jack claims the Jack)\n"
    "  moves         the legal moves\n"
    "  resign        leave the game with your seat on turn; \"resign red\" with another one of yours\n"
    "  quit          stop playing here; the game goes on\n";

// Some seats of a game at one keyboard. Typed lines and news from the watch meet in one loop.
class Table {
 public:
  Table(const Session& session, Tokens tokens)
      : session_(session),
        tokens_(std::move(tokens)),
        interactive_(isatty(STDIN_FILENO) == 1),
        watch_(session.server, tokens_.game_id, std::nullopt, session.options.reconnect_for),
        lines_(STDIN_FILENO) {}

  int Play() {
    session_.out << ScrollAway(session_.terminal);
    while (!code_) {
      while (auto news = watch_.Next(absl::ZeroDuration())) {
        Take(*news);
        if (code_) return *code_;
      }
      Draw();
      if (ReadsNow() && lines_.HasLine()) {
        Obey(lines_.Take());
      } else if (ReadsNow() && lines_.Ended()) {
        session_.out << "\nNo more input; the game goes on without this keyboard.\n";
        code_ = kDone;
      } else {
        Wait();
      }
    }
    return *code_;
  }

 private:
  bool OurTurn() const {
    return game_.state() == v1::GAME_STATE_ACTIVE && tokens_.seats.contains(game_.position().turn());
  }
  // A person may type at any time; lines of a script are for our own turns.
  bool ReadsNow() const { return interactive_ ? game_.has_rules() : OurTurn(); }
  bool Ticks() const { return session_.terminal.live && interactive_ && game_.has_turn_deadline(); }

  void Wait() {
    // Input that has ended stays readable for ever.
    pollfd waits[] = {{.fd = watch_.fd(), .events = POLLIN, .revents = 0},
                      {.fd = ReadsNow() ? lines_.fd() : -1, .events = POLLIN, .revents = 0}};
    // Now and then without any reason: Next() also notices a silent connection.
    const int ready = poll(waits, 2, Ticks() ? 1000 : 3000);
    if (ready > 0 && waits[1].revents != 0) lines_.Read();
    if (ready == 0 && Ticks()) Tick();
  }

  void Take(const Watch::News& news) {
    switch (news.kind) {
      case Watch::News::Kind::kUpdate:
        if (news.message.has_snapshot()) {
          game_ = news.message.snapshot();
          changed_ = true;
        } else if (news.message.has_event()) {
          Apply(news.message.event());
        }
        break;
      case Watch::News::Kind::kLost: Say("Connection lost, looking for the server again."); break;
      case Watch::News::Kind::kFailed: code_ = session_.Fail(news.failure); break;
      case Watch::News::Kind::kEnded:
        Draw();
        code_ = kDone;
        break;
    }
  }

  // The answer to a move and the watch bring the same event; the first one counts.
  void Apply(const v1::GameEvent& event) {
    if (event.version() <= game_.version()) return;
    ApplyEvent(event, &game_);
    changed_ = true;
    if (!session_.terminal.live) session_.out << EventLine(event) << "\n";
  }

  void Say(const std::string& text) {
    notice_ = text;
    changed_ = true;
  }

  void Draw() {
    if (!changed_ || !game_.has_rules()) return;
    changed_ = false;
    if (session_.terminal.live) session_.out << kClearScreen;
    session_.out << DrawGame(game_, session_.style());
    if (game_.state() == v1::GAME_STATE_WAITING) {
      // Their terminals know nothing of this one's --server or REVERSI_SERVER.
      const std::string& address = session_.server.address();
      const bool usual = address == ServerOptions().address;
      session_.out << "Others join with: reversi play " << game_.game_id() << " --join"
                   << (usual ? "" : absl::StrCat(" --server ", address)) << "\n";
    }
    if (!notice_.empty()) session_.out << notice_ << "\n";
    notice_.clear();
    Prompt();
  }

  void Prompt() {
    if (interactive_ && game_.state() != v1::GAME_STATE_FINISHED) {
      if (Ticks()) session_.out << ClockText();
      session_.out << (OurTurn() ? absl::StrCat(ColorTitle(game_.position().turn()), ", your move (help): ")
                                 : "waiting (help): ");
    }
    session_.out << std::flush;
  }

  // Writes the clock at the head of the prompt anew; the cursor stays where something is being typed.
  void Tick() { session_.out << "\x1b" "7\r" << ClockText() << "\x1b" "8" << std::flush; }

  // Always equally wide.
  std::string ClockText() const { return absl::StrFormat("[%9s] ", TimeLeft(game_, absl::Now())); }

  void Obey(const std::string& line) {
    const std::vector<std::string> words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty()) {
      changed_ = true;
    } else if (words[0] == "quit" || words[0] == "q") {
      code_ = kDone;
    } else if (words[0] == "help" || words[0] == "h" || words[0] == "?") {
      Say(kHelp);
    } else if (words[0] == "moves") {
      Say(absl::StrJoin(game_.position().legal_moves(), " "));
    } else if (words[0] == "resign") {
      Resign(words.size() > 1 ? ParseWord<v1::Color>(words[1]) : OwnSeat());
    } else if (!OurTurn()) {
      Say("It is not your turn.");
    } else {
      Submit(words[0]);
    }
  }

  // The seat meant where none is named: the one on turn, or the only one.
  std::optional<v1::Color> OwnSeat() const {
    if (!OurTurn() && tokens_.seats.size() == 1) return tokens_.seats.begin()->first;
    return game_.position().turn();
  }

  // A person is told and asked again; a script stops at a refusal.
  void Refused(const grpc::Status& status) {
    if (!interactive_) {
      code_ = session_.Fail(status);
    } else {
      Say(FailureText(ReadFailure(status), session_.server.address()));
    }
  }

  void Submit(const std::string& move) {
    v1::SubmitMoveRequest request;
    v1::SubmitMoveResponse response;
    request.set_game_id(game_.game_id());
    request.set_seat_token(tokens_.seats[game_.position().turn()]);
    request.set_move(move);
    request.set_expected_version(game_.version());
    const auto status = session_.server.CallAgain(&Stub::SubmitMove, request, &response);
    if (!status.ok()) return Refused(status);
    Apply(response.event());
  }

  void Resign(std::optional<v1::Color> seat) {
    const auto token = tokens_.seats.find(seat.value_or(v1::COLOR_UNSPECIFIED));
    if (token == tokens_.seats.end()) return Say("That seat is not yours: \"resign COLOR\".");
    v1::ResignGameRequest request;
    v1::ResignGameResponse response;
    request.set_game_id(game_.game_id());
    request.set_seat_token(token->second);
    const auto status = session_.server.CallAgain(&Stub::ResignGame, request, &response);
    if (!status.ok()) return Refused(status);
    Apply(response.event());
  }

  const Session& session_;
  Tokens tokens_;
  const bool interactive_;
  Watch watch_;
  LineReader lines_;
  v1::Game game_;
  bool changed_ = false;  // since the last drawing
  std::string notice_;    // shown below the board once
  std::optional<int> code_;
};

// Takes an open seat.
grpc::Status Join(const Session& session, Tokens* tokens) {
  const Options& o = session.options;
  v1::JoinGameRequest request;
  v1::JoinGameResponse response;
  request.set_game_id(o.game_id);
  request.set_request_id(NewRequestId());
  request.set_color(o.seat);
  request.set_display_name(o.name);
  const auto status = session.server.CallAgain(&Stub::JoinGame, request, &response);
  *tokens = {.game_id = o.game_id, .seats = {{response.color(), response.seat_token()}}, .owner = {}};
  return status;
}

// Makes a game whose seats, but for the open ones, are ours.
grpc::Status Begin(const Session& session, Tokens* tokens) {
  v1::CreateGameResponse made;
  const auto status = CreateGame(session, session.options.game, &made);
  if (!status.ok()) return status;
  *tokens = TokensOf(made);
  return status;
}

}  // namespace

int PlayCommand(const Session& session) {
  const Options& o = session.options;
  Tokens tokens;
  if (o.game_id.empty() || o.join) {
    const auto status = o.join ? Join(session, &tokens) : Begin(session, &tokens);
    if (!status.ok()) return session.Fail(status);
    // Without the token nobody could come back to the seat.
    if (auto saved = ShowTokens(session, tokens); !saved.ok()) return session.Fail(saved);
  } else {
    auto given = GivenTokens(session);
    if (!given.ok()) return session.Fail(given.status());
    tokens = *std::move(given);
  }
  return Table(session, std::move(tokens)).Play();
}

}  // namespace reversi::cli
