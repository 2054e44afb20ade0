#include "service/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "service/cli/failure.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

constexpr char kFooter[] = R"(
EXIT STATUS
  0  done                      5  not this game's token
  1  any other failure         6  somebody was quicker: stale version, id or seat taken
  2  wrong usage               7  no server there, or no answer in time
  3  refused by the rules      8  server at a limit, draining or without its store: try again
  4  no such game              9  a file cannot be read, written or understood

ENVIRONMENT
  REVERSI_SERVER  the server's address, or several, as --server
  REVERSI_TOKEN   a seat's token, as --token
  NO_COLOR        no colours, letters only; so do a pipe and TERM=dumb

EXAMPLES
  reversi demo --seed 7                                a game of four on the Octagon
  reversi play                                         all seats at this keyboard
  reversi play --players 3 --open 2 --turn_limit 1m    two seats for others to join ...
  reversi play GAME --join --name Anna                 ... from their own terminals
  reversi create --board 10x10 --save my.tokens --json
  reversi move GAME d3 --tokens my.tokens
  reversi export GAME > game.jsonl; reversi import game.jsonl

`reversi COMMAND --help` tells what a command takes; options of all commands may stand before or after it.
With --json every answer is one object a line, fields named as in reversi.proto; refusals go to standard error as
google.rpc.Status, also as one object. Moves are written d3; Royal Reversi (a reconstruction) also has d3:n,ne and jack.
)";

template <typename Enum>
CLI::Option* AddWord(CLI::App* app, const std::string& flag, const std::string& help, std::function<void(Enum)> set) {
  return app
      ->add_option_function<std::string>(
          flag,
          [set, flag](const std::string& word) {
            const auto value = ParseWord<Enum>(word);
            if (!value) {
              throw CLI::ValidationError(
                  flag, absl::StrCat(word, " is none of ", absl::StrJoin(Words<Enum>(), ", ")));
            }
            set(*value);
          },
          absl::StrCat(help, ": ", absl::StrJoin(Words<Enum>(), ", ")))
      ->type_name("WORD");
}

// CLI11 would take -1 for a large number.
template <typename Number>
CLI::Option* AddNumber(CLI::App* app, const std::string& flag, std::function<void(Number)> set,
                       const std::string& help) {
  return app
      ->add_option_function<std::string>(
          flag,
          [set, flag](const std::string& text) {
            Number number;
            if (!absl::SimpleAtoi(text, &number)) {
              throw CLI::ValidationError(flag, absl::StrCat(text, " is no such number"));
            }
            set(number);
          },
          help)
      ->type_name("NUMBER");
}

CLI::Option* AddTime(CLI::App* app, const std::string& flag, const std::string& help,
                     std::function<void(absl::Duration)> set) {
  return app
      ->add_option_function<std::string>(
          flag,
          [set, flag](const std::string& text) {
            const auto time = ParseTime(text);
            if (!time) throw CLI::ValidationError(flag, absl::StrCat(text, " is no time such as 30s, 1m30s or 2h"));
            set(*time);
          },
          help)
      ->type_name("TIME");
}

google::protobuf::Duration ToProto(absl::Duration time) {
  google::protobuf::Duration proto;
  proto.set_seconds(absl::IDivDuration(time, absl::Seconds(1), &time));
  proto.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(time)));
  return proto;
}

void AddRules(CLI::App* app, Options* o) {
  v1::Rules* rules = o->game.mutable_rules();
  const auto given = [o](auto) { o->rules_given = true; };
  const auto group = "Rules (left out: what the variant has as its default; see `reversi variants`)";
  AddWord<v1::Variant>(app, "--variant", "Rule system", [=](v1::Variant v) { given(v), rules->set_variant(v); })
      ->group(group);
  AddNumber<uint32_t>(app, "--players", [=](uint32_t n) { given(n), rules->set_players(n); },
                      "Number of players")->group(group);
  AddWord<v1::Board>(app, "--board", "Board", [=](v1::Board b) { given(b), rules->set_board(b); })->group(group);
  AddWord<v1::Objective>(app, "--objective", "What wins",
                         [=](v1::Objective v) { given(v), rules->set_objective(v); })->group(group);
  app->add_option_function<std::string>(
      "--blocked", [=](const std::string& squares) {
        given(0);
        for (const auto square : absl::StrSplit(squares, ',')) rules->add_blocked_squares(std::string(square));
      }, "Squares out of play, e.g. c3,f6")->group(group);
  AddNumber<uint32_t>(app, "--random_blocked", [=](uint32_t n) { given(n), rules->set_random_blocked(n); },
                      "Number of squares that the server blocks")->group(group);
  AddNumber<uint64_t>(app, "--blocked_seed", [=](uint64_t n) { given(n), rules->set_blocked_seed(n); },
                      "Seed of --random_blocked; 0: the server picks one")->group(group);
  app->add_flag_callback("--free_opening", [=] { given(0), rules->set_free_opening(true); },
                         "Standard: empty board, the first four discs on the centre squares")->group(group);
  AddNumber<uint32_t>(app, "--corner_handicap",
                      [=](uint32_t n) { given(n), rules->set_corner_handicap(n); },
                      "Standard: corners that Black starts with, 1-4")->group(group);
  app->add_flag_callback("--sides", [=] { given(0), rules->set_sides(true); },
                         "Royal with 4 or 6 players: two sides")->group(group);
}

