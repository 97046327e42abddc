#include "server/routed/moving.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "router/drain.h"

namespace kin::server {
namespace {

using router::Move;
using router::NewMove;

constexpr std::chrono::seconds kLook{1};          // between looks for moves that others began
constexpr std::chrono::milliseconds kRetry{500};  // after the meta store did not answer

Result<std::uint32_t> shard_at(const router::ShardMap& map, const std::string& node) {
  const auto found = std::ranges::find(map.shards, node);
  if (found != map.shards.end()) return static_cast<std::uint32_t>(found - map.shards.begin());
  return Error{Code::kNotFound,
               fmt::format("index {} has no shard on node {} (`kindred shards list` shows its "
                           "nodes; `split` adds one)",
                           map.index, node)};
}

// Partitions that move, or are divided.
router::Partitions moving_in(const std::vector<Move>& moves, const router::ShardMap& map) {
  router::Partitions moving;
  if (map.dividing) moving = map.dividing->members;
  for (const Move& move : moves) {
    if (!router::rule_of(move.phase).over) moving.insert(move.partition);
  }
  return moving;
}

}  // namespace

Result<BalanceBy> balance_by_named(std::string_view name) {
  if (name == "size") return BalanceBy::kSize;
  if (name == "load") return BalanceBy::kLoad;
  return Error{Code::kInvalidArgument,
               fmt::format("\"{}\" is not what shards are balanced by (size, load)", name)};
}

void Moving::wake_by(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

StepOutcome Moving::step() {
  const SteadyTime now = clock_.steady_now();
  auto moved = step_moves();
  // The meta store may be away: that is told elsewhere, and moves go on when it is back.
  StepOutcome outcome = moved.ok() ? *moved : StepOutcome::not_before(now + kRetry);
  outcome = combine(outcome, StepOutcome::not_before(now + kLook));
  return options_.balance || options_.dividing ? combine(outcome, balance_all()) : outcome;
}

Result<StepOutcome> Moving::step_moves() {
  KIN_TRY(const auto all, meta_.watch(router::kMovesPrefix, 0, SteadyTime{}));
  std::set<std::string> active;
  for (const router::MetaEntry& entry : all.entries) {
    if (!entry.value) continue;
    KIN_TRY(const Move move, router::decode_move(entry.value->bytes));
    if (!router::rule_of(move.phase).over) active.insert(router::index_of_move(entry.key));
  }
  KIN_TRY(const auto divided, meta_.watch(router::kRepartitionsPrefix, 0, SteadyTime{}));
  for (const router::MetaEntry& entry : divided.entries) {
    if (!entry.value) continue;
    KIN_TRY(const auto one, router::decode_repartition(entry.value->bytes));
    if (!router::rule_of(one.phase).over)
      active.insert(entry.key.substr(router::kRepartitionsPrefix.size()));
  }
  StepOutcome outcome = StepOutcome::idle();
  for (const std::string& index : active) {
    auto& mover = movers_[index];
    if (!mover)
      mover = std::make_unique<router::Mover>(index, meta_, indexes_.connect_to(index),
                                              options_.mover);
    const auto stepped = mover->step();
    publish(index, *mover);
    if (!stepped.ok()) return stepped.error();
    outcome = combine(outcome, *stepped);
  }
  std::erase_if(movers_, [&](auto& one) {
    if (active.contains(one.first)) return false;
    const std::lock_guard lock(mutex_);
    router::MoverCounts& sum = counts_[""];
    sum.bytes += one.second->counts().bytes;
    sum.done += one.second->counts().done;
    sum.failed += one.second->counts().failed;
    sum.fenced += one.second->counts().fenced;
    sum.divided += one.second->counts().divided;
    counts_.erase(one.first);
    statuses_.erase(one.first);
    divided_.erase(one.first);
    return true;
  });
  return outcome;
}

void Moving::publish(const std::string& index, const router::Mover& mover) {
  const SteadyTime now = clock_.steady_now();
  std::map<std::uint64_t, router::MoveStatus> statuses;
  for (router::MoveStatus& one : mover.statuses()) statuses.emplace(one.move, std::move(one));
  const std::lock_guard lock(mutex_);
  statuses_[index] = std::move(statuses);
  if (auto one = mover.repartition())
    divided_[index] = std::move(*one);
  else
    divided_.erase(index);
  counts_[index] = mover.counts();
  std::erase_if(moved_[index], [&](const auto& one) { return one.second <= now; });
}

StepOutcome Moving::balance_all() {
  const SteadyTime now = clock_.steady_now();
  if (now < next_balance_) return StepOutcome::not_before(next_balance_);
  next_balance_ = now + options_.balance_pause;
  if (const auto names = indexes_.names(); names.ok()) {
    // An index whose shards do not all answer is looked at again later.
    for (const std::string& name : *names) {
      if (options_.balance) [[maybe_unused]]
        const Status balanced = balance(name);
      if (options_.dividing) [[maybe_unused]]
        const Status divided = divide(name);
    }
  }
  return StepOutcome::not_before(next_balance_);
}

Status Moving::balance(const std::string& index) {
  KIN_TRY(const auto moves, router::read_moves(meta_, index));
  KIN_TRY(const router::ShardMap map, map_of(index));
  if (!moving_in(moves, map).empty()) return Done{};
  router::BalanceOptions options = options_.balancing;
  const SteadyTime now = clock_.steady_now();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [partition, until] : moved_[index]) {
      if (until > now) options.fixed.insert(partition);
    }
  }
  KIN_TRY(const MovePlan plan, plan_balance(index, *options_.balance, options));
  KIN_TRY([[maybe_unused]] const BegunMoves begun, begin(index, plan));
  return Done{};
}

