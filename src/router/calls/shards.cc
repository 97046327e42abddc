#include "router/calls/shards.h"

#include <fmt/format.h>

#include <algorithm>

#include "router/calls/blobs.h"

namespace kin::router {
namespace {

// Of the map, while shards do not answer.
constexpr std::chrono::milliseconds kLooks{200};
// How long followers are asked at once after an owner was silent. Then one request waits again.
constexpr std::chrono::seconds kSilence{1};

// Whether the shards of a map are in a newer one, perhaps at other addresses and with more behind.
bool has_same_shards(const ShardMap& map, const ShardMap& newer) {
  return map.identities.size() <= newer.identities.size() &&
         std::equal(map.identities.begin(), map.identities.end(), newer.identities.begin()) &&
         map.shards.size() <= newer.shards.size();
}

}  // namespace

std::string Known::name_of(std::uint32_t shard) const {
  const Hash128 identity = map.identity_of(shard);
  if (identity == Hash128{}) return map.shards[shard];
  return fmt::format("{:016x}{:016x}", identity.high, identity.low);
}

Shards::Shards(std::string index, MetaStore& meta, Connect connect, const RouterOptions& options)
    : index_(std::move(index)),
      meta_(meta),
      connect_(std::move(connect)),
      options_(options),
      statistics_(options.text),
      hedging_(options.hedging, options.hedge) {}

KnownPointer Shards::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

Status Shards::refresh() {
  learn_copies();
  KIN_TRY(const auto value, meta_.get(map_key(index_)));
  if (!value) return Error{Code::kNotFound, fmt::format("there is no index named {}", index_)};
  auto next = std::make_shared<Known>();
  KIN_TRY(next->map, decode_shard_map(value->bytes));
  const KnownPointer before = known();
  if (before && before->map.epoch >= next->map.epoch) return Done{};
  for (const std::string& address : next->map.shards) next->clients.push_back(connect_(address));
  if (before && before->map.centroids == next->map.centroids) {
    next->centroids = before->centroids;
  } else {
    KIN_TRY(next->centroids, fetch_centroids(next->map, next->clients));
  }
  const std::lock_guard lock(mutex_);
  if (known_ && known_->map.epoch >= next->map.epoch) return Done{};
  // A process that took a shard over may lack claims that the last one had acknowledged before they
  // were durable.
  if (known_ && (known_->map.terms != next->map.terms || known_->map.divided != next->map.divided))
    places_.clear();
  known_ = std::move(next);
  return Done{};
}

void Shards::learn_copies() {
  KnownCopiesPointer before;
  {
    const std::lock_guard lock(mutex_);
    before = copies_;
  }
  auto now = read_copies(meta_, index_, connect_, before);
  const std::lock_guard lock(mutex_);
  // Without the meta store the followers are asked where they were.
  if (now.ok() && (!copies_ || (*now)->revision > copies_->revision)) copies_ = std::move(*now);
}

std::vector<KnownCopies::Copy> Shards::copies_of(const KnownPointer& known,
                                                 std::uint32_t shard) const {
  const Hash128 identity = known->map.identity_of(shard);
  if (identity == Hash128{}) return {};
  const std::lock_guard lock(mutex_);
  if (!copies_) return {};
  return copies_->beside(identity, known->map.shards[shard]);
}

bool Shards::was_taken_over(const KnownPointer& known, std::uint32_t shard) {
  const KnownPointer now = after_silence(known);
  return now->map.term_of(shard) != known->map.term_of(shard);
}

Patience Shards::patience_for(const KnownPointer& known, std::uint32_t shard,
                              const Limits& limits,
                              const std::optional<Hedging::Kind>& kind) {
  const SteadyTime now = options_.clock->steady_now();
  Patience patience{.clock = options_.clock,
                    .silent_at = now + options_.hedge,
                    .look = [this, known, shard] { return was_taken_over(known, shard); }};
  if (!kind) return patience;
  const std::string name = known->name_of(shard);
  patience.on_time = [this, name, kind](std::chrono::nanoseconds time) {
    hedging_.took(name, *kind, time);
  };
  if (limits.staleness == nullptr || !limits.staleness->most) return patience;
  patience.staleness = limits.staleness;
  patience.copies = [this, known, shard] { return copies_of(known, shard); };
  patience.on_follower = options_.on_follower;
  patience.ask_copies_at = now + hedging_.delay(name, *kind);
  hedging_.earn();
  patience.may_hedge = [this] { return hedging_.spend(); };
  {
    const std::lock_guard lock(mutex_);
    const auto silent = silent_until_.find(name);
    if (silent != silent_until_.end() && now < silent->second) patience.ask_copies_at = now;
  }
  patience.on_silent = [this, name] {
    const std::lock_guard lock(mutex_);
    silent_until_[name] = options_.clock->steady_now() + kSilence;
  };
  return patience;
}

KnownPointer Shards::reached_by(const KnownPointer& known) const {
  const std::lock_guard lock(mutex_);
  const bool taken_over = known_->map.terms != known->map.terms;
  return taken_over && has_same_shards(known->map, known_->map) ? known_ : known;
}

KnownPointer Shards::after_silence(const KnownPointer& known) {
  {
    const std::lock_guard lock(mutex_);
    const SteadyTime now = options_.clock->steady_now();
    if (now < next_look_) return has_same_shards(known->map, known_->map) ? known_ : known;
    next_look_ = now + kLooks;
  }
  // If the meta store is away, too, the shards are asked where they were.
  [[maybe_unused]] const Status looked = refresh();
  const std::lock_guard lock(mutex_);
  return has_same_shards(known->map, known_->map) ? known_ : known;
}

bool Shards::has_left(const KnownPointer& known, std::uint32_t shard, const Error& error) {
  if (error.code != Code::kNotFound || !refresh().ok()) return false;
  const std::lock_guard lock(mutex_);
  return has_same_shards(known->map, known_->map) &&
         known_->map.shards[shard] != known->map.shards[shard];
}

Result<std::shared_ptr<const Centroids>> Shards::fetch_centroids(
    const ShardMap& map, const std::vector<std::shared_ptr<ShardClient>>& clients) {
  if (!map.centroids) return std::shared_ptr<const Centroids>();
  const auto bytes = read_blob(clients, {.map_epoch = map.epoch}, *map.centroids, options_);
  if (!bytes.ok())
    return with_context("the centroids of the index cannot be read from any shard", bytes.error());
  KIN_TRY(Centroids centroids, Centroids::decode(*bytes));
  if (centroids.size() != map.partitions.size())
    return Error{Code::kDataLoss, "the index has another number of centroids than partitions"};
  return std::make_shared<const Centroids>(std::move(centroids));
}

CallOptions Shards::call_options(const KnownPointer& known, const KnownPointer& at,
                                 std::uint32_t shard, SteadyTime deadline) const {
  // The request may name partitions of entities by places that are old in a newer map.
  const bool same_places = known->map.divided == at->map.divided;
  return {.map_epoch = same_places ? at->map.epoch : known->map.epoch,
          .divided = known->map.divided_at(shard),
          .shard = at->map.identity_of(shard),
          .deadline = std::min(deadline, options_.clock->steady_now() + options_.attempt)};
}

bool Shards::tell(const KnownPointer& known, std::uint32_t shard, const Refused& refused,
                  SteadyTime deadline) {
  if (refused.epoch > known->map.epoch) return false;
  // The map comes from the meta store, so the shard may believe it. If this fails, the request is
  // refused again, and so is the next.
  [[maybe_unused]] const auto told = call(*known->clients[shard], known->map.assignment_of(shard),
                                          call_options(known, known, shard, deadline));
  return true;
}

std::optional<index::PartitionId> Shards::place(const KnownPointer& known, const DocId& id) const {
  const std::lock_guard lock(mutex_);
  if (known->map.divided != known_->map.divided) return {};
  const auto found = places_.find(id);
  if (found == places_.end()) return {};
  return found->second;
}

void Shards::remember(const KnownPointer& known, const DocId& id, index::PartitionId partition) {
  const std::lock_guard lock(mutex_);
  if (known->map.divided != known_->map.divided) return;
  // Forgetting places costs calls and nothing else.
  if (places_.size() >= options_.known_places) places_.clear();
  places_.insert_or_assign(id, partition);
}

std::uint64_t Shards::next_ages(std::size_t count) {
  // A million a millisecond.
  const auto millis = static_cast<std::uint64_t>(options_.clock->now().time_since_epoch().count());
  const std::lock_guard lock(mutex_);
  const std::uint64_t first = std::max(next_age_, millis << 20);
  next_age_ = first + count;
  return first;
}

Result<Lane> Shards::take_lane(const KnownPointer& known, std::uint32_t shard,
                               SteadyTime deadline) {
  {
    const std::lock_guard lock(mutex_);
    auto& idle = lanes_[known->name_of(shard)];
    if (!idle.empty()) {
      const Lane lane = idle.back();
      idle.pop_back();
      return lane;
    }
  }
  const std::vector<Ask<OpenSession>> asks{{.shard = shard}};
  KIN_TRY(const SessionOpened opened, std::move(ask(known, asks, {deadline})[0].reply));
  return Lane{.session = opened.session};
}

void Shards::give_back(const KnownPointer& known, std::uint32_t shard, const Lane& lane) {
  const std::lock_guard lock(mutex_);
  lanes_[known->name_of(shard)].push_back(lane);
}

}  // namespace kin::router