void AddGame(CLI::App* app, Options* o) {
  AddRules(app, o);
  const auto group = "The game";
  app->add_option_function<std::string>("--id", [=](const std::string& id) { o->game.set_game_id(id); },
                                        "Its id, [a-z0-9-]{4,63}; left out: the server makes one")->group(group);
  app->add_option_function<std::string>(
      "--open",
      [=](const std::string& text) {
        if (absl::SimpleAtoi(text, &o->open_count)) return;
        for (const auto word : absl::StrSplit(text, ',')) {
          const auto color = ParseWord<v1::Color>(word);
          if (!color) throw CLI::ValidationError("--open", absl::StrCat(word, " is neither a number nor a colour"));
          o->open.push_back(*color);
        }
      }, "Seats for others to join: colours (red,green), or how many of the last")->group(group);
  app->add_option_function<std::string>(
      "--names",
      [=](const std::string& pairs) {
        for (const auto pair : absl::StrSplit(pairs, ',')) {
          const std::pair<std::string, std::string> parts = absl::StrSplit(pair, absl::MaxSplits('=', 1));
          const auto color = ParseWord<v1::Color>(parts.first);
          if (!color) throw CLI::ValidationError("--names", absl::StrCat(pair, " is not COLOR=NAME"));
          o->names[*color] = parts.second;
        }
      }, "Names to show: black=Anna,red=Ben")->group(group);
  AddTime(app, "--turn_limit", "Time for each turn, e.g. 30s; left out: no limit",
          [=](absl::Duration time) { *o->game.mutable_turn_limit() = ToProto(time); })->group(group);
  AddWord<v1::TimeoutAction>(app, "--timeout_action", "What happens when it runs out",
                             [=](v1::TimeoutAction a) { o->game.set_timeout_action(a); })->group(group);
  app->add_flag_callback("--unlisted", [=] { o->game.set_unlisted(true); }, "Keep it out of `reversi list`")
      ->group(group);
}

void AddGameId(CLI::App* app, Options* o, bool required = true) {
  app->add_option("GAME", o->game_id, "The game's id")->required(required);
}

void AddTokens(CLI::App* app, Options* o) {
  app->add_option("--token", o->token, "The seat's token")->envname("REVERSI_TOKEN");
  app->add_option("--tokens", o->tokens_file, "File of tokens, as --save writes it")->type_name("FILE");
  AddWord<v1::Color>(app, "--seat", "Which seat", [o](v1::Color c) { o->seat = c; });
}

void AddSave(CLI::App* app, Options* o) {
  app->add_option("--save", o->save_file, "Keep the tokens in this file, readable by you alone")->type_name("FILE");
}

void AddReconnect(CLI::App* app, Options* o) {
  AddTime(app, "--reconnect_for", "How long to look for a server that went away (2m)",
          [o](absl::Duration time) { o->reconnect_for = time; });
}

