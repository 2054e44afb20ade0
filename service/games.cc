#include "service/games.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "service/convert.h"
#include "service/log.h"
#include "service/text.h"

namespace reversi {
namespace {

// Entries of the list that one call looks at, so that a rare filter costs no long lock: the page may be short.
constexpr int kMaxScanned = 20'000;

Error TooManyGames() {
  return {.reason = Reason::kTooManyGames,
          .message = "the server holds as many games as it may",
          .retry_after = absl::Seconds(10)};
}

}  // namespace

Games::Games(Store& store, const Tokens& tokens, const Clock& clock, Metrics& metrics, Retention retention,
             GameLimits limits)
    : metrics_(metrics),
      store_(store),
      tokens_(tokens),
      clock_(clock),
      retention_(retention),
      limits_(limits),
      context_{.store = store,
               .tokens = tokens,
               .clock = clock,
               .listener = *this,
               .serialize = SerializeForWatchers,
               .command_queue = limits.command_queue,
               .shared = store.shared()},
      loading_(!store.shared()) {}
Games::~Games() = default;

Games::Shard& Games::ShardOf(std::string_view id) {
  static_assert(kSweepCalls == 64, "six bits choose the shard");
  return shards_[GameId::Hash()(id) >> 58];
}

std::shared_ptr<Game> Games::Find(std::string_view id) {
  std::shared_ptr<Game> game = FindHeld(id);
  if (game != nullptr) return game;
  const Stored stored = InMemory(id);
  if (stored.version == 0) return nullptr;
  game = Game::Finished(id, context_, stored);
  // One that is not finished has been made meanwhile.
  return game == nullptr ? FindHeld(id) : game;
}

bool Games::Has(std::string_view id) {
  const std::shared_ptr<Game> game = FindHeld(id);
  return game == nullptr ? InMemory(id).version != 0 : game->version() != 0;
}

Stored Games::InMemory(std::string_view id) {
  Stored stored;
  if (!store_.in_memory()) return stored;
  store_.Get(id, [&stored](bool ok, Stored got) {
    if (ok) stored = std::move(got);
  });
  return stored;
}

std::shared_ptr<Game> Games::FindHeld(std::string_view id) {
  Shard& shard = ShardOf(id);
  absl::MutexLock lock(&shard.mu);
  const auto found = shard.games.find(id);
  return found == shard.games.end() ? nullptr : *found;
}

void Games::Load() {
  // Where nobody else writes, what comes after the beginning is known here before the feed tells it.
  const auto loaded = std::make_shared<std::atomic<bool>>(false);
  store_.Follow(
      [this, loaded](std::string_view id, const Stored& stored) {
        if (!store_.shared() && loaded->load(std::memory_order_relaxed)) return;
        Told(std::string(id), stored);
      },
      [this, loaded] {
        loaded->store(true, std::memory_order_relaxed);
        loading_.Finish();
      });
}

void Games::Told(const std::string& id, const Stored& stored) {
  if (stored.version == 0) {
    const std::shared_ptr<Game> game = Find(id);
    if (game == nullptr) return;
    if (game->state() == GameState::kFinished) return Vanished(*game);
    // Mostly the next game of this id, and the news is late; or somebody has deleted it by hand.
    game->Doubt();
    return AwaitDeadline(*game);
  }
  for (;;) {
    // What stands in the store is served, whatever the limit for new games.
    const std::shared_ptr<Game> game = FindOrAdd(id, std::numeric_limits<uint64_t>::max());
    if (!game->Offer(stored)) continue;
    if (game->version() == 0 && game->RetireIdle()) GiveUp(game);  // unreadable
    return;
  }
}

void Games::LocateInStore(const std::string& id, absl::AnyInvocable<void(OrError<std::shared_ptr<Game>>)> done) {
  store_.Get(id, [this, id, done = std::move(done)](bool ok, Stored stored) mutable {
    if (!ok) return done(StoreUnavailable());
    if (stored.version == 0) return done(GameNotFound(id));
    Told(id, stored);
    std::shared_ptr<Game> game = Find(id);
    if (game == nullptr) return done(StoreUnavailable());
    done(std::move(game));
  });
}

void Games::ReadFromStore(const std::string& id, absl::AnyInvocable<void(OrError<Current>)> done) {
  store_.Get(id, [this, id, done = std::move(done)](bool ok, Stored stored) mutable {
    if (!ok) return done(StoreUnavailable());
    if (stored.version == 0) return done(GameNotFound(id));
    Told(id, stored);
    std::shared_ptr<Game> game = Find(id);
    if (game == nullptr) return done(StoreUnavailable());
    auto snapshot = game->Read();
    if (snapshot.has_value() && snapshot->table.version >= stored.version) {
      return done(Current{std::move(game), *std::move(snapshot)});
    }
    // A put of its own keeps the game from taking this over just now: the record says it all.
    auto read = Record::Read(stored.record);
    const auto* record = std::get_if<Record>(&read);
    auto table = record == nullptr ? std::nullopt : LastTable(*record);
    if (!table.has_value()) return done(StoreUnavailable());
    done(Current{std::move(game), {*record, *table}});
  });
}

std::shared_ptr<Game> Games::FindOrAdd(const std::string& id, uint64_t limit) {
  Shard& shard = ShardOf(id);
  absl::MutexLock lock(&shard.mu);
  const auto found = shard.games.find(id);
  if (found != shard.games.end()) return *found;
  if (count_.fetch_add(1, std::memory_order_relaxed) >= limit) {
    count_.fetch_sub(1, std::memory_order_relaxed);
    return nullptr;
  }
  auto game = std::make_shared<Game>(id, context_);
  shard.games.insert(game);
  return game;
}

bool Games::Remove(const std::shared_ptr<Game>& game) {
  Shard& shard = ShardOf(game->id());
  absl::MutexLock lock(&shard.mu);
  const auto found = shard.games.find(game->id().text());
  if (found == shard.games.end() || *found != game) return false;
  shard.games.erase(found);
  return true;
}

void Games::GiveUp(const std::shared_ptr<Game>& game) {
  if (Remove(game)) count_.fetch_sub(1, std::memory_order_relaxed);
}

void Games::Create(std::string id, CreateWish wish, absl::AnyInvocable<bool()> abandoned, CreateAnswer answer) {
  auto proposal = std::make_unique<Proposal>();
  proposal->abandoned = std::move(abandoned);
  const std::string request = wish.start.request;
  bool making = false;
  if (!request.empty()) {
    std::optional<Making> made = BeginMaking(request, std::move(id));
    if (!made.has_value()) return answer(Malformed("request_id", "is being used with another request"), nullptr);
    id = std::move(made->id);
    making = made->making;
  }
  const auto shared_answer = std::make_shared<CreateAnswer>(
      [this, request, making, answer = std::move(answer)](Answer got, std::shared_ptr<Game> game) mutable {
        if (making) EndMaking(request);
        answer(std::move(got), std::move(game));
      });
  proposal->wish = std::move(wish);
  // Again only when the place was given up just as it was found.
  while (proposal != nullptr) {
    std::shared_ptr<Game> game = Find(id);
    if (game == nullptr) game = FindOrAdd(id, limits_.games);
    if (game == nullptr) {
      const Start& start = std::get<CreateWish>(proposal->wish).start;
      const auto begun = Begin(start);
      const auto* bad = std::get_if<BadOpening>(&begun);
      return (*shared_answer)(bad == nullptr ? TooManyGames() : IllegalOpening(start, *bad), nullptr);
    }
    proposal->answer = [this, game, shared_answer](Answer got) {
      if (!std::holds_alternative<Accepted>(got) && game->Retire()) GiveUp(game);
      (*shared_answer)(std::move(got), game);
    };
    proposal = game->Submit(std::move(proposal));
  }
}

bool Games::IsChosen(const Game& game, const Start& start) const {
  if (start.request.empty()) return false;
  const std::vector<std::string> ids = tokens_.GameIds(start.request);
  return std::find(ids.begin(), ids.end(), game.id().text()) == ids.end();
}

std::optional<std::string> Games::MadeBy(const std::string& request) {
  {
    absl::MutexLock lock(&list_mu_);
    const auto found = chosen_.find(request);
    if (found != chosen_.end()) return found->second;
  }
  return MadeByDerivedId(tokens_.GameIds(request));
}

std::optional<std::string> Games::MadeByDerivedId(const std::vector<std::string>& ids) {
  // After a change of keys the game may stand under the id of an older one.
  for (const std::string& id : ids) {
    if (Has(id)) return id;
  }
  return std::nullopt;
}

std::optional<Games::Making> Games::BeginMaking(const std::string& request, std::string id) {
  const std::vector<std::string> derived = tokens_.GameIds(request);
  // What was made and what is being made are looked at together: between them no creation ends.
  absl::MutexLock lock(&list_mu_);
  const auto chosen = chosen_.find(request);
  if (chosen != chosen_.end()) return Making{chosen->second, false};
  if (std::optional<std::string> made = MadeByDerivedId(derived)) return Making{*std::move(made), false};
  BeingMade& being_made = being_made_.try_emplace(request, BeingMade{id, 0}).first->second;
  if (being_made.id != id) return std::nullopt;
  ++being_made.calls;
  return Making{std::move(id), true};
}

void Games::EndMaking(const std::string& request) {
  absl::MutexLock lock(&list_mu_);
  const auto found = being_made_.find(request);
  if (--found->second.calls == 0) being_made_.erase(found);
}

void Games::PutEnded(PutOutcome outcome, absl::Duration duration) { metrics_.PutEnded(outcome, duration); }

void Games::Count(Game& game, const Event& event, Origin origin) {
  const Table& after = event.after;
  const Variant variant = after.position.variant();
  const int players = after.position.players();
  const bool over = after.state == GameState::kFinished;
  if (event.created) metrics_.GameAdded(variant, players);
  if (over) metrics_.GameEnded(variant, players);
  if (origin == Origin::kStore) return;
  if (event.created) {
    metrics_.GameCreated(variant, players);
  } else if (event.command.kind == Command::Kind::kMove) {
    metrics_.MoveAccepted(variant, event.command.on_timeout);
  }
  if (!over) return;
  const absl::Time created = game.record().start().created;
  metrics_.GameFinished(variant, players, after.reason, after.position.ply(), after.time - created);
}

static_assert(static_cast<int>(Variant::kRoyal) <= 3 && static_cast<int>(GameState::kFinished) <= 3, "two bits each");

Games::Entry::Entry(const GameId& of, const Start& start, GameState now)
    : created_ms(static_cast<uint64_t>(absl::ToUnixMillis(start.created)) & ((uint64_t{1} << 48) - 1)),
      listed(!start.unlisted),
      variant(static_cast<uint64_t>(start.rules.variant) & 3),
      state(static_cast<uint64_t>(now) & 3),
      minutes(0),
      id(of) {}

void Games::Enter(Game& game, const Event& event) {
  const Table& after = event.after;
  const Start start = game.record().start();
  const bool chosen = event.created && IsChosen(game, start);
  absl::MutexLock lock(&list_mu_);
  const auto entry = list_.insert(Entry(game.id(), start, after.state)).first;
  entry->state = static_cast<uint64_t>(after.state) & 3;
  const int64_t minutes = std::min(absl::ToInt64Minutes(after.time - start.created), kMostMinutes);
  if (after.state == GameState::kFinished) entry->minutes = static_cast<uint64_t>(minutes) & kMostMinutes;
  if (chosen) chosen_[start.request] = game.id();
}

void Games::Committed(Game& game, const Event& event, std::optional<GameState> before, Origin origin) {
  Count(game, event, origin);
  const Table& after = event.after;
  if (event.created || after.state != before) Enter(game, event);
  // A deadline that only moves back is found out when the earlier one comes up.
  const bool first = !before.has_value() || *before == GameState::kWaiting;
  if (after.deadline != absl::InfiniteFuture() && first) AwaitDeadline(game);
}

void Games::AwaitDeadline(Game& game) {
  const absl::Duration when = game.deadline();
  if (when == absl::InfiniteDuration()) return;
  absl::MutexLock lock(&due_mu_);
  due_.push_back({when, game.weak_from_this()});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

OrError<Games::Page> Games::List(int page_size, std::string_view page_token, Filter filter) {
  Place after{std::numeric_limits<int64_t>::max(), ""};
  if (!page_token.empty()) {
    std::string text;
    std::vector<std::string> parts;
    if (page_token.size() <= 256 && absl::WebSafeBase64Unescape(ToAbsl(page_token), &text)) parts = absl::StrSplit(text, '/');
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &after.created_ms)) {
      return Malformed("page_token", "is no next_page_token of this server");
    }
    after.id = parts[1];
  }
  Page page;
  std::vector<GameId> ids;
  {
    absl::MutexLock lock(&list_mu_);
    int scanned = 0;
    for (auto at = list_.upper_bound(after); at != list_.end(); ++at) {
      if (static_cast<int>(ids.size()) == page_size || ++scanned > kMaxScanned) {
        const Entry& last = *std::prev(at);
        page.next_page_token = absl::WebSafeBase64Escape(absl::StrCat(last.created(), "/", ToAbsl(last.id)));
        break;
      }
      if (!at->listed) continue;
      if (filter.variant.has_value() && *filter.variant != static_cast<Variant>(at->variant)) continue;
      if (filter.state.has_value() && *filter.state != static_cast<GameState>(at->state)) continue;
      ids.push_back(at->id);
    }
  }
  for (const GameId& id : ids) {
    std::shared_ptr<Game> game = Find(id);
    auto snapshot = game == nullptr ? std::nullopt : game->Read();
    if (!snapshot.has_value()) continue;
    // It may have gone on since, and no longer be what was asked for.
    if (filter.state.has_value() && *filter.state != snapshot->table.state) continue;
    page.games.push_back({std::move(game), *std::move(snapshot)});
  }
  return page;
}

}  // namespace reversi
