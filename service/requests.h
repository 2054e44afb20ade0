// From the messages of the API to wishes: every field is checked here, in the errors' order of precedence, and a
// refusal names the field.
#ifndef REVERSI_SERVICE_REQUESTS_H_
#define REVERSI_SERVICE_REQUESTS_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "reversi/v1/reversi.pb.h"
#include "service/errors.h"
#include "service/judge.h"

namespace reversi {

// Limits of the API.
inline constexpr size_t kMaxDisplayName = 64;
inline constexpr absl::Duration kMinTurnLimit = absl::Seconds(1);
inline constexpr absl::Duration kMaxTurnLimit = absl::Hours(24 * 30);
inline constexpr absl::Duration kMinHeartbeat = absl::Seconds(1);
inline constexpr absl::Duration kMaxHeartbeat = absl::Minutes(5);
inline constexpr absl::Duration kDefaultHeartbeat = absl::Seconds(30);
inline constexpr int kDefaultPageSize = 50;
inline constexpr int kMaxPageSize = 1000;

struct CreateCall {
  CreateWish wish;
  std::string game_id;     // empty = the server makes one
  std::string request_id;  // empty = no deduplication
};
struct WatchCall {
  std::optional<uint64_t> after_version;
  absl::Duration heartbeat = kDefaultHeartbeat;
};
struct ListCall {
  int page_size = kDefaultPageSize;
  std::string page_token;
  std::optional<GameState> state;
  std::optional<Variant> variant;
};

// `caller`: the identity that the request_id belongs to. `seed` blocks squares where the request leaves it open.
OrError<CreateCall> Check(const v1::CreateGameRequest& request, std::string_view caller, uint64_t seed);
OrError<JoinWish> Check(const v1::JoinGameRequest& request);
OrError<MoveWish> Check(const v1::SubmitMoveRequest& request);
OrError<ResignWish> Check(const v1::ResignGameRequest& request);
OrError<AbortWish> Check(const v1::AbortGameRequest& request);
OrError<WatchCall> Check(const v1::WatchGameRequest& request);
OrError<ListCall> Check(const v1::ListGamesRequest& request);
std::optional<Error> Check(const v1::GetGameRequest& request);

}  // namespace reversi

#endif  // REVERSI_SERVICE_REQUESTS_H_