Status Moving::divide(const std::string& index) {
  KIN_TRY(const auto last, router::read_repartition(meta_, index));
  if (last && !router::rule_of(last->repartition.phase).over) return Done{};
  KIN_TRY(const auto moves, router::read_moves(meta_, index));
  KIN_TRY(const router::ShardMap map, map_of(index));
  if (!map.centroids || !moving_in(moves, map).empty()) return Done{};
  KIN_TRY(const PartitionPlan plan, plan_partitions(index, *options_.dividing));
  return plan.repartitions.empty() ? Status(Done{}) : begin(index, plan.repartitions.front());
}

Result<Moving::Numbers> Moving::numbers(const std::string& index, BalanceBy by) {
  KIN_TRY(const auto routed, indexes_.open(index));
  const auto stats = routed->shards().stats({.sizes = true});
  Numbers all;
  KIN_TRY(all.moves, router::read_moves(meta_, index));
  KIN_TRY(all.now, map_of(index));
  all.later = router::with_moves(all.now, all.moves);
  for (std::uint32_t shard = 0; shard < stats.size(); ++shard) {
    if (!stats[shard].ok()) {
      // What it holds is not known. One that owns nothing holds nothing that counts.
      if (all.now.partitions_of(shard).empty()) continue;
      return with_context(all.now.shards[shard], stats[shard].error());
    }
    for (std::uint32_t i = 0; i < all.now.partitions.size(); ++i) {
      // During a move both shards have it, and the target's copy is not complete.
      if (all.now.partitions[i].shard != shard) continue;
      const index::PartitionId partition{i};
      const auto size = stats[shard]->sizes.find(partition);
      const auto load = stats[shard]->loads.find(partition);
      all.weights[partition] =
          by == BalanceBy::kSize
              ? static_cast<double>(size == stats[shard]->sizes.end() ? 0 : size->second)
              : (load == stats[shard]->loads.end() ? 0.0 : load->second);
    }
  }
  return all;
}

Result<MovePlan> Moving::planned(Numbers numbers, std::vector<NewMove> moves) const {
  MovePlan plan{.map = std::move(numbers.now), .moves = std::move(moves)};
  plan.weights = std::move(numbers.weights);
  plan.effect = router::effect_of(numbers.later, plan.weights, plan.moves);
  return plan;
}

Result<MovePlan> Moving::plan_moves(const std::string& index,
                                    std::span<const std::uint32_t> partitions,
                                    const std::string& to) {
  KIN_TRY(Numbers known, numbers(index, BalanceBy::kSize));
  KIN_TRY(const std::uint32_t target, shard_at(known.now, to));
  std::vector<NewMove> moves;
  for (const std::uint32_t partition : std::set(partitions.begin(), partitions.end())) {
    const NewMove wanted{.partition = index::PartitionId{partition}, .target = target};
    KIN_RETURN_IF_ERROR(router::check_move(known.now, wanted));
    moves.push_back(wanted);
  }
  return planned(std::move(known), std::move(moves));
}

