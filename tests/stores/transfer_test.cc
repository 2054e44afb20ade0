// Games between stores: --export_to and --import_from, by real servers.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "service/store_disk.h"
#include "service/transfer.h"
#include "tests/e2e/api_client.h"
#include "tests/e2e/server_process.h"
#include "tests/stores/etcd_cluster.h"
#include "tests/stores/store_driver.h"

namespace reversi::stores {
namespace {

using e2e::Caller;
using e2e::Ended;
using e2e::ServerProcess;
using e2e::TestGame;
using Flags = std::vector<std::string>;

const std::string kKey = "REVERSI_TOKEN_KEY=" + std::string(40, 'k');

Flags With(Flags flags, const std::string& flag) {
  flags.push_back(flag);
  return flags;
}

std::string Text(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void Write(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

// A server's games and what they are now, the tokens still in hand.
struct Played {
  std::vector<TestGame> games;
  std::vector<std::string> now;  // GetGame, serialized
};

std::string Now(Caller& caller, const std::string& id) { return caller.Get(id).SerializeAsString(); }

// Plays some games, one of them unlisted and one of them to its end.
Played Play(const Flags& store) {
  const auto server = ServerProcess::Start({.flags = With(store, "--drain_delay=0s"), .environment = {kKey}});
  Caller caller(server->address());
  Played played;
  for (int i = 0; i < 5; ++i) {
    v1::CreateGameRequest request;
    request.set_unlisted(i == 0);
    request.set_game_id("moved-" + std::to_string(i));
    const auto made = caller.Call(request);
    EXPECT_TRUE(made.ok()) << made.status.error_message();
    TestGame game;
    game.id = made.response.game().game_id();
    game.tokens.assign(made.response.seat_tokens().begin(), made.response.seat_tokens().end());
    v1::Game now = made.response.game();
    for (int ply = 0; now.position().legal_moves_size() > 0 && (i == 1 || ply < 4 * i); ++ply) {
      const std::string& token = game.TokenOf(now.position().turn());
      EXPECT_TRUE(caller.Move(game.id, token, now.position().legal_moves(0), now.version()).ok());
      now = caller.Get(game.id);
    }
    played.now.push_back(Now(caller, game.id));
    played.games.push_back(game);
  }
  EXPECT_EQ(server->Stop(), 0);
  return played;
}

// The same games are in this store, and go on with the tokens that were given before.
void ExpectSame(const Flags& store, const Played& played) {
  const auto server = ServerProcess::Start({.flags = With(store, "--drain_delay=0s"), .environment = {kKey}});
  Caller caller(server->address());
  // The list is whole once the store has been read.
  const auto patience = std::chrono::steady_clock::now() + e2e::kPatience;
  while (caller.Health("reversi.v1.GameService") != 1) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience) << "it does not become SERVING";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto list = caller.Call(v1::ListGamesRequest());
  EXPECT_EQ(list.response.games_size(), 4) << "one is unlisted";
  for (size_t i = 0; i < played.games.size(); ++i) EXPECT_EQ(Now(caller, played.games[i].id), played.now[i]) << i;
  for (const size_t i : {0, 2}) {
    const TestGame& game = played.games[i];
    const v1::Game now = caller.Get(game.id);
    const auto moved =
        caller.Move(game.id, game.TokenOf(now.position().turn()), now.position().legal_moves(0), now.version());
    EXPECT_TRUE(moved.ok()) << moved.status.error_message();
    EXPECT_EQ(moved.response.event().version(), now.version() + 1);
  }
}

Ended Move(const Flags& store, const std::string& flag) { return e2e::RunToEnd({.flags = With(store, flag)}); }

class TransferTest : public testing::Test {
 protected:
  Flags Disk(const std::string& name) const { return {"--store=disk", "--data_dir=" + folder_.path() + "/" + name}; }
  // Moves both ways, and says whether a second export is the first, byte for byte.
  void Carry(const Flags& from, const Flags& to) {
    const Played played = Play(from);
    const Ended out = Move(from, "--export_to=" + file_);
    ASSERT_EQ(out.code, 0) << out.err;
    EXPECT_EQ(out.out, "exported 5 games\n");
    const Ended in = Move(to, "--import_from=" + file_);
    ASSERT_EQ(in.code, 0) << in.err;
    EXPECT_EQ(in.out, "imported 5 games\n");
    const Ended back = Move(to, "--export_to=" + file_ + ".back");
    ASSERT_EQ(back.code, 0) << back.err;
    EXPECT_TRUE(Text(file_) == Text(file_ + ".back")) << "the records differ";
    ExpectSame(to, played);
  }

  TempFolder folder_;
  const std::string file_ = folder_.path() + "/games";
};

TEST_F(TransferTest, FromDiskToDiskEverythingSurvives) { Carry(Disk("from"), Disk("to")); }

TEST_F(TransferTest, FromDiskToEtcdEverythingSurvives) {
  EtcdCluster etcd(1);
  Carry(Disk("from"), {"--store=etcd", "--etcd_endpoints=" + etcd.joined_endpoints()});
}

TEST_F(TransferTest, AnImportGoesOnWhereItStoppedAndLeavesOtherGamesAlone) {
  const Played played = Play(Disk("from"));
  ASSERT_EQ(Move(Disk("from"), "--export_to=" + file_).code, 0);
  const std::string early = folder_.path() + "/early";
  ASSERT_EQ(Move(Disk("to"), "--import_from=" + file_).code, 0);
  ASSERT_EQ(Move(Disk("to"), "--import_from=" + file_).code, 0) << "the same again is nothing new";
  ExpectSame(Disk("to"), played);
  ASSERT_EQ(Move(Disk("to"), "--export_to=" + early).code, 0);
  ASSERT_EQ(Move(Disk("from"), "--import_from=" + early).code, 0) << "two games have moved on since";
  const Ended late = Move(Disk("from"), "--import_from=" + file_);
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.err.find("a later state"), std::string::npos) << late.err;
  Play(Disk("other"));
  const Ended other = Move(Disk("other"), "--import_from=" + file_);
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.err.find("another game"), std::string::npos) << other.err;
}

TEST_F(TransferTest, ADamagedFileIsRefusedByPlaceAndNothingOfItIsTaken) {
  Play(Disk("from"));
  ASSERT_EQ(Move(Disk("from"), "--export_to=" + file_).code, 0);
  const std::string whole = Text(file_);
  const auto refusal = [&](const std::string& text) -> std::string {
    Write(file_, text);
    TempFolder fresh;
    LogLines log;
    auto store = std::get<std::unique_ptr<DiskStore>>(DiskStore::Open(fresh.path() + "/data", log.sink()));
    const Transferred done = ImportGames(*store, file_);
    EXPECT_EQ(GetNow(*store, "moved-0").version, 0u) << "nothing is taken";
    return std::holds_alternative<std::string>(done) ? std::get<std::string>(done) : std::string();
  };
  EXPECT_EQ(refusal(whole.substr(1)), file_ + " is no file of records of version 1");
  EXPECT_EQ(refusal(whole.substr(0, whole.size() - 1)),
            file_ + " is damaged at byte " + std::to_string(whole.size() - 16) + ", after 5 whole games");
  EXPECT_EQ(refusal(whole + "x"),
            file_ + " is damaged at byte " + std::to_string(whole.size() - 16) + ", after 5 whole games");
  // Any byte: of a size, a checksum, a version, an id, a record.
  for (size_t i = 18; i < whole.size(); i += whole.size() / 40) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EXPECT_NE(refusal(damaged).find(" is damaged at byte "), std::string::npos) << i;
  }
  std::string damaged = whole;
  damaged[30] = static_cast<char>(damaged[30] ^ 1);
  EXPECT_EQ(refusal(damaged), file_ + " is damaged at byte 18, after 0 whole games");
}

TEST_F(TransferTest, WhatCannotBeIsRefusedInWords) {
  const Ended memory = Move({}, "--export_to=" + file_);
  EXPECT_EQ(memory.code, 2);
  EXPECT_NE(memory.err.find("need --store=disk or --store=etcd"), std::string::npos) << memory.err;
  const Ended both = Move(With(Disk("from"), "--export_to=a"), "--import_from=b");
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.err.find("do not go together"), std::string::npos) << both.err;
  const Ended none = Move(Disk("from"), "--import_from=" + file_);
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find(file_ + " cannot be read"), std::string::npos) << none.err;
  const Ended nowhere = Move(Disk("from"), "--export_to=" + file_ + "/games");
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_NE(nowhere.err.find("No such file or directory"), std::string::npos) << nowhere.err;
  const std::string pipe = file_ + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Ended no_file = Move(Disk("from"), "--export_to=" + pipe);
  EXPECT_EQ(no_file.code, 1);
  EXPECT_NE(no_file.err.find(pipe + ": not a regular file"), std::string::npos) << no_file.err;
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

}  // namespace
}  // namespace reversi::stores
