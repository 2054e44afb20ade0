// Calls of all nine methods, from bytes on the wire to the answer: the decoder and the real handlers, over an
// in-process channel. The input is a list of calls: method, how the request is completed, its length, its bytes.
// Nothing crashes; a refusal has a reason of the table, with its code, and changes no game.
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/notation.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "reversi/v1/reversi.pb.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/service/in_process_service.h"

namespace reversi {
namespace {

constexpr const char* kMethods[] = {"CreateGame", "JoinGame",  "GetGame",      "ListGames", "SubmitMove",
                                    "ResignGame", "AbortGame", "ListVariants", "WatchGame"};
constexpr int kMaxCalls = 8;

// The service for the life of the process; an input has games of its own in it.
class House {
 public:
  House() { google::protobuf::SetLogHandler(nullptr); }  // text that is not UTF-8 is expected here

  // A game that waits, one that is played, one that is over; their ids.
  std::vector<std::string> Begin() {
    const std::vector<std::string> ids = {"fuzz-waiting", "fuzz-active", "fuzz-finished"};
    for (const std::string& id : ids) {
      CreateWish wish;
      wish.start.rules = std::get<Rules>(MakeRules({}));
      wish.start.seats.resize(4);
      wish.start.seats[3].open = id == ids[0];
      games_.Create(id, std::move(wish), nullptr, [](Answer answer, const std::shared_ptr<Game>&) {
        FUZZ_CHECK(std::holds_alternative<Accepted>(answer));
      });
    }
    auto abort = std::make_unique<Proposal>();
    abort->wish = AbortWish{Token(ids[2], 0)};
    abort->answer = [](Answer answer) { FUZZ_CHECK(std::holds_alternative<Accepted>(answer)); };
    games_.Find(ids[2])->Submit(std::move(abort));
    return ids;
  }
  // All games go: those that were not over expire.
  void End() {
    service_.clock.Advance(absl::Hours(24 * 31));
    for (int round = 0; round < 100 && games_.count() > 0; ++round) {
      games_.RunDeadlines();
      for (int i = 0; i < Games::kSweepCalls; ++i) games_.Sweep();
      service_.clock.Advance(absl::Hours(24 * 31));
    }
    FUZZ_CHECK(games_.count() == 0);
  }

  // The owner's for 0, else that of seat holder - 1.
  std::string Token(const std::string& id, int holder) {
    const std::string nonce(games_.Find(id)->Read()->record.nonce());
    return holder == 0 ? service_.tokens.OwnerToken(id, nonce) : service_.tokens.SeatToken(id, nonce, holder - 1);
  }
  Snapshot Read(const std::string& id) { return *games_.Find(id)->Read(); }
  uint64_t count() const { return games_.count(); }

  grpc::Status Unary(const std::string& method, const std::string& bytes) {
    grpc::ClientContext context;
    const grpc::Slice slice(bytes);
    grpc::CompletionQueue queue;
    const auto call = grpc::GenericStub(service_.channel).PrepareUnaryCall(&context, Path(method), {&slice, 1}, &queue);
    call->StartCall();
    grpc::ByteBuffer response;
    grpc::Status status;
    call->Finish(&response, &status, &status);
    Wait(queue);
    return status;
  }
  // Reads one message of the watch, unless none is to be expected, and goes away.
  grpc::Status Watch(const std::string& bytes, bool waits) {
    grpc::ClientContext context;
    const grpc::Slice slice(bytes);
    grpc::CompletionQueue queue;
    const auto call = grpc::GenericStub(service_.channel).PrepareCall(&context, Path("WatchGame"), &queue);
    call->StartCall(call.get());
    Wait(queue);
    call->WriteLast({&slice, 1}, {}, call.get());
    Wait(queue);
    if (waits) context.TryCancel();
    grpc::ByteBuffer message;
    call->Read(&message, call.get());
    if (Wait(queue)) {
      context.TryCancel();
      do call->Read(&message, call.get());
      while (Wait(queue));
    }
    grpc::Status status;
    call->Finish(&status, call.get());
    Wait(queue);
    return status;
  }

 private:
  static std::string Path(const std::string& method) { return "/reversi.v1.GameService/" + method; }
  static bool Wait(grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    bool ok = false;
    FUZZ_CHECK(queue.Next(&tag, &ok));
    return ok;
  }