Result<MovePlan> Moving::plan_drain(const std::string& index, const std::string& node) {
  KIN_TRY(Numbers known, numbers(index, BalanceBy::kSize));
  KIN_TRY(const std::uint32_t shard, shard_at(known.now, node));
  index::PartitionSizes sizes;
  for (const auto& [partition, weight] : known.weights)
    sizes[partition] = static_cast<std::uint64_t>(weight);
  KIN_TRY(auto moves, router::plan_drain(known.later, shard, sizes));
  const router::Partitions moving = moving_in(known.moves, known.now);
  std::erase_if(moves, [&](const NewMove& one) { return moving.contains(one.partition); });
  return planned(std::move(known), std::move(moves));
}

Result<MovePlan> Moving::plan_split(const std::string& index, const std::string& node) {
  KIN_TRY(Numbers known, numbers(index, BalanceBy::kSize));
  std::uint32_t shard = 0;
  if (const auto there = shard_at(known.now, node); there.ok()) {
    shard = *there;
  } else {
    shard = static_cast<std::uint32_t>(known.now.shards.size());
    for (router::ShardMap* map : {&known.now, &known.later}) {
      map->shards.push_back(node);
      if (!map->identities.empty()) map->identities.emplace_back();
    }
  }
  // Empty partitions are spread, too.
  router::PartitionWeights weights = known.weights;
  for (std::uint32_t i = 0; i < known.now.partitions.size(); ++i)
    weights[index::PartitionId{i}] += 1;
  KIN_TRY(auto moves,
          router::plan_split(known.later, shard, weights, moving_in(known.moves, known.now)));
  return planned(std::move(known), std::move(moves));
}

Result<MovePlan> Moving::plan_balance(const std::string& index, BalanceBy by,
                                      const router::BalanceOptions& options) {
  KIN_TRY(Numbers known, numbers(index, by));
  router::BalanceOptions limited = options;
  limited.fixed.merge(moving_in(known.moves, known.now));
  auto moves = router::plan_balance(known.later, known.weights, limited);
  return planned(std::move(known), std::move(moves));
}

Status Moving::add_node(const std::string& index, const std::string& node) {
  return indexes_.add_node(index, node, meta_);
}

Result<std::vector<router::Follower>> Moving::set_followers(const std::string& index,
                                                            std::size_t count) {
  return indexes_.set_followers(index, count, meta_);
}

Result<BegunMoves> Moving::begin(const std::string& index, const MovePlan& plan) {
  BegunMoves all;
  for (const NewMove& one : plan.moves) {
    const auto begun = router::begin_move(meta_, index, one);
    if (!begun.ok() && begun.error().code == Code::kUnavailable) return begun.error();
    if (!begun.ok()) {
      all.refused.push_back({.partition = one.partition, .reason = begun.error().message});
      continue;
    }
    ++all.begun;
  }
  const std::lock_guard lock(mutex_);
  for (const NewMove& one : plan.moves)
    moved_[index][one.partition] = clock_.steady_now() + options_.cooldown;
  if (wake_) wake_();
  return all;
}

Status Moving::abort(const std::string& index, std::uint32_t partition) {
  KIN_TRY([[maybe_unused]] const Move aborted,
          router::abort_move(meta_, index, index::PartitionId{partition}, "aborted as asked"));
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
  return Done{};
}

Result<router::Centroids> Moving::centroids_of(const std::string& index,
                                               const router::ShardMap& map) {
  if (!map.centroids)
    return Error{
        Code::kFailedPrecondition,
        fmt::format("index {} has no centroids: its documents are placed by their ids, and "
                    "its partitions cannot be divided",
                    index)};
  KIN_TRY(const std::string bytes,
          router::read_blob(indexes_.connect_to(index), map, *map.centroids));
  return router::Centroids::decode(bytes);
}

Result<PartitionPlan> Moving::plan_partitions(const std::string& index,
                                              const router::PartitionPlanOptions& options) {
  KIN_TRY(Numbers known, numbers(index, BalanceBy::kSize));
  KIN_TRY(const router::Centroids centroids, centroids_of(index, known.now));
  router::PartitionPlanOptions limited = options;
  limited.fixed.merge(moving_in(known.moves, known.now));
  PartitionPlan plan;
  plan.repartitions = router::plan_partitions(known.now, centroids, known.weights, limited);
  plan.map = std::move(known.now);
  plan.entities = std::move(known.weights);
  return plan;
}

