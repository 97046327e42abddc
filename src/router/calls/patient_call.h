// One call to a shard under way: to its owner and, while that is silent, to followers of it.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "router/calls/known_copies.h"
#include "router/shard_client.h"

namespace kin::router {

// What a call does beside waiting for the owner.
struct Patience {
  Clock* clock = &system_clock();
  // From this moment on the owner counts as silent, and `look` is called now and again.
  SteadyTime silent_at = SteadyTime::max();
  // Looks where the shard is; true if another process has it now, and will not answer this call.
  std::function<bool()> look = {};

  // The rest is about reads that older states may answer.
  Staleness* staleness = nullptr;  // null: only the owner answers
  SteadyTime ask_copies_at = SteadyTime::max();
  std::function<std::vector<KnownCopies::Copy>()> copies = {};
  std::function<void()> on_silent = {};  // a follower answered before the owner did
};

// One thread only. What it is given outlives it, and so does the request.
template <typename Asked>
class PatientCall {
 public:
  using Answer = typename Asked::Reply;

  PatientCall(ShardClient& owner, const Asked& request, CallOptions how, Patience patience)
      : request_(request), how_(std::move(how)), patience_(std::move(patience)) {
    owner_.emplace(start(owner, request, how_));
    look_at_ = patience_.silent_at;
    if (may_be_stale()) ask_at_ = patience_.ask_copies_at;
  }

  // The first answer: of the owner, or of a follower whose state is not too old. The owner's
  // refusal or error counts as an answer, unless it means that it is away.
  Reply<Answer> wait() {
    for (;;) {
      if (owner_ && owner_->is_ready_by(owner_until())) {
        Reply<Answer> reply = owner_->wait();
        owner_.reset();
        if (!is_silence(reply)) return reply;
        problem_ = reply.error();
        if (may_be_stale()) ask_at_ = now();
      }
      if (auto reply = ask_copies()) return std::move(*reply);
      if (!owner_ && !copy_ && ask_at_ == SteadyTime::max()) return problem_;
      if (owner_ && now() >= look_at_) {
        if (patience_.look && patience_.look())
          return Error{Code::kUnavailable, "another process has taken the shard over"};
        look_at_ = now() + kLooks;
      }
    }
  }

 private:
  static constexpr std::chrono::milliseconds kLooks{200};
  // While two calls are under way, they are looked at in turns.
  static constexpr std::chrono::milliseconds kTurn{2};

  static bool is_silence(const Reply<Answer>& reply) {
    if (reply.ok()) return false;
    // A node without the shard is not its owner any more.
    return reply.error().code == Code::kUnavailable || reply.error().code == Code::kNotFound;
  }
  bool may_be_stale() const {
    return kIsRead<Asked> && patience_.staleness != nullptr && patience_.staleness->most;
  }
  SteadyTime now() const { return patience_.clock->steady_now(); }
  // Its call ends at its deadline by itself.
  SteadyTime owner_until() const {
    return std::min(copy_ ? now() + kTurn : ask_at_, look_at_);
  }

  // Takes the answer of the follower that was asked, or asks the next one when it is time.
  std::optional<Reply<Answer>> ask_copies() {
    if (copy_) {
      if (owner_ && !copy_->is_ready_by(now() + kTurn)) return {};
      Reply<Answer> reply = copy_->wait();
      copy_.reset();
      if (is_of_use(reply)) return reply;
    }
    if (now() < ask_at_) return {};
    if (next_ == 0) copies_ = patience_.copies();
    if (next_ < copies_.size()) return ask_next(), std::nullopt;
    // Without the owner the caller begins again.
    next_ = 0;
    ask_at_ = owner_ ? now() + kLooks : SteadyTime::max();
    return {};
  }

  void ask_next() {
    CallOptions how = how_;
    behind_.reset();
    how.most_behind = patience_.staleness->most;
    how.on_behind = [this](std::chrono::milliseconds time) { behind_ = time; };
    copy_.emplace(start(*copies_[next_++].client, request_, how));
  }

  bool is_of_use(const Reply<Answer>& reply) {
    if (!reply.ok()) return false;
    // A follower that knows less than the caller cannot say who owns a partition.
    if (const auto* refused = std::get_if<Refused>(&*reply))
      return refused->epoch > how_.map_epoch;
    // One that has become the owner says nothing.
    Staleness& staleness = *patience_.staleness;
    if (behind_) staleness.behind = std::max(staleness.behind.value_or(*behind_), *behind_);
    if (owner_ && patience_.on_silent) patience_.on_silent();
    return true;
  }

  const Asked& request_;
  const CallOptions how_;
  const Patience patience_;
  std::optional<Started<Answer>> owner_;
  Error problem_{Code::kUnavailable, "the shard was not asked"};
  SteadyTime look_at_ = SteadyTime::max();
  SteadyTime ask_at_ = SteadyTime::max();  // the next follower
  std::vector<KnownCopies::Copy> copies_ = {};
  std::size_t next_ = 0;  // among copies_
  std::optional<Started<Answer>> copy_ = {};
  std::optional<std::chrono::milliseconds> behind_ = {};  // as copy_ says
};

}  // namespace kin::router
