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

  // Told how long the owner of a read took to answer; or that it took longer than so, where a
  // follower that was asked later was faster.
  std::function<void(std::chrono::nanoseconds)> on_time = {};

  // The rest is about reads that older states may answer.
  Staleness* staleness = nullptr;  // null: only the owner answers
  SteadyTime ask_copies_at = SteadyTime::max();
  // Whether a follower may be asked because the owner is slow, which uses up a part of a budget. If
  // not, it is asked when the owner counts as silent.
  std::function<bool()> may_hedge = [] { return true; };
  std::function<std::vector<KnownCopies::Copy>()> copies = {};
  // A follower answered before an owner that is silent, and was not asked at once.
  std::function<void()> on_silent = {};
  std::function<void(FollowerAsked, FollowerEvent)> on_follower = {};
};

// One thread only. What it is given outlives it, and so does the request.
template <typename Asked>
class PatientCall {
 public:
  using Answer = typename Asked::Reply;

  PatientCall(ShardClient& owner, const Asked& request, CallOptions how, Patience patience)
      : request_(request), how_(std::move(how)), patience_(std::move(patience)), sent_(now()) {
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
        if (reply.ok() && std::holds_alternative<Answer>(*reply))
          took(owner_->arrived().value_or(now()) - sent_);
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
  void took(std::chrono::nanoseconds time) const {
    if (kIsRead<Asked> && patience_.on_time) patience_.on_time(time);
  }
  // A follower that was asked at once may be faster than an owner that is back.
  bool has_waited() const { return patience_.ask_copies_at > sent_; }
  FollowerAsked why_now() const {
    if (!owner_) return FollowerAsked::kAway;
    const bool slow = has_waited() && now() < patience_.silent_at;
    return slow ? FollowerAsked::kSlow : FollowerAsked::kSilent;
  }
  void tell(FollowerEvent event) const {
    if (patience_.on_follower) patience_.on_follower(why_, event);
  }
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
    if (next_ < copies_.size()) {
      why_ = why_now();
      if (why_ != FollowerAsked::kSlow || patience_.may_hedge())
        ask_next();
      else
        ask_at_ = patience_.silent_at;
      return {};
    }
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
    tell(FollowerEvent::kAsked);
  }

  bool is_of_use(const Reply<Answer>& reply) {
    if (!reply.ok()) return false;
    // A follower that knows less than the caller cannot say who owns a partition.
    if (const auto* refused = std::get_if<Refused>(&*reply))
      return refused->epoch > how_.map_epoch;
    // One that has become the owner says nothing.
    Staleness& staleness = *patience_.staleness;
    if (behind_) staleness.behind = std::max(staleness.behind.value_or(*behind_), *behind_);
    tell(FollowerEvent::kAnswered);
    if (!owner_ || !has_waited()) return true;
    took(now() - sent_);
    if (now() >= patience_.silent_at && patience_.on_silent) patience_.on_silent();
    return true;
  }

  const Asked& request_;
  const CallOptions how_;
  const Patience patience_;
  const SteadyTime sent_;
  std::optional<Started<Answer>> owner_;
  Error problem_{Code::kUnavailable, "the shard was not asked"};
  SteadyTime look_at_ = SteadyTime::max();
  SteadyTime ask_at_ = SteadyTime::max();  // the next follower
  std::vector<KnownCopies::Copy> copies_ = {};
  std::size_t next_ = 0;  // among copies_
  std::optional<Started<Answer>> copy_ = {};
  FollowerAsked why_ = FollowerAsked::kAway;  // copy_ was asked
  std::optional<std::chrono::milliseconds> behind_ = {};  // as copy_ says
};

}  // namespace kin::router
