#include "service/cli/session.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "service/cli/json.h"
#include "service/cli/words.h"

namespace reversi::cli {
namespace {

// Number of players of the rules, asking the server for the variant's default when they leave it open.
grpc::Status Players(const Connection& server, const v1::Rules& rules, uint32_t* players) {
  *players = rules.players();
  if (*players != 0) return grpc::Status::OK;
  v1::ListVariantsResponse variants;
  const grpc::Status status =
      server.CallAgain(&v1::GameService::Stub::ListVariants, v1::ListVariantsRequest(), &variants);
  const auto wanted = rules.variant() == v1::VARIANT_UNSPECIFIED ? v1::VARIANT_MULTIPLAYER : rules.variant();
  for (const auto& variant : variants.variants()) {
    if (variant.variant() == wanted) *players = variant.defaults().players();
  }
  return status;
}

}  // namespace

int Session::Fail(const Failure& failure) const {
  if (options.json) {
    err << failure.json << std::endl;
  } else {
    err << "reversi: " << FailureText(failure, server.address()) << std::endl;
  }
  return ExitCodeOf(failure);
}

int Session::Fail(ExitCode code, absl::string_view message) const {
  err << "reversi: " << message << std::endl;
  return code;
}

void Session::PrintJson(const google::protobuf::Message& message) const { out << JsonLine(message) << std::endl; }

std::string NewRequestId() {
  std::random_device chance;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppendFormat(&id, "%08x", chance());
  return id;
}

grpc::Status CreateGame(const Session& session, v1::CreateGameRequest request, v1::CreateGameResponse* made) {
  const Options& o = session.options;
  if (request.request_id().empty()) request.set_request_id(NewRequestId());
  if (!o.open.empty() || o.open_count > 0 || !o.names.empty()) {
    uint32_t players = 0;
    if (auto status = Players(session.server, request.rules(), &players); !status.ok()) return status;
    // Numbers and colours that the game has not are the server's to refuse: it is sent a seat for each.
    uint32_t seats = std::max(players, o.open_count);
    for (const auto color : o.open) seats = std::max(seats, static_cast<uint32_t>(color));
    for (const auto& [color, name] : o.names) seats = std::max(seats, static_cast<uint32_t>(color));
    for (uint32_t seat = 0; seat < std::min(seats, 64u); ++seat) {
      const auto color = static_cast<v1::Color>(seat + 1);
      const bool open = seat + o.open_count >= players || std::count(o.open.begin(), o.open.end(), color) > 0;
      v1::Seat* added = request.add_seats();
      added->set_kind(open ? v1::SEAT_KIND_OPEN : v1::SEAT_KIND_PLAYER);
      if (const auto name = o.names.find(color); name != o.names.end()) added->set_display_name(name->second);
    }
  }
  return session.server.CallAgain(&v1::GameService::Stub::CreateGame, request, made);
}

Tokens TokensOf(const v1::CreateGameResponse& made) {
  Tokens tokens{.game_id = made.game().game_id(), .seats = {}, .owner = made.owner_token()};
  for (int seat = 0; seat < made.seat_tokens_size(); ++seat) {
    if (!made.seat_tokens(seat).empty()) tokens.seats[static_cast<v1::Color>(seat + 1)] = made.seat_tokens(seat);
  }
  return tokens;
}

absl::Status ShowTokens(const Session& session, const Tokens& tokens) {
  if (!session.options.json) {
    for (const auto& [color, token] : tokens.seats) {
      session.out << "token of " << absl::StrFormat("%-6s", Word(color)) << "  " << token << "\n";
    }
    if (!tokens.owner.empty()) session.out << "token of owner   " << tokens.owner << "\n";
  }
  const std::string& file = session.options.save_file;
  if (file.empty()) return absl::OkStatus();
  if (auto status = WriteFile(file, TokensText(tokens), /*secret=*/true); !status.ok()) return status;
  if (!session.options.json) session.out << "Tokens kept in " << file << "\n";
  return absl::OkStatus();
}

absl::StatusOr<Tokens> GivenTokens(const Session& session) {
  const Options& o = session.options;
  if (!o.tokens_file.empty()) {
    auto text = ReadFile(o.tokens_file);
    if (!text.ok()) return text.status();
    auto tokens = ParseTokens(*text);
    if (!tokens.ok()) return absl::InvalidArgumentError(absl::StrCat(o.tokens_file, ": ", tokens.status().message()));
    if (tokens->game_id != o.game_id) {
      return absl::InvalidArgumentError(
          absl::StrCat(o.tokens_file, " holds tokens of game ", tokens->game_id, ", not of ", o.game_id));
    }
    return tokens;
  }
  if (o.token.empty()) return absl::InvalidArgumentError("a token is needed: --token, REVERSI_TOKEN or --tokens FILE");
  return Tokens{.game_id = o.game_id, .seats = {{o.seat, o.token}}, .owner = o.token};
}

}  // namespace reversi::cli
