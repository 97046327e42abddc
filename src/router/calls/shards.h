// The shards of an index as a router knows them: the map, ways to them, and calls to many at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "router/calls/hedging.h"
#include "router/calls/known_copies.h"
#include "router/calls/known_statistics.h"
#include "router/calls/patient_call.h"
#include "router/router.h"

namespace kin::router {

// The knowledge of a router at one moment. Immutable.
struct Known {
  ShardMap map = {};
  std::shared_ptr<const Centroids> centroids = {};  // null: none
  std::vector<std::shared_ptr<ShardClient>> clients = {};
  // A name of the shard that no other one has, also where one process answers for several. Older
  // maps have addresses only.
  std::string name_of(std::uint32_t shard) const;
};
using KnownPointer = std::shared_ptr<const Known>;

// A session on a shard and the sequence of its next request; one user at a time.
struct Lane {
  std::uint64_t session = 0;
  std::uint64_t next = 1;
};

template <typename Asked>
struct Ask {
  std::uint32_t shard = 0;
  Asked request = {};
};

// The outcome of one call, with its repetitions.
template <typename T>
struct Told {
  Result<T> reply = Error{Code::kUnavailable, "not asked"};
  bool map_changed = false;  // the shard may know a newer map; nothing was done
  int sent = 0;              // times
  int refused = 0;           // times
};

// When a request gives up, and how old a state may answer it; null: only the owners answer.
struct Limits {
  SteadyTime deadline = SteadyTime::max();
  Staleness* staleness = nullptr;
};

// Pauses before the map is read again, where a shard refused a request and the map was not changed
// yet. A partition is behind its fence for some milliseconds as a rule, so the first one is short,
// and each further one is twice as long, up to RouterOptions::pause. One thread only.
class MapPauses {
 public:
  explicit MapPauses(const RouterOptions& options) : options_(options) {}

  void sleep() {
    options_.clock->sleep_for(std::min(next_, options_.pause));
    next_ = std::min(2 * next_, options_.pause);
  }

 private:
  const RouterOptions& options_;
  std::chrono::nanoseconds next_ = std::chrono::milliseconds{1};
};

// Thread-safe.
class Shards {
 public:
  Shards(std::string index, MetaStore& meta, Connect connect, const RouterOptions& options);

  // Reads the map, and where the followers are. kNotFound if there is no such index.
  Status refresh();
  KnownPointer known() const;
  const RouterOptions& options() const { return options_; }
  SteadyTime deadline() const { return options_.clock->steady_now() + options_.timeout; }
  bool is_over(SteadyTime deadline) const { return options_.clock->steady_now() >= deadline; }

  // Sends all requests at once, and those without an answer again until the deadline: to the same
  // shard, though perhaps to another process that took it over. Followers are asked for reads that
  // older states may answer, when the owner is slow, silent or away. A shard that does not know yet what
  // it owns is told. One that refuses again may be about to lose a partition: the map must be read
  // again.
  template <typename Asked>
  std::vector<Told<typename Asked::Reply>> ask(const KnownPointer& known,
                                               const std::vector<Ask<Asked>>& asks,
                                               const Limits& limits);

  // Runs `read` with the map of the moment, and again if that changes meanwhile: `read` says so by
  // an empty optional.
  template <typename Read>
  auto with_map(const Read& read)
      -> Result<typename std::decay_t<decltype(*read(KnownPointer(), SteadyTime()))>::value_type>;

  ShardProblem problem(const KnownPointer& known, std::uint32_t shard, const Error& error) const {
    return {.shard = shard, .address = known->map.shards[shard], .error = error};
  }

  // Partitions of entities that are known already, if they are those of this map: nothing while
  // another one with another ShardMap::divided is known.
  std::optional<index::PartitionId> place(const KnownPointer& known, const DocId& id) const;
  // Learnt by requests that were made by this map.
  void remember(const KnownPointer& known, const DocId& id, index::PartitionId partition);

  // Ages for `count` mutations, the first one of which is given; see index::ApplyOptions. They are
  // higher than all given before, and those of other routers compare as far as clocks agree.
  std::uint64_t next_ages(std::size_t count);

  KnownStatistics& statistics() { return statistics_; }

  // A lane that nobody else uses; opens a session if there is none.
  Result<Lane> take_lane(const KnownPointer& known, std::uint32_t shard, SteadyTime deadline);
  void give_back(const KnownPointer& known, std::uint32_t shard, const Lane& lane);

