// The server as a process: its line, flags, ports, and its clean stop.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <list>
#include <regex>
#include <thread>

#include "tests/e2e/refusal.h"
#include "tests/e2e/server_process.h"
#include "tests/e2e/watch_promises.h"

namespace reversi::e2e {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A secret that must never be shown.
const std::string kKey = "this-is-a-secret-key-of-at-least-32-bytes";

int Connect(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(connect(connection, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  return connection;
}

std::string HttpGet(const std::string& address, const std::string& path) {
  const int connection = Connect(address);
  const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(send(connection, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  std::string answer;
  char piece[4096];
  for (ssize_t n; (n = recv(connection, piece, sizeof piece, 0)) > 0;) answer.append(piece, static_cast<size_t>(n));
  close(connection);
  return answer;
}

std::string FileWith(const std::string& name, const std::string& content) {
  const std::string path = testing::TempDir() + name + std::to_string(getpid());
  std::ofstream(path) << content;
  return path;
}

TEST(ServerStart, TellsTheChosenPortsInOneLine) {
  const auto server = ServerProcess::Start();
  ASSERT_NE(server, nullptr);
  EXPECT_THAT(server->line(), Not(HasSubstr(":0 ")));
  Caller caller(server->address());
  NewGame(caller);
  EXPECT_THAT(HttpGet(server->metrics_address(), "/metrics"), HasSubstr("200 OK"));
}

TEST(ServerStart, HealthAndReflectionAreOn) {
  const auto server = ServerProcess::Start();
  ASSERT_NE(server, nullptr);
  Caller caller(server->address());
  EXPECT_EQ(caller.Health(), 1);
  EXPECT_EQ(caller.Health("reversi.v1.GameService"), 1);
  EXPECT_EQ(caller.Health("no.such.Service"), 0);
  std::string services;
  const std::string list_services("\x3a\x01*", 3);
  ASSERT_TRUE(
      caller.CallRaw("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", list_services, &services).ok());
  EXPECT_THAT(services, HasSubstr("reversi.v1.GameService"));
  EXPECT_THAT(services, HasSubstr("grpc.health.v1.Health"));
}

TEST(ServerFlags, HelpAndVersionExitWithZero) {
  const Ended help = RunToEnd({.flags = {"--help"}, .environment = {"REVERSI_TOKEN_KEY=" + kKey}});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("127.0.0.1:50051"));
  EXPECT_THAT(help.out, HasSubstr("127.0.0.1:9464"));
  EXPECT_THAT(help.out + help.err, Not(HasSubstr(kKey)));
  // Every flag of the help names its environment variable.
  const std::regex flag(R"(--([a-z_]+))");
  int flags = 0;
  for (std::sregex_iterator at(help.out.begin(), help.out.end(), flag), end; at != end; ++at) {
    std::string name = (*at)[1];
    if (name == "help" || name == "version") continue;
    ++flags;
    for (char& c : name) c = static_cast<char>(std::toupper(c));
    EXPECT_THAT(help.out, HasSubstr("REVERSI_" + name));
  }
  EXPECT_GT(flags, 10);
  const Ended version = RunToEnd({.flags = {"--version"}});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::ContainsRegex("reversi_server [0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST(ServerFlags, WrongValuesExitWithTwoAndName) {
  const std::pair<const char*, const char*> wrong[] = {{"--listen", "nowhere"},
                                                       {"--listen", "127.0.0.1"},
                                                       {"--listen", "127.0.0.1:65536"},
                                                       {"--listen", "127.0.0.1:-1"},
                                                       {"--listen", "127.0.0.1:x"},
                                                       {"--listen", ""},
                                                       {"--metrics_listen", ":"},
                                                       {"--metrics_listen", "x:y:z"},
                                                       {"--drain_delay", "5"},
                                                       {"--drain_delay", "-1s"},
                                                       {"--drain_delay", "soon"},
                                                       {"--drain_grace", "0s"},
                                                       {"--max_games", "0"},
                                                       {"--max_games", "-1"},
                                                       {"--max_games", "many"},
                                                       {"--max_watchers", "0"},
                                                       {"--command_queue", "0"},
                                                       {"--max_message_bytes", "1"},
                                                       {"--rate_limit", "-1"},
                                                       {"--rate_limit", "nan"},
                                                       {"--keep_finished", "1 day"},
                                                       {"--log_level", "loud"},
                                                       {"--token_key_file", "/no/such/file"},
                                                       {"--connection_age", "x"},
                                                       {"--tls_cert_file", "/no/such/file"}};
  for (const auto& [flag, value] : wrong) {
    SCOPED_TRACE(std::string(flag) + "=" + value);
    const Ended ended = RunToEnd({.flags = {std::string(flag) + "=" + value}});
    EXPECT_EQ(ended.code, 2);
    EXPECT_THAT(ended.err, AnyOf(HasSubstr(flag), HasSubstr(*value == '\0' ? flag : value)));
    EXPECT_THAT(ended.out, IsEmpty());
  }
  for (const char* word : {"--no_such_flag", "--no_such_flag=1", "word", "--listen", "-x"}) {
    const Ended ended = RunToEnd({.flags = {word}});
    EXPECT_EQ(ended.code, 2) << word;
    EXPECT_FALSE(ended.err.empty()) << word;
  }
}

TEST(ServerFlags, KeysThatAreTooShortAreRefused) {
  const std::string file = FileWith("short_key", std::string(31, 'k') + "\n");
  EXPECT_EQ(RunToEnd({.flags = {"--token_key_file=" + file}}).code, 2);
  EXPECT_EQ(RunToEnd({.environment = {"REVERSI_TOKEN_KEY=short"}}).code, 2);
  unlink(file.c_str());
}

TEST(ServerFlags, EnvironmentVariablesSetThemAndFlagsWin) {
  const auto server =
      ServerProcess::Start({.flags = {"--drain_delay=0s"},
                            .environment = {"REVERSI_DRAIN_DELAY=1h", "REVERSI_MAX_GAMES=1", "REVERSI_LOG_LEVEL=off"}});
  ASSERT_NE(server, nullptr);
  Caller caller(server->address());
  NewGame(caller);
  EXPECT_TRUE(Refused(caller.Call(v1::CreateGameRequest()), "TOO_MANY_GAMES"));
  EXPECT_EQ(server->Stop(), 0);
  const Ended ended = RunToEnd({.environment = {"REVERSI_DRAIN_DELAY=soon"}});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("soon"));
}

TEST(ServerStart, PortsThatAreTakenExitWithTwo) {
  const auto first = ServerProcess::Start();
  ASSERT_NE(first, nullptr);
  for (const std::string& taken : {first->address(), first->metrics_address()}) {
    const Ended grpc = RunToEnd({.flags = {"--listen=" + taken, "--metrics_listen=127.0.0.1:0"}});
    EXPECT_EQ(grpc.code, 2);
    EXPECT_THAT(grpc.err, HasSubstr(taken));
    const Ended metrics = RunToEnd({.flags = {"--listen=127.0.0.1:0", "--metrics_listen=" + taken}});
    EXPECT_EQ(metrics.code, 2);
    EXPECT_THAT(metrics.err, HasSubstr(taken));
  }
  Caller caller(first->address());
  NewGame(caller);
}

TEST(ServerStart, TokensAndKeysAreNeverShown) {
  const std::string file = FileWith("key", kKey + "\n");
  const auto server =
      ServerProcess::Start({.flags = {"--drain_delay=0s", "--log_level=debug", "--token_key_file=" + file}});
  ASSERT_NE(server, nullptr);
  Caller caller(server->address());
  const TestGame game = NewGame(caller);
  const std::string first = game.created.position().legal_moves(0);
  EXPECT_TRUE(caller.Move(game.id, game.tokens[0], first, 1).ok());
  EXPECT_FALSE(caller.Move(game.id, game.tokens[1] + "x", first, 1).ok());
  v1::AbortGameRequest abort;
  abort.set_game_id(game.id);
  abort.set_owner_token(game.owner);
  EXPECT_TRUE(caller.Call(abort).ok());
  const std::string metrics = HttpGet(server->metrics_address(), "/metrics");
  EXPECT_THAT(metrics, Not(HasSubstr(game.id)));
  server->Stop();
  const std::string shown = server->Errors() + metrics;
  for (const std::string& token : game.tokens) EXPECT_THAT(shown, Not(HasSubstr(token)));
  EXPECT_THAT(shown, Not(HasSubstr(game.owner)));
  EXPECT_THAT(shown, Not(HasSubstr(kKey)));
  unlink(file.c_str());
}

TEST(ServerStop, IdleServerExitsWithZeroOnSigtermAndSigint) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const auto server = ServerProcess::Start({.flags = {"--drain_delay=0s"}});
    ASSERT_NE(server, nullptr);
    server->Signal(signal);
    EXPECT_EQ(server->Wait(), 0) << server->Errors();
  }
}

TEST(ServerStop, DuringTheDelayHealthIsNotServingAndEverythingIsServed) {
  const auto server = ServerProcess::Start({.flags = {"--drain_delay=1h"}});
  ASSERT_NE(server, nullptr);
  Caller caller(server->address());
  const TestGame game = NewGame(caller);
  Watcher open(caller.stub(), WatchFromNow(game.id));
  ASSERT_TRUE(open.AwaitMessages(1));
  server->Signal(SIGTERM);
  // A change of health is awaited; nothing else is.
  while (caller.Health() == 1) std::this_thread::yield();
  EXPECT_EQ(caller.Health(), 2);
  EXPECT_EQ(caller.Health("reversi.v1.GameService"), 2);
  const TestGame later = NewGame(caller);
  Watcher watcher(caller.stub(), WatchFromNow(later.id));
  EXPECT_TRUE(watcher.AwaitMessages(1));
  EXPECT_TRUE(caller.Move(game.id, game.tokens[0], game.created.position().legal_moves(0), 1).ok());
  EXPECT_TRUE(open.AwaitVersion(2));
  Caller fresh(server->address());
  EXPECT_EQ(fresh.Get(game.id).version(), 2u);
  // A second signal ends the delay.
  server->Signal(SIGTERM);
  EXPECT_EQ(open.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(watcher.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(server->Wait(), 0) << server->Errors();
}

TEST(ServerStop, ThousandIdleWatchersAndOneThatStoppedReadingEndWithUnavailable) {
  const auto server = ServerProcess::Start({.flags = {"--drain_delay=0s", "--drain_grace=20s"}});
  ASSERT_NE(server, nullptr);
  Caller caller(server->address()), slow(server->address());
  v1::CreateGameRequest request;
  request.mutable_rules()->set_board(v1::BOARD_10X10);
  const TestGame game = NewGame(caller, request);
  Watcher stopped(slow.stub(), WatchAfter(game.id, 0), /*stalled=*/true);
  std::list<Watcher> watchers;
  for (int i = 0; i < 1000; ++i) watchers.emplace_back(caller.stub(), WatchFromNow(game.id));
  for (Watcher& watcher : watchers) ASSERT_TRUE(watcher.AwaitMessages(1));
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
  for (Watcher& watcher : watchers) EXPECT_EQ(watcher.AwaitEnd().error_code(), grpc::StatusCode::UNAVAILABLE);
}

// Whoever calls while the server stops gets an answer, or UNAVAILABLE; new games and watches are refused by name as
// long as they reach it. Moves that were answered are in the log that its watcher saw.
TEST(ServerStop, CallsUnderWayFinishAndLaterOnesAreUnavailable) {
  const auto server = ServerProcess::Start({.flags = {"--drain_delay=0s"}});
  ASSERT_NE(server, nullptr);
  std::atomic<int> served = 0;
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      Caller caller(server->address());
      const TestGame game = NewGame(caller);
      v1::Position position = game.created.position();
      for (uint64_t version = 1; position.legal_moves_size() > 0; ++version) {
        grpc::ClientContext context;
        v1::SubmitMoveRequest submit;
        submit.set_game_id(game.id);
        submit.set_seat_token(game.TokenOf(position.turn()));
        submit.set_move(position.legal_moves(0));
        submit.set_expected_version(version);
        v1::SubmitMoveResponse response;
        const grpc::Status status = caller.stub()->SubmitMove(&context, submit, &response);
        if (!status.ok()) {
          // gRPC cancels what reaches a server that is closing its connections; the delay (none here) is there so
          // that nobody sends any more by then.
          EXPECT_THAT(status.error_code(), AnyOf(grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::CANCELLED))
              << Describe(status);
          grpc::ClientContext creating;
          v1::CreateGameResponse created;
          const grpc::Status refused = caller.stub()->CreateGame(&creating, {}, &created);
          EXPECT_THAT(refused.error_code(), AnyOf(grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::CANCELLED))
              << Describe(refused);
          EXPECT_THAT(Details(refused).reason, AnyOf("", "SERVER_DRAINING"));
          return;
        }
        ++served;
        position = response.event().position();
      }
    });
  }
  while (served < 50) std::this_thread::yield();
  EXPECT_EQ(server->Stop(), 0) << server->Errors();
}

}  // namespace
}  // namespace reversi::e2e