void AddCreateAndPlay(CLI::App* app, Options* o) {
  CLI::App* create = app->add_subcommand("create", "Make a game and print its tokens");
  AddGame(create, o);
  create->add_option_function<std::string>(
      "--moves", [=](const std::string& moves) {
        for (const auto move : absl::StrSplit(moves, ' ', absl::SkipEmpty())) {
          o->game.add_opening_moves(std::string(move));
        }
      }, "Moves played at once, in one argument: \"c4 c3 d3\"");
  create->add_option_function<std::string>(
      "--request_id", [o](const std::string& id) { o->game.set_request_id(id); },
      "Makes a retry safe, 16-64 characters that nobody can guess; left out: a random one");
  AddSave(create, o);

  CLI::App* play = app->add_subcommand(
      "play", "Play at this keyboard: a new game, or a seat of GAME with --join or --tokens");
  AddGameId(play, o, false);
  AddGame(play, o);
  AddTokens(play, o);
  play->add_flag("--join", o->join, "Take an open seat of GAME (--seat: that one)");
  play->add_option("--name", o->name, "Your name, with --join");
  AddSave(play, o);
  AddReconnect(play, o);

  CLI::App* demo = app->add_subcommand("demo", "A whole game of random moves, drawn live; four on the Octagon "
                                               "unless rules are named");
  AddRules(demo, o);
  AddNumber<uint64_t>(demo, "--seed", [o](uint64_t n) { o->seed = n; },
                      "The same seed plays the same game; left out: another one each time");
  AddTime(demo, "--delay", "Pause after each move (0.15s on a terminal, else none)",
          [o](absl::Duration time) { o->delay = time; });
}

void AddOneGame(CLI::App* app, Options* o) {
  CLI::App* show = app->add_subcommand("show", "Draw a game");
  AddGameId(show, o);
  show->add_flag("--moves", o->with_moves, "Its moves as well");

  CLI::App* move = app->add_subcommand("move", "Play one move");
  AddGameId(move, o);
  move->add_option("MOVE", o->move, "d3; Royal also d3:n,ne and jack")->required();
  AddTokens(move, o);
  AddNumber<uint64_t>(move, "--expected_version", [o](uint64_t n) { o->version = n; },
                      "The version it was chosen at; left out: the current one");

  CLI::App* watch = app->add_subcommand("watch", "Follow a game to its end, through lost connections too");
  AddGameId(watch, o);
  AddNumber<uint64_t>(watch, "--after_version", [o](uint64_t n) { o->version = n; },
                      "Only events after this one; 0: all of them; left out: the game, then events");
  AddReconnect(watch, o);

  CLI::App* join = app->add_subcommand("join", "Take an open seat and print its token");
  AddGameId(join, o);
  AddWord<v1::Color>(join, "--seat", "Which seat; left out: the first open one", [o](v1::Color c) { o->seat = c; });
  join->add_option("--name", o->name, "Your name");
  AddSave(join, o);

  CLI::App* resign = app->add_subcommand("resign", "Leave a game");
  AddGameId(resign, o);
  AddTokens(resign, o);

  CLI::App* abort = app->add_subcommand("abort", "End a game without a winner; takes the owner's token");
  AddGameId(abort, o);
  abort->add_option("--token", o->token, "The owner's token");
  abort->add_option("--tokens", o->tokens_file, "File of tokens, as --save writes it")->type_name("FILE");
}

void AddFilesAndPerft(CLI::App* app, Options* o) {
  CLI::App* out = app->add_subcommand("export", "Write a game to a file: JSON lines with its rules and whole log");
  AddGameId(out, o);
  out->add_flag("--transcript", o->transcript, "The moves alone instead: f5d6c3");
  out->add_option("--file", o->file, "Where to; left out: standard output")->type_name("FILE");

  CLI::App* in = app->add_subcommand("import", "Make a game again from a file of `export`, or from a transcript "
                                               "played by the rules named");
  in->add_option("FILE", o->file, "The file; - is standard input")->required();
  AddGame(in, o);
  AddSave(in, o);

  CLI::App* perft = app->add_subcommand("perft", "Count the ways to play, without a server: a pass is one ply, a "
                                                 "finished game counts one leaf at every deeper depth");
  perft->add_option("DEPTH", o->depth, "Plies")->required()->check(CLI::Range(1, 60));
  perft->add_flag("--split", o->split, "By first move as well");
  AddRules(perft, o);
}

void AddLists(CLI::App* app, Options* o) {
  app->add_subcommand("variants", "What can be played: the rule systems and their options");
  CLI::App* list = app->add_subcommand("list", "Games, newest first");
  AddWord<v1::GameState>(list, "--state", "Only these", [o](v1::GameState s) { o->list.set_state(s); });
  AddWord<v1::Variant>(list, "--variant", "Only these", [o](v1::Variant v) { o->list.set_variant(v); });
  AddNumber<uint32_t>(list, "--limit", [o](uint32_t n) { o->limit = n; }, "At most so many games (50)");
}

