#include "tests/load/player.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "tests/load/process.h"

namespace reversi::load {

std::string ReasonOf(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (details.ParseFromString(status.error_details())) {
    for (const auto& detail : details.details()) {
      if (detail.UnpackTo(&info)) return info.reason();
    }
  }
  return absl::StrCat("code ", static_cast<int>(status.error_code()), " ", status.error_message());
}

bool Player::Next(int64_t intended) {
  intended_ = intended;
  const Workload workload = generator_.options().workload;
  if (generator_.phase() == Generator::Phase::kStopping) return false;
  if (generator_.phase() == Generator::Phase::kPreparing) {
    const bool to_the_end = workload == Workload::kCatchUp;
    if (game_ != nullptr && !game_->over() && (to_the_end || game_->ply() < generator_.options().plies)) {
      Move();
      return true;
    }
    if (game_ != nullptr) generator_.PutGame(std::move(game_));
    if (!generator_.TakeGameToMake()) return false;
    Create();
    return true;
  }
  switch (workload) {
    case Workload::kCreate:
      Create();
      return true;
    case Workload::kPlay:
      if (game_ == nullptr) {
        Create();
      } else if (game_->over()) {
        Get();
      } else {
        Move();
      }
      return true;
    case Workload::kMoves:
    case Workload::kFanOut:
      if (!generator_.all_delivered()) return false;
      if (game_ == nullptr) game_ = generator_.TakeGame();
      if (game_ == nullptr || game_->over()) return false;
      if (workload == Workload::kFanOut) generator_.ExpectDeliveries();
      Move();
      return true;
    case Workload::kCatchUp:
    case Workload::kHold:
      return false;
  }
  return false;
}

template <typename Call, typename Method>
void Player::Send(Call& call, Method method, size_t answer_bytes, void (Player::*done)()) {
  const auto finish = [this, done] { (this->*done)(); };
  if (!generator_.options().bare) {
    call.Start(*connection_.games, method, generator_.queue(), finish);
    return;
  }
  call.status = grpc::Status::OK;
  const std::string payload = call.request.SerializeAsString();
  if (generator_.options().workload == Workload::kFanOut && generator_.phase() == Generator::Phase::kRunning) {
    publish_.request.set_payload(payload);
    publish_.request.set_answer_bytes(static_cast<uint32_t>(answer_bytes));
    publish_.request.set_event_bytes(static_cast<uint32_t>(answer_bytes));
    publish_.Start(*connection_.bare, &bare::v1::Bare::Stub::AsyncPublish, generator_.queue(), finish);
    return;
  }
  echo_.request.set_payload(payload);
  echo_.request.set_answer_bytes(static_cast<uint32_t>(answer_bytes));
  echo_.Start(*connection_.bare, &bare::v1::Bare::Stub::AsyncEcho, generator_.queue(), [this, &call, finish] {
    call.status = echo_.status;
    finish();
  });
}

template <typename Call>
bool Player::Count(const std::string& method, const Call& call) {
  OfMethod& of = generator_.tally().methods[method];
  of.latency.Add(Now() - intended_);
  of.request_bytes += call.request.ByteSizeLong();
  if (!call.status.ok()) {
    ++of.errors[ReasonOf(call.status)];
    return false;
  }
  of.response_bytes += call.response.ByteSizeLong();
  return true;
}

void Player::Create() {
  kind_ = generator_.NextKind();
  create_.request.Clear();
  LoadGame::FillRequest(kind_, &create_.request);
  const size_t answer_bytes = generator_.options().bare ? generator_.tape().created.ByteSizeLong() : 0;
  Send(create_, &v1::GameService::Stub::AsyncCreateGame, answer_bytes, &Player::CreateDone);
}

void Player::CreateDone() {
  if (generator_.options().bare) create_.response = generator_.tape().created;
  if (Count("CreateGame", create_)) {
    std::string fault;
    game_ = std::make_shared<LoadGame>(kind_, create_.response, generator_.NextSeed(), &fault);
    if (!fault.empty()) generator_.tally().Fault("CreateGame: " + fault);
    if (generator_.options().workload == Workload::kCreate) game_.reset();
    if (game_ != nullptr && generator_.options().workload == Workload::kPlay) {
      for (int i = 0; i < generator_.options().watchers; ++i) generator_.Watch(game_, 0);
    }
  }
  generator_.Free(this);
}

void Player::Move() {
  move_.request.Clear();
  game_->NextMove(&move_.request);
  const bool bare = generator_.options().bare;
  game_->KeepSent(Now());
  Send(move_, &v1::GameService::Stub::AsyncSubmitMove,
       bare ? generator_.tape().answers[static_cast<size_t>(game_->ply()) - 1].size() : 0, &Player::MoveDone);
}

void Player::MoveDone() {
  if (generator_.options().bare) {
    move_.response.ParseFromString(generator_.tape().answers[static_cast<size_t>(game_->ply()) - 1]);
  }
  if (Count("SubmitMove", move_)) {
    std::string fault = game_->Check(move_.response.event());
    if (fault.empty() && move_.response.event().version() != game_->version()) fault = "is an older event";
    if (!fault.empty()) generator_.tally().Fault(absl::StrCat("SubmitMove: ", fault));
  } else {
    game_.reset();  // where it stands is unknown
  }
  const bool shared = generator_.options().workload == Workload::kMoves;
  if (shared && generator_.phase() != Generator::Phase::kPreparing && game_ != nullptr) {
    generator_.PutGame(std::move(game_));
  }
  generator_.Free(this);
}

void Player::Get() {
  get_.request.set_game_id(game_->id());
  Send(get_, &v1::GameService::Stub::AsyncGetGame, 1024, &Player::GetDone);
}

void Player::GetDone() {
  if (Count("GetGame", get_) && !generator_.options().bare) {
    const std::string fault = game_->Check(get_.response.game());
    if (!fault.empty()) generator_.tally().Fault("GetGame: " + fault);
  }
  game_.reset();
  generator_.Free(this);
}

}  // namespace reversi::load