  InProcessService service_;
  Games& games_ = service_.games;
};

House& TheHouse() {
  static House* const house = new House;
  return *house;
}

// What the fuzzer cannot guess: ids, tokens, the version, a legal move. Bits of `how`: 1 = fill in, 2-3 the game,
// 4-6 the holder of the token, 7 a legal move, 8 the current version.
template <typename Request>
void FillIn(Request& request, uint8_t how, const std::vector<std::string>& ids) {
  const std::string& id = ids[how / 2 % ids.size()];
  const Snapshot now = TheHouse().Read(id);
  request.set_game_id(id);
  const std::string token = TheHouse().Token(id, how / 8 % 8 % 5);
  if constexpr (requires { request.set_seat_token(token); }) request.set_seat_token(token);
  if constexpr (requires { request.set_owner_token(token); }) request.set_owner_token(token);
  if constexpr (requires { request.set_move(token); }) {
    const auto legal = now.table.position.LegalMoves();
    if ((how & 64) != 0 && !legal.empty()) request.set_move(MoveText(legal[request.expected_version() % legal.size()]));
    if ((how & 128) != 0) request.set_expected_version(now.table.version);
  }
}

// Whether the bytes are a request; completed as `how` says.
template <typename Request>
bool Complete(std::string& bytes, uint8_t how, const std::vector<std::string>& ids) {
  Request request;
  if (!request.ParseFromString(bytes)) return false;
  if constexpr (requires { request.set_game_id(bytes); }) {
    if ((how & 1) != 0) {
      FillIn(request, how, ids);
      bytes = request.SerializeAsString();
    }
  }
  return true;
}

bool Complete(size_t method, std::string& bytes, uint8_t how, const std::vector<std::string>& ids) {
  switch (method) {
    case 0: return Complete<v1::CreateGameRequest>(bytes, how & 0xfe, ids);
    case 1: return Complete<v1::JoinGameRequest>(bytes, how, ids);
    case 2: return Complete<v1::GetGameRequest>(bytes, how, ids);
    case 3: return Complete<v1::ListGamesRequest>(bytes, how, ids);
    case 4: return Complete<v1::SubmitMoveRequest>(bytes, how, ids);
    case 5: return Complete<v1::ResignGameRequest>(bytes, how, ids);
    case 6: return Complete<v1::AbortGameRequest>(bytes, how, ids);
    case 7: return Complete<v1::ListVariantsRequest>(bytes, how, ids);
    default: return Complete<v1::WatchGameRequest>(bytes, how, ids);
  }
}

// Whether the watch may have nothing to send: it waits for the next event of a game that is not over.
bool WatchWaits(const std::string& bytes, const std::vector<std::string>& ids) {
  v1::WatchGameRequest request;
  if (!request.ParseFromString(bytes) || !request.has_after_version()) return false;
  for (const std::string& id : ids) {
    if (request.game_id() == id) return TheHouse().Read(id).table.version == request.after_version();
  }
  return true;  // a game that the input has made
}

void CheckRefusal(const grpc::Status& status, bool parses) {
  google::rpc::Status details;
  FUZZ_CHECK(details.ParseFromString(status.error_details()));
  if (details.details().empty()) {  // gRPC's own
    FUZZ_CHECK(!parses);
    return;
  }
  FUZZ_CHECK(details.code() == status.error_code());
  google::rpc::ErrorInfo info;
  FUZZ_CHECK(details.details(0).UnpackTo(&info));
  FUZZ_CHECK(info.domain() == kErrorDomain);
  int row = 0;
  while (row < kReasons && info.reason() != ReasonName(static_cast<Reason>(row))) ++row;
  FUZZ_CHECK(row < kReasons);
  FUZZ_CHECK(ToStatus({.reason = static_cast<Reason>(row), .message = {}}).error_code() == status.error_code());
}

std::vector<std::string> Records(const std::vector<std::string>& ids) {
  std::vector<std::string> records;
  for (const std::string& id : ids) records.emplace_back(TheHouse().Read(id).record.bytes().view());
  return records;
}

void Run(Input bytes) {
  House& house = TheHouse();
  const std::vector<std::string> ids = house.Begin();
  for (int calls = 0; calls < kMaxCalls && !bytes.empty(); ++calls) {
    const size_t method = bytes.Next() % std::size(kMethods);
    const uint8_t how = bytes.Next();
    const size_t length = bytes.Next() + bytes.Next() % 8 * 256u;
    std::string request = bytes.Take(length);
    const bool parses = Complete(method, request, how, ids);
    const auto before = Records(ids);
    const uint64_t count = house.count();
    const bool watch = method == std::size(kMethods) - 1;
    const grpc::Status status =
        watch ? house.Watch(request, WatchWaits(request, ids)) : house.Unary(kMethods[method], request);
    if (status.ok() || (watch && status.error_code() == grpc::CANCELLED)) {
      FUZZ_CHECK(parses);
      continue;
    }
    CheckRefusal(status, parses);
    FUZZ_CHECK(Records(ids) == before);
    FUZZ_CHECK(house.count() == count);
  }
  house.End();
}

}  // namespace
}  // namespace reversi

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  reversi::Run(reversi::Input({data, size}));
  return 0;
}
