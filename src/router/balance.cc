#include "router/balance.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace kin::router {
namespace {

double weight_in(const PartitionWeights& weights, index::PartitionId partition) {
  const auto found = weights.find(partition);
  return found == weights.end() ? 0 : found->second;
}

// The weights of shards while a plan is made. One thread only.
class Plan {
 public:
  // Only shards that own something take part, and `also`.
  Plan(const ShardMap& map, const PartitionWeights& weights, std::optional<std::uint32_t> also)
      : weights_(weights), loads_(map.shards.size(), 0), takes_part_(map.shards.size(), false) {
    for (std::uint32_t i = 0; i < map.partitions.size(); ++i) {
      owners_.push_back(map.partitions[i].shard);
      loads_[owners_[i]] += weight_in(weights, index::PartitionId{i});
      takes_part_[owners_[i]] = true;
    }
    if (also) takes_part_[*also] = true;
  }

  const std::vector<double>& loads() const { return loads_; }
  double mean() const {
    const auto count = static_cast<double>(std::ranges::count(takes_part_, true));
    return std::accumulate(loads_.begin(), loads_.end(), 0.0) / std::max(1.0, count);
  }
  double skew() const {
    const double mean = this->mean();
    return mean <= 0 ? 1 : std::ranges::max(loads_) / mean;
  }
  // Nothing if no shard takes part.
  std::optional<std::uint32_t> heaviest(std::optional<std::uint32_t> but = {}) const {
    return best([&](std::uint32_t a, std::uint32_t b) { return loads_[a] > loads_[b]; }, but);
  }
  std::optional<std::uint32_t> lightest() const {
    return best([&](std::uint32_t a, std::uint32_t b) { return loads_[a] < loads_[b]; }, {});
  }

  // The partition whose move makes the heavier of the two shards lightest; the first of equals.
  // Nothing if every move makes it heavier, or takes less than `least` off `from`.
  std::optional<index::PartitionId> choose(std::uint32_t from, std::uint32_t to, double least,
                                           const Partitions& fixed) const {
    std::optional<index::PartitionId> chosen;
    double peak = loads_[from];
    for (std::uint32_t i = 0; i < owners_.size(); ++i) {
      const index::PartitionId partition{i};
      if (owners_[i] != from || fixed.contains(partition)) continue;
      const double weight = weight_in(weights_, partition);
      const double after = std::max(loads_[from] - weight, loads_[to] + weight);
      if (after >= peak || loads_[from] - after < least) continue;
      peak = after;
      chosen = partition;
    }
    return chosen;
  }

  void move(index::PartitionId partition, std::uint32_t to) {
    std::uint32_t& owner = owners_[static_cast<std::size_t>(partition)];
    const double weight = weight_in(weights_, partition);
    loads_[owner] -= weight;
    loads_[to] += weight;
    takes_part_[to] = true;
    owner = to;
  }

 private:
  template <typename Before>
  std::optional<std::uint32_t> best(const Before& before, std::optional<std::uint32_t> but) const {
    std::optional<std::uint32_t> found;
    for (std::uint32_t shard = 0; shard < loads_.size(); ++shard) {
      if (!takes_part_[shard] || shard == but) continue;
      if (!found || before(shard, *found)) found = shard;
    }
    return found;
  }

  const PartitionWeights& weights_;
  std::vector<double> loads_;
  std::vector<bool> takes_part_;
  std::vector<std::uint32_t> owners_;
};

}  // namespace

BalanceEffect effect_of(const ShardMap& map, const PartitionWeights& weights,
                        const std::vector<NewMove>& moves) {
  const Plan now(map, weights, {});
  ShardMap later = map;
  for (const NewMove& one : moves)
    later.partitions[static_cast<std::size_t>(one.partition)].shard = one.target;
  const Plan then(later, weights, {});
  return {.before = now.loads(),
          .after = then.loads(),
          .skew_before = now.skew(),
          .skew_after = then.skew()};
}

ShardMap with_moves(ShardMap map, const std::vector<Move>& moves) {
  for (const Move& move : moves) {
    const auto partition = static_cast<std::size_t>(move.partition);
    const bool goes_on = !rule_of(move.phase).over && move.phase != MovePhase::kAborting;
    if (goes_on && partition < map.partitions.size() && move.target < map.shards.size())
      map.partitions[partition].shard = move.target;
  }
  return map;
}

std::vector<NewMove> plan_balance(const ShardMap& map, const PartitionWeights& weights,
                                  const BalanceOptions& options) {
  Plan plan(map, weights, {});
  std::vector<NewMove> moves;
  if (plan.skew() <= options.max_skew) return moves;
  const double enough = (1 + options.max_skew) / 2;
  Partitions fixed = options.fixed;
  while (moves.size() < options.most && plan.skew() > enough) {
    const auto from = plan.heaviest();
    const auto to = plan.lightest();
    if (!from || !to || *from == *to) break;
    const auto chosen =
        plan.choose(*from, *to, options.least_gain * plan.loads()[*from], fixed);
    if (!chosen) break;
    plan.move(*chosen, *to);
    fixed.insert(*chosen);
    moves.push_back({.partition = *chosen, .target = *to});
  }
  return moves;
}

Result<std::vector<NewMove>> plan_split(const ShardMap& map, std::uint32_t shard,
                                        const PartitionWeights& weights,
                                        const Partitions& fixed) {
  if (shard >= map.shards.size())
    return Error{Code::kInvalidArgument, fmt::format("index {} has no shard {}", map.index, shard)};
  Plan plan(map, weights, shard);
  std::vector<NewMove> moves;
  const double share = plan.mean();
  while (plan.loads()[shard] < share) {
    const auto from = plan.heaviest(shard);
    if (!from) break;
    const auto chosen = plan.choose(*from, shard, 0, fixed);
    if (!chosen) break;
    plan.move(*chosen, shard);
    moves.push_back({.partition = *chosen, .target = shard});
  }
  return moves;
}

}  // namespace kin::router
