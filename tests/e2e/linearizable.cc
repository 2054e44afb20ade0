#include "tests/e2e/linearizable.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <unordered_map>

namespace reversi::e2e {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
using Outcome = ObservedCall::Outcome;

struct Version {
  std::string command;     // empty: nobody was told that it is theirs
  uint64_t sent = kNever;  // the first try of its command
  uint64_t seen = kNever;  // the first answer that shows it, or a later version
};

class Check {
 public:
  Check(const std::vector<LoggedEvent>& log, const std::vector<ObservedCall>& calls)
      : log_(log), calls_(calls), versions_(log.size() + 2) {}

  std::vector<std::string> Faults() {
    for (const ObservedCall& call : calls_) TakeAnswer(call);
    for (const ObservedCall& call : calls_) TakeTries(call);
    for (size_t v = log_.size(); v > 0; --v) versions_[v].seen = std::min(versions_[v].seen, versions_[v + 1].seen);
    for (size_t v = 1; v <= log_.size(); ++v) CheckVersion(v);
    for (const ObservedCall& call : calls_) CheckCall(call);
    return std::move(faults_);
  }

 private:
  void Fault(const std::string& what, uint64_t version) {
    faults_.push_back(what + " (version " + std::to_string(version) + ")");
  }

  bool Exists(uint64_t version) const { return version >= 1 && version <= log_.size(); }

  void TakeAnswer(const ObservedCall& call) {
    if (call.outcome == Outcome::kUnknown || (call.outcome != Outcome::kAccepted && call.version == 0)) return;
    if (!Exists(call.version)) return Fault("an answer tells a version that is not in the log", call.version);
    Version& version = versions_[call.version];
    version.seen = std::min(version.seen, call.answered);
    const LoggedEvent& logged = log_[call.version - 1];
    if (!call.state.empty() && call.state != logged.state) {
      Fault("told another state than the log's: " + call.state + " instead of " + logged.state, call.version);
    }
    if (call.outcome != Outcome::kAccepted) return;
    if (logged.event != call.event) Fault("the answer differs from the log: " + call.event, call.version);
    if (!version.command.empty() && version.command != call.command) {
      Fault("two commands own one event: " + version.command + " and " + call.command, call.version);
    }
    version.command = call.command;
    const auto [accepted, first] = accepted_.try_emplace(call.command, call.version);
    if (!first && accepted->second != call.version) Fault("a command became two events: " + call.command, call.version);
    uint64_t& answered = answered_.try_emplace(call.command, kNever).first->second;
    answered = std::min(answered, call.answered);
  }

  // When the owner of each version was first sent; commands of unknown outcome may own what nobody else does.
  void TakeTries(const ObservedCall& call) {
    if (call.command.empty()) return;
    const auto accepted = accepted_.find(call.command);
    if (accepted != accepted_.end()) {
      Version& version = versions_[accepted->second];
      version.sent = std::min(version.sent, call.sent);
    } else if (call.outcome == Outcome::kUnknown) {
      uint64_t& sent = unknown_[Place(call.event, call.only)].try_emplace(call.command, kNever).first->second;
      sent = std::min(sent, call.sent);
    }
  }

  static std::string Place(const std::string& event, uint64_t only) { return std::to_string(only) + " " + event; }

  void CheckVersion(size_t v) {
    Version& version = versions_[v];
    if (version.command.empty()) {
      const std::string& event = log_[v - 1].event;
      auto* candidates = &unknown_[Place(event, v)];
      const bool certain = candidates->size() == 1;
      if (candidates->empty()) candidates = &unknown_[Place(event, 0)];
      if (candidates->empty()) return Fault("nobody sent " + event, v);
      // The earliest sent one explains most.
      const auto best = std::min_element(candidates->begin(), candidates->end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      version.sent = best->second;
      // It was accepted, although nobody was told so.
      if (certain) accepted_[best->first] = v;
      candidates->erase(best);
    }
    latest_sent_ = std::max(latest_sent_, version.sent);
    if (version.seen < latest_sent_) Fault("seen before it, or one before it, was sent", v);
  }

  void CheckCall(const ObservedCall& call) {
    const bool tells = call.outcome == Outcome::kRead || (call.outcome == Outcome::kRefused && call.version != 0);
    const bool tells_none = call.outcome == Outcome::kRead && call.version == 0;
    if ((tells_none || (tells && Exists(call.version))) && versions_[call.version + 1].seen < call.sent) {
      Fault("told an old version after a newer one had been seen: " + call.command, call.version);
    }
    if (call.outcome != Outcome::kRefused) return;
    const auto accepted = accepted_.find(call.command);
    if (accepted == accepted_.end()) return;
    const auto answered = answered_.find(call.command);
    if ((answered != answered_.end() && answered->second < call.sent) ||
        (call.version != 0 && call.version >= accepted->second)) {
      Fault("the retry of an accepted command was refused: " + call.command, accepted->second);
    }
  }

  const std::vector<LoggedEvent>& log_;
  const std::vector<ObservedCall>& calls_;
  std::vector<Version> versions_;                       // by version; one more at the end that is never seen
  std::unordered_map<std::string, uint64_t> accepted_;  // command → its version
  std::unordered_map<std::string, uint64_t> answered_;  // command → when that was first answered
  // event and the only version that it can be → command → sent
  std::unordered_map<std::string, std::unordered_map<std::string, uint64_t>> unknown_;
  uint64_t latest_sent_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

uint64_t NextMoment() {
  static std::atomic<uint64_t> next = 1;
  return next.fetch_add(1);
}

std::vector<std::string> Unlinearizable(const std::vector<LoggedEvent>& log, const std::vector<ObservedCall>& calls) {
  return Check(log, calls).Faults();
}

}  // namespace reversi::e2e
