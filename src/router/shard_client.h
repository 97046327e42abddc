// How a router reaches one shard of an index: in this process, over a network, or in a simulation.
//
//   Started<Heads> one = start(first, HeadsRequest{...}, options);   // both are under way
//   Started<Heads> other = start(second, HeadsRequest{...}, options);
//   KIN_TRY(const auto reply, one.wait());
//   if (const auto* refused = std::get_if<Refused>(&reply)) ...      // the map is old
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/clock.h"
#include "base/code_name.h"
#include "base/result.h"
#include "router/requests.h"

namespace kin::router {

// The shard does not own a partition that was asked for, or owns it from an epoch on that is newer
// than the caller's map. Nothing was done. `epoch` is the highest that the shard knows of the
// partitions asked for, 0 if it knows none: if the caller's map is newer, the shard must be told.
struct Refused {
  std::uint64_t epoch = 0;
  friend bool operator==(const Refused&, const Refused&) = default;
};

template <typename T>
using Reply = Result<std::variant<T, Refused>>;

class ShardClient;
// The way to the shard of the same index at another address. Never null.
using Reach = std::function<std::shared_ptr<ShardClient>(const std::string& address)>;

// How long work that no client waits for gives way to requests that clients wait for.
class Pace {
 public:
  virtual ~Pace() = default;
  // Clients are served these days: pieces of work should be short.
  virtual bool has_clients() const = 0;
  // After a piece that took so long, without locks. Blocks until the next one may begin. After an
  // error there is no next one.
  virtual Status rest(std::chrono::nanoseconds took) = 0;
};

struct CallOptions {
  std::uint64_t map_epoch = 0;  // of the map by which the caller chose the shard
  // ShardMap::divided_at() of that map. A shard that was not told of it yet, or a copy that has not
  // come so far, refuses reads: its entities may be in other partitions than the caller thinks.
  std::uint64_t divided = 0;
  // The identity of the shard that the caller means; zero: whichever is there. Another shard does
  // nothing and fails with kFailedPrecondition: its node has got somebody else's address.
  Hash128 shard = {};
  // How old the state may be that answers a read: then a follower of the shard may answer, too.
  // Nothing: only the owner, whose state is never old.
  std::optional<std::chrono::milliseconds> most_behind = {};
  // Told how old it may be, at most, if a follower answered. Called by wait(), or before.
  std::function<void(std::chrono::milliseconds)> on_behind = {};
  // On the side of the shard: how it reaches others, for PullRequest. Empty: it does not.
  Reach reach = {};
  // The same side: how fast long work is done. Null: as fast as it can be. Outlives the call.
  Pace* pace = nullptr;
  // When the caller gives up: kUnavailable. Whether the request was served is unknown then.
  SteadyTime deadline = SteadyTime::max();
};

// A call that is under way. One thread only. Dropping it without wait() cancels the call, if it is
// not too late.
template <typename T>
class Started {
 public:
  using Wait = std::function<Reply<T>()>;
  using IsReady = std::function<bool(SteadyTime until)>;
  using Arrived = std::function<std::optional<SteadyTime>()>;
  // `wait` blocks until the reply is there or the deadline is over. Called at most once. `is_ready`
  // blocks until `wait` would not block, or until `until`: false in the second case. Without one
  // the reply is there already. `arrived` is for arrived().
  explicit Started(Wait wait, IsReady is_ready = {}, Arrived arrived = {})
      : wait_(std::move(wait)), is_ready_(std::move(is_ready)), arrived_(std::move(arrived)) {}

  Reply<T> wait() {
    KIN_CHECK(wait_ != nullptr, "a call is waited for once");
    return std::exchange(wait_, nullptr)();
  }
  // Whether wait() does not block any more; looks until `until`. Before wait().
  bool is_ready_by(SteadyTime until) { return !is_ready_ || is_ready_(until); }
  // When the reply was there, which may be long before somebody waited for it; nothing if the client
  // does not know. After wait().
  std::optional<SteadyTime> arrived() const {
    return arrived_ ? arrived_() : std::optional<SteadyTime>();
  }

 private:
  Wait wait_;
  IsReady is_ready_;
  Arrived arrived_;
};

// Thread-safe.
class ShardClient {
 public:
  virtual ~ShardClient() = default;

  // Begins a call and does not wait for its reply. The response is the request's `Reply`. Errors of
  // the way there are kUnavailable; others are the shard's own.
  virtual Started<Response> start(Request request, const CallOptions& options) = 0;
};

// The same, by the type of the request.
template <typename Asked>
Started<typename Asked::Reply> start(ShardClient& client, Asked request,
                                     const CallOptions& options) {
  using Answer = typename Asked::Reply;
  auto under_way = std::make_shared<Started<Response>>(client.start(std::move(request), options));
  return Started<Answer>(
      [under_way]() -> Reply<Answer> {
        KIN_TRY(auto reply, under_way->wait());
        if (const auto* refused = std::get_if<Refused>(&reply))
          return std::variant<Answer, Refused>(*refused);
        auto* answer = std::get_if<Answer>(&std::get<Response>(reply));
        if (answer == nullptr)
          return Error{Code::kInternal, "a shard answered something else than it was asked"};
        return std::variant<Answer, Refused>(std::move(*answer));
      },
      [under_way](SteadyTime until) { return under_way->is_ready_by(until); },
      [under_way] { return under_way->arrived(); });
}

template <typename Asked>
Reply<typename Asked::Reply> call(ShardClient& client, Asked request, const CallOptions& options) {
  return start(client, std::move(request), options).wait();
}

// How a call ended, in a word: "ok", "refused", or the name of the error's code.
template <typename T>
std::string_view outcome_of(const Reply<T>& reply) {
  if (!reply.ok()) return code_name(reply.error().code);
  return std::holds_alternative<Refused>(*reply) ? "refused" : "ok";
}

}  // namespace kin::router
