#include "router/placement/groups.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace kin::router {
namespace {

// The least and the most that a group may weigh after a change, as multiples of the mean.
constexpr double kLeast = 0.85;
constexpr double kMost = 1.1;
// With more partitions only single ones change their group: pairs would take too long.
constexpr std::size_t kMostInPairs = 2'048;
constexpr int kMostRounds = 100;  // few are needed; each one lowers the number of ties cut
constexpr double kNothing = 1e-9;

double length_of(const std::vector<double>& vector) {
  double sum = 0;
  for (const double value : vector) sum += value * value;
  return std::sqrt(sum);
}

double weight_of(const PartitionGraph& graph, std::span<const std::size_t> places) {
  double sum = 0;
  for (const std::size_t place : places) sum += graph.weights[place];
  return sum;
}

// The direction in which the centres at `places` differ most, by power iteration.
std::vector<double> main_direction(const PartitionGraph& graph,
                                   std::span<const std::size_t> places) {
  constexpr int kRounds = 20;
  const std::size_t dimension = graph.centres.front().size();
  const double all = weight_of(graph, places);
  std::vector<double> mean(dimension, 0);
  for (const std::size_t place : places) {
    for (std::size_t d = 0; d < dimension; ++d)
      mean[d] += graph.weights[place] / all * static_cast<double>(graph.centres[place][d]);
  }
  std::vector<double> direction(dimension);
  for (std::size_t d = 0; d < dimension; ++d)
    direction[d] = graph.centres[places.front()][d] - mean[d];
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> next(dimension, 0);
    for (const std::size_t place : places) {
      const std::vector<float>& row = graph.centres[place];
      double along = 0;
      for (std::size_t d = 0; d < dimension; ++d) along += (row[d] - mean[d]) * direction[d];
      for (std::size_t d = 0; d < dimension; ++d)
        next[d] += graph.weights[place] * along * (row[d] - mean[d]);
    }
    const double length = length_of(next);
    if (length == 0) break;  // all centres are the same
    for (std::size_t d = 0; d < dimension; ++d) direction[d] = next[d] / length;
  }
  return direction;
}

// Cuts across the main direction, so that both sides have their share of the weight, and so on
// until there is one part for each group.
void cut(const PartitionGraph& graph, std::span<std::size_t> places, std::size_t groups,
         std::uint32_t first, std::vector<std::uint32_t>& group) {
  if (groups < 2 || places.size() < 2) {
    for (const std::size_t place : places) group[place] = first;
    return;
  }
  const std::vector<double> direction = main_direction(graph, places);
  std::ranges::stable_sort(places, {}, [&](std::size_t place) {
    double sum = 0;
    for (std::size_t d = 0; d < direction.size(); ++d)
      sum += static_cast<double>(graph.centres[place][d]) * direction[d];
    return sum;
  });
  const std::size_t left = groups / 2;
  const double wanted =
      weight_of(graph, places) * static_cast<double>(left) / static_cast<double>(groups);
  std::size_t count = 0;
  for (double weight = 0; count < places.size(); ++count) {
    const double more = graph.weights[places[count]];
    if (weight + more / 2 >= wanted) break;
    weight += more;
  }
  // Each side has a partition for each of its groups, if there are as many.
  const std::size_t least = std::min(left, places.size() / 2);
  const std::size_t most = places.size() - std::min(groups - left, places.size() - least);
  count = std::clamp(count, least, std::max(least, most));
  cut(graph, places.first(count), left, first, group);
  cut(graph, places.subspan(count), groups - left, first + static_cast<std::uint32_t>(left), group);
}