 private:
  // Of a request that was made by the map of `known`, to a shard as it is reached by that of `at`.
  CallOptions call_options(const KnownPointer& known, const KnownPointer& at, std::uint32_t shard,
                           SteadyTime deadline) const;
  // The newest map if processes have taken shards over since: the others need not be waited for.
  KnownPointer reached_by(const KnownPointer& known) const;
  // The newest map after shards did not answer: other processes may have taken them over. It is not
  // read more often than they may do so.
  KnownPointer after_silence(const KnownPointer& known);
  // Whether the node has no such shard because another one has taken it over. Then nothing was
  // done.
  bool has_left(const KnownPointer& known, std::uint32_t shard, const Error& error);
  // What a call to the shard does while its owner does not answer. Without a kind the request is no
  // read.
  Patience patience_for(const KnownPointer& known, std::uint32_t shard, const Limits& limits,
                        const std::optional<Hedging::Kind>& kind);
  bool was_taken_over(const KnownPointer& known, std::uint32_t shard);
  std::vector<KnownCopies::Copy> copies_of(const KnownPointer& known, std::uint32_t shard) const;
  // Keeps what is known if the meta store does not answer.
  void learn_copies();
  // False if the shard knows a newer map than this one.
  bool tell(const KnownPointer& known, std::uint32_t shard, const Refused& refused,
            SteadyTime deadline);
  Result<std::shared_ptr<const Centroids>> fetch_centroids(
      const ShardMap& map, const std::vector<std::shared_ptr<ShardClient>>& clients);

  std::string index_;
  MetaStore& meta_;
  Connect connect_;
  RouterOptions options_;
  KnownStatistics statistics_;
  Hedging hedging_;  // shards are named by Known::name_of()

  mutable std::mutex mutex_;  // guards what follows
  KnownPointer known_;
  KnownCopiesPointer copies_;
  // Shards, by Known::name_of(), that kept silent while a follower answered: until then followers
  // are asked at once.
  std::unordered_map<std::string, SteadyTime> silent_until_;
  std::unordered_map<DocId, index::PartitionId> places_;
  std::uint64_t next_age_ = 0;
  SteadyTime next_look_ = SteadyTime::min();  // see after_silence()
  std::unordered_map<std::string, std::vector<Lane>> lanes_;  // idle ones, by Known::name_of()
};

template <typename Read>
auto Shards::with_map(const Read& read)
    -> Result<typename std::decay_t<decltype(*read(KnownPointer(), SteadyTime()))>::value_type> {
  const SteadyTime end = deadline();
  MapPauses pauses(options_);
  for (;;) {
    const KnownPointer before = known();
    KIN_TRY(auto done, read(before, end));
    if (done) return std::move(*done);
    KIN_RETURN_IF_ERROR(refresh());
    if (is_over(end))
      return Error{Code::kUnavailable, "the map of the index changed during the request"};
    if (known() == before) pauses.sleep();
  }
}

template <typename Asked>
std::vector<Told<typename Asked::Reply>> Shards::ask(const KnownPointer& known,
                                                     const std::vector<Ask<Asked>>& asks,
                                                     const Limits& limits) {
  const SteadyTime deadline = limits.deadline;
  using Answer = typename Asked::Reply;
  std::optional<Hedging::Kind> kind;
  if (kIsRead<Asked>) kind = typeid(Asked);
  std::vector<Told<Answer>> told(asks.size());
  KnownPointer at = reached_by(known);  // by which the shards are reached
  std::vector<std::size_t> open(asks.size());
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
  while (!open.empty()) {
    std::deque<PatientCall<Asked>> under_way;
    for (const std::size_t i : open) {
      ++told[i].sent;
      const std::uint32_t shard = asks[i].shard;
      under_way.emplace_back(*at->clients[shard], asks[i].request,
                             call_options(known, at, shard, deadline),
                             patience_for(at, shard, limits, kind));
    }
    std::vector<std::size_t> again;
    bool silent = false;
    for (std::size_t n = 0; n < open.size(); ++n) {
      const std::size_t i = open[n];
      Reply<Answer> reply = under_way[n].wait();
      if (!reply.ok()) {
        told[i].reply = reply.error();
        const bool may_help = reply.error().code == Code::kUnavailable ||
                              has_left(at, asks[i].shard, reply.error());
        if (!may_help) continue;
        silent = true;
        if (!is_over(deadline)) again.push_back(i);
      } else if (auto* answer = std::get_if<Answer>(&*reply)) {
        told[i].reply = std::move(*answer);
      } else if (++told[i].refused == 1 &&
                 tell(at, asks[i].shard, std::get<Refused>(*reply), deadline)) {
        told[i].reply = Error{Code::kUnavailable, "the shard does not know yet what it owns"};
        if (is_over(deadline)) continue;
        again.push_back(i);
      } else {
        told[i].map_changed = true;
      }
    }
    // Where it is too late for these, later requests find the newest map.
    if (silent) {
      if (!again.empty()) options_.clock->sleep_for(options_.pause);
      at = after_silence(at);
    }
    open = std::move(again);
  }
  return told;
}

}  // namespace kin::router
