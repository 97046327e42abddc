#include "router/placement/prospects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace kin::router {
namespace {

// The sum of each shard; nothing for one without partitions.
std::vector<std::optional<double>> sums_of(std::span<const double> shares,
                                           std::span<const PartitionOwner> owners) {
  std::vector<std::optional<double>> sums;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::uint32_t shard = owners[i].shard;
    if (shard >= sums.size()) sums.resize(shard + 1);
    sums[shard] = sums[shard].value_or(0) + shares[i];
  }
  return sums;
}

// For each query the logarithm of how likely the shards of all its neighbours are.
std::vector<double> likelihoods(std::span<const KnownQuery> queries, std::span<const float> weights,
                                std::span<const PartitionOwner> owners, double sharpness) {
  constexpr double kLeast = 1e-9;  // one neighbour in an unlikely place does not decide
  std::vector<double> all;
  all.reserve(queries.size());
  for (const KnownQuery& query : queries) {
    const auto sums = sums_of(expected_shares(weights, query.distances, sharpness), owners);
    double& sum = all.emplace_back(0);
    for (const std::uint32_t partition : query.neighbours)
      sum += std::log(std::max(kLeast, *sums[owners[partition].shard]));
  }
  return all;
}

// Whether queries are less likely than the best by more than chance: one standard error.
bool is_worse(std::span<const double> some, std::span<const double> best) {
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double less = best[i] - some[i];
    sum += less;
    squares += less * less;
  }
  const auto count = static_cast<double>(some.size());
  const double variance = std::max(0.0, squares - sum * sum / count);
  return sum > std::sqrt(variance) + 1e-9 * count;
}

}  // namespace

std::vector<double> expected_shares(std::span<const float> weights,
                                    std::span<const double> distances, double sharpness) {
  const double least = std::ranges::min(distances);
  std::vector<double> shares(distances.size());
  double sum = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    shares[i] = static_cast<double>(weights[i]) * std::exp(-sharpness * (distances[i] - least));
    sum += shares[i];
  }
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<Prospect> prospects(std::span<const double> shares,
                                std::span<const PartitionOwner> owners) {
  const auto sums = sums_of(shares, owners);
  std::vector<Prospect> all;
  for (std::uint32_t shard = 0; shard < sums.size(); ++shard) {
    if (sums[shard]) all.push_back({.shard = shard, .rest = *sums[shard]});
  }
  std::ranges::stable_sort(all, std::greater<>(), &Prospect::rest);
  for (std::size_t i = all.size(); i-- > 1;) all[i - 1].rest += all[i].rest;
  return all;
}

double best_sharpness(std::span<const KnownQuery> queries, std::span<const float> weights,
                      std::span<const PartitionOwner> owners) {
  double nearest = 0;
  for (const KnownQuery& query : queries) nearest += std::ranges::min(query.distances);
  const double unit = nearest > 0 ? static_cast<double>(queries.size()) / nearest : 1;
  constexpr int kSteps = 19;  // from 1 to 512 of these units
  std::vector<std::vector<double>> all;
  std::size_t best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (int step = 0; step < kSteps; ++step) {
    all.push_back(likelihoods(queries, weights, owners, unit * std::exp2(step / 2.0)));
    const double now = std::accumulate(all.back().begin(), all.back().end(), 0.0);
    if (now <= most) continue;
    most = now;
    best = all.size() - 1;
  }
  std::size_t lowest = 0;
  while (lowest < best && is_worse(all[lowest], all[best])) ++lowest;
  return unit * std::exp2(static_cast<double>(lowest) / 2.0);
}

std::vector<double> rests_needed(std::span<const KnownQuery> queries,
                                 std::span<const float> weights,
                                 std::span<const PartitionOwner> owners, double sharpness) {
  std::vector<double> rests;
  for (const KnownQuery& query : queries) {
    const auto all = prospects(expected_shares(weights, query.distances, sharpness), owners);
    for (const std::uint32_t partition : query.neighbours)
      rests.push_back(std::ranges::find(all, owners[partition].shard, &Prospect::shard)->rest);
  }
  std::ranges::sort(rests);
  return rests;
}

}  // namespace kin::router