// Groups that change, partition by partition, as long as fewer ties are cut. One thread only.
class Grouping {
 public:
  Grouping(const PartitionGraph& graph, std::size_t groups, std::vector<std::uint32_t> group)
      : weights_(graph.weights),
        group_(std::move(group)),
        ties_(weights_.size()),
        pull_(weights_.size(), std::vector<double>(groups, 0)),
        loads_(groups, 0),
        sizes_(groups, 0) {
    for (const PartitionGraph::Tie& tie : graph.ties) {
      if (tie.from == tie.to) continue;
      ties_[tie.from][tie.to] += 1;
      ties_[tie.to][tie.from] += 1;
    }
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      loads_[group_[i]] += weights_[i];
      ++sizes_[group_[i]];
      for (const auto& [other, count] : ties_[i]) pull_[i][group_[other]] += count;
    }
    mean_ = std::accumulate(loads_.begin(), loads_.end(), 0.0) / static_cast<double>(groups);
  }

  std::vector<std::uint32_t> improved() {
    for (int round = 0; round < kMostRounds; ++round) {
      bool changed = false;
      for (std::size_t i = 0; i < weights_.size(); ++i) changed = move_away(i) || changed;
      if (!changed && weights_.size() <= kMostInPairs) {
        for (std::size_t i = 0; i < weights_.size(); ++i) changed = change_places(i) || changed;
      }
      if (!changed) break;
    }
    return std::move(group_);
  }

 private:
  // Whether a group may weigh so much, which weighs `now`: within the limits, or nearer to them.
  bool may_weigh(double then, double now) const {
    const bool light = then < kLeast * mean_ && then < now;
    const bool heavy = then > kMost * mean_ && then > now;
    return !light && !heavy;
  }

  bool move_away(std::size_t i) {
    const std::uint32_t from = group_[i];
    if (sizes_[from] == 1 || !may_weigh(loads_[from] - weights_[i], loads_[from])) return false;
    double best = kNothing;
    std::uint32_t chosen = from;
    for (std::uint32_t to = 0; to < loads_.size(); ++to) {
      const double gain = pull_[i][to] - pull_[i][from];
      if (to == from || gain <= best || !may_weigh(loads_[to] + weights_[i], loads_[to])) continue;
      best = gain;
      chosen = to;
    }
    if (chosen == from) return false;
    put(i, chosen);
    return true;
  }

  bool change_places(std::size_t i) {
    double best = kNothing;
    std::size_t chosen = i;
    for (std::size_t j = 0; j < weights_.size(); ++j) {
      const std::uint32_t a = group_[i], b = group_[j];
      if (a == b) continue;
      double gain = pull_[i][b] - pull_[i][a] + pull_[j][a] - pull_[j][b];
      if (gain <= best) continue;
      if (const auto both = ties_[i].find(static_cast<std::uint32_t>(j)); both != ties_[i].end())
        gain -= 2 * both->second;
      const double more = weights_[j] - weights_[i];
      if (gain <= best || !may_weigh(loads_[a] + more, loads_[a]) ||
          !may_weigh(loads_[b] - more, loads_[b]))
        continue;
      best = gain;
      chosen = j;
    }
    if (chosen == i) return false;
    const std::uint32_t there = group_[chosen];
    put(chosen, group_[i]);
    put(i, there);
    return true;
  }

  void put(std::size_t i, std::uint32_t to) {
    const std::uint32_t from = std::exchange(group_[i], to);
    loads_[from] -= weights_[i];
    loads_[to] += weights_[i];
    --sizes_[from];
    ++sizes_[to];
    for (const auto& [other, count] : ties_[i]) {
      pull_[other][from] -= count;
      pull_[other][to] += count;
    }
  }

  const std::vector<double>& weights_;
  std::vector<std::uint32_t> group_;
  std::vector<std::map<std::uint32_t, double>> ties_;
  std::vector<std::vector<double>> pull_;  // ties of a partition with each group
  std::vector<double> loads_;
  std::vector<std::size_t> sizes_;
  double mean_ = 0;
};

}  // namespace

std::vector<std::uint32_t> group_partitions(const PartitionGraph& graph, std::size_t groups) {
  std::vector<std::uint32_t> group(graph.weights.size(), 0);
  std::vector<std::size_t> places(group.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  cut(graph, places, groups, 0, group);
  return Grouping(graph, groups, std::move(group)).improved();
}

}  // namespace kin::router