void AddAll(CLI::App* app, Options* o) {
  app->set_version_flag("--version", "reversi " REVERSI_VERSION);
  app->require_subcommand(1);
  app->fallthrough();
  app->add_option("--server", o->server.address,
                  "The server's address; several with commas between: replicas of one service, asked in turn")
      ->envname("REVERSI_SERVER")->type_name("HOST:PORT,...")->capture_default_str();
  app->add_flag("--json", o->json, "Protobuf JSON, one object a line");
  app->add_option_function<std::string>("--color", [o](const std::string& word) {
    o->color = word == "always" ? ColorChoice::kAlways : word == "never" ? ColorChoice::kNever : ColorChoice::kAuto;
  }, "Colours: auto, always or never")->check(CLI::IsMember({"auto", "always", "never"}))->type_name("WORD");
  AddTime(app, "--timeout", "How long to wait for an answer (10s)",
          [o](absl::Duration time) { o->server.timeout = time; });
  const auto tls = "TLS";
  app->add_flag("--tls", o->server.tls, "Encrypt, and check the server's certificate")->group(tls);
  const auto file = [&](const char* flag, std::string* name, const char* help) {
    app->add_option_function<std::string>(flag, [o, name](const std::string& text) {
      *name = text;
      o->server.tls = true;
    }, help)->type_name("FILE")->group(tls);
  };
  file("--tls_ca", &o->server.tls_ca, "Certificates to trust, PEM; left out: the system's");
  file("--tls_cert", &o->server.tls_cert, "This client's certificate, PEM, for mutual TLS");
  file("--tls_key", &o->server.tls_key, "Its key, PEM");
  app->add_option("--tls_name", o->server.tls_name, "Name expected in the server's certificate")->group(tls);
  AddLists(app, o);
  AddCreateAndPlay(app, o);
  AddOneGame(app, o);
  AddFilesAndPerft(app, o);
  // Last: subcommands would inherit it.
  app->footer(kFooter);
}

// What is wrong with options that parse one by one; empty when nothing is.
std::string Contradiction(const Options& o) {
  if (o.server.tls_cert.empty() != o.server.tls_key.empty()) return "--tls_cert and --tls_key go together";
  if (o.command == "play" && o.game_id.empty() && (o.join || !o.tokens_file.empty())) {
    return "--join and --tokens want a GAME";
  }
  if (o.command == "play" && !o.game_id.empty() && !o.join && o.tokens_file.empty() && o.token.empty()) {
    return "a seat of GAME is played with --join, --tokens FILE, or --token TOKEN --seat COLOR";
  }
  if (o.command == "play" && !o.token.empty() && o.tokens_file.empty() && !o.join && !o.game_id.empty() &&
      o.seat == v1::COLOR_UNSPECIFIED) {
    return "--token wants --seat COLOR as well";
  }
  return "";
}

}  // namespace

std::optional<absl::Duration> ParseTime(const std::string& text) {
  absl::Duration time;
  double seconds = 0;
  if (absl::SimpleAtod(text, &seconds) && std::isfinite(seconds)) {
    time = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, &time)) {
    return std::nullopt;
  }
  if (time < absl::ZeroDuration() || time == absl::InfiniteDuration()) return std::nullopt;
  return time;
}

Parsed ParseArguments(std::vector<std::string> arguments) {
  Options options;
  CLI::App app("reversi - play Reversi for three or four players, and its family, on a server", "reversi");
  AddAll(&app, &options);
  // CLI11 takes its arguments from the end.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 && app.get_subcommands().empty() && !app.remaining().empty() &&
        app.remaining().front()[0] != '-') {
      return {.options = {}, .exit_code = kUsage,
              .text = absl::StrCat("'", app.remaining().front(),
                                   "' is no command\nRun with --help for more information.\n")};
    }
    std::ostringstream out, err;
    const int code = app.exit(error, out, err);
    return {.options = {}, .exit_code = code == 0 ? kDone : kUsage, .text = code == 0 ? out.str() : err.str()};
  }
  options.command = app.get_subcommands().front()->get_name();
  if (const std::string wrong = Contradiction(options); !wrong.empty()) {
    return {.options = {}, .exit_code = kUsage,
            .text = absl::StrCat(wrong, "\nRun with --help for more information.\n")};
  }
  return {.options = std::move(options), .exit_code = kDone, .text = {}};
}

}  // namespace reversi::cli