Result<PartitionPlan> Moving::plan_retraining(const std::string& index, const std::string& node) {
  KIN_TRY(const router::ShardMap map, map_of(index));
  KIN_TRY(const std::uint32_t shard, shard_at(map, node));
  KIN_TRY(const router::Centroids centroids, centroids_of(index, map));
  return plan_repartition(index, router::retrained(map, centroids, shard));
}

Result<PartitionPlan> Moving::plan_repartition(const std::string& index,
                                               const router::NewRepartition& wanted) {
  KIN_TRY(Numbers known, numbers(index, BalanceBy::kSize));
  KIN_RETURN_IF_ERROR(router::check_repartition(known.now, wanted));
  return PartitionPlan{
      .map = std::move(known.now), .repartitions = {wanted}, .entities = std::move(known.weights)};
}

Status Moving::begin(const std::string& index, const router::NewRepartition& wanted) {
  KIN_TRY([[maybe_unused]] const auto begun, router::begin_repartition(meta_, index, wanted));
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
  return Done{};
}

Status Moving::abort_repartition(const std::string& index) {
  KIN_TRY([[maybe_unused]] const auto aborted,
          router::abort_repartition(meta_, index, "aborted as asked"));
  const std::lock_guard lock(mutex_);
  if (wake_) wake_();
  return Done{};
}

Result<std::optional<ShownRepartition>> Moving::repartition(const std::string& index) {
  KIN_TRY(auto last, router::read_repartition(meta_, index));
  if (!last) return std::optional<ShownRepartition>();
  ShownRepartition shown{.repartition = std::move(last->repartition)};
  const std::lock_guard lock(mutex_);
  const auto known = divided_.find(index);
  if (known != divided_.end() && known->second.repartition == shown.repartition.id)
    shown.status = known->second;
  return std::optional(std::move(shown));
}

Result<router::ShardMap> Moving::map_of(const std::string& index) {
  KIN_TRY(const auto value, meta_.get(router::map_key(index)));
  if (!value) return Error{Code::kNotFound, fmt::format("there is no index \"{}\"", index)};
  return router::decode_shard_map(value->bytes);
}

Result<std::vector<ShownMove>> Moving::moves(const std::string& index) {
  KIN_TRY(auto stored, router::read_moves(meta_, index));
  std::vector<ShownMove> shown;
  const std::lock_guard lock(mutex_);
  const auto known = statuses_.find(index);
  for (Move& move : stored) {
    ShownMove one{.move = std::move(move)};
    if (known != statuses_.end() && one.move.id != 0) {
      const auto status = known->second.find(one.move.id);
      if (status != known->second.end()) one.status = status->second;
    }
    shown.push_back(std::move(one));
  }
  return shown;
}

std::vector<Gauge> Moving::gauges() {
  std::vector<Gauge> all;
  if (const auto names = indexes_.names(); names.ok()) {
    for (const std::string& name : *names) {
      const auto moves = router::read_moves(meta_, name);
      if (!moves.ok()) continue;
      std::map<std::string_view, double> phases;
      for (const Move& move : *moves) ++phases[router::name_of(move.phase)];
      for (const auto& [phase, count] : phases)
        all.push_back({.name = "kindred_index_moves",
                       .help = "Partitions of an index by the phase of their last move.",
                       .labels = {{"index", name}, {"phase", std::string(phase)}},
                       .value = count});
    }
  }
  router::MoverCounts sum;
  const std::lock_guard lock(mutex_);
  for (const auto& [index, counts] : counts_) {
    sum.bytes += counts.bytes;
    sum.done += counts.done;
    sum.failed += counts.failed;
    sum.divided += counts.divided;
    sum.fenced += counts.fenced;
  }
  const auto add = [&](const char* name, const char* help, std::uint64_t value) {
    all.push_back({.name = name, .help = help, .value = static_cast<double>(value)});
  };
  add("kindred_moves_copied_bytes", "Bytes that this router has copied from shard to shard.",
      sum.bytes);
  add("kindred_moves_done", "Moves that this router has completed.", sum.done);
  all.push_back({.name = "kindred_moves_fenced_seconds",
                 .help = "Time for which partitions that this router moved were not served.",
                 .value = std::chrono::duration<double>(sum.fenced).count()});
  add("kindred_moves_failed", "Moves that this router has undone.", sum.failed);
  add("kindred_repartitions_done", "Splits, merges and retrainings that this router has completed.",
      sum.divided);
  return all;
}

}  // namespace kin::server
