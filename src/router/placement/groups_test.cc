#include "router/placement/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace kin::router {
namespace {

// Partitions on a line, `weight` vectors each, with ties between neighbours.
PartitionGraph line(std::size_t partitions, double weight = 10) {
  PartitionGraph graph;
  for (std::uint32_t i = 0; i < partitions; ++i) {
    graph.centres.push_back({static_cast<float>(i), 0});
    graph.weights.push_back(weight);
    if (i > 0) graph.ties.insert(graph.ties.end(), 5, {.from = i - 1, .to = i});
  }
  return graph;
}

std::size_t cut(const PartitionGraph& graph, const std::vector<std::uint32_t>& groups) {
  return static_cast<std::size_t>(std::ranges::count_if(
      graph.ties, [&](const auto& tie) { return groups[tie.from] != groups[tie.to]; }));
}

TEST(Groups, NeighboursAreInOneGroup) {
  const PartitionGraph graph = line(16);
  const auto groups = group_partitions(graph, 4);
  EXPECT_EQ(cut(graph, groups), 15U) << "three ends, five ties each";
  for (std::uint32_t group = 0; group < 4; ++group)
    EXPECT_EQ(std::ranges::count(groups, group), 4) << group;
}

TEST(Groups, TiesDecideWhereDistancesDoNot) {
  // Even partitions are tied to each other, and odd ones are, wherever their centres are.
  PartitionGraph graph = line(16);
  graph.ties.clear();
  for (std::uint32_t i = 0; i < 16; ++i) {
    for (std::uint32_t j = i + 2; j < 16; j += 2) graph.ties.push_back({.from = i, .to = j});
  }
  const auto groups = group_partitions(graph, 2);
  EXPECT_EQ(cut(graph, groups), 0U);
  EXPECT_EQ(std::ranges::count(groups, 0U), 8);
}

TEST(Groups, WeighAboutTheSame) {
  Random random(3);
  PartitionGraph graph;
  for (int i = 0; i < 64; ++i) {
    graph.centres.push_back({static_cast<float>(random.unit()), static_cast<float>(random.unit()),
                             static_cast<float>(random.unit())});
    graph.weights.push_back(100 + 300 * random.unit());
  }
  for (int i = 0; i < 3'000; ++i)
    graph.ties.push_back({.from = static_cast<std::uint32_t>(random.below(64)),
                          .to = static_cast<std::uint32_t>(random.below(64))});
  for (const std::size_t count : {2, 3, 4, 8}) {
    const auto groups = group_partitions(graph, count);
    std::vector<double> loads(count, 0);
    double all = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      loads.at(groups[i]) += graph.weights[i];
      all += graph.weights[i];
    }
    const double mean = all / static_cast<double>(count);
    EXPECT_LT(std::ranges::max(loads), 1.3 * mean) << count;
    EXPECT_GT(std::ranges::min(loads), 0.7 * mean) << count;
    EXPECT_EQ(group_partitions(graph, count), groups) << "the same every time";
  }
}

TEST(Groups, NoneIsEmptyIfThereAreEnoughPartitions) {
  PartitionGraph graph = line(5);
  graph.weights = {1'000, 1, 1, 1, 1};
  graph.ties.assign(50, {.from = 3, .to = 4});
  const auto groups = group_partitions(graph, 5);
  EXPECT_EQ(std::set(groups.begin(), groups.end()).size(), 5U);
  for (const std::uint32_t group : group_partitions(line(2), 4)) EXPECT_LT(group, 4U);
  EXPECT_EQ(group_partitions(line(3), 1), std::vector<std::uint32_t>(3, 0));
}

TEST(Groups, EqualCentresAreDividedToo) {
  PartitionGraph graph = line(8);
  for (auto& centre : graph.centres) centre = {1, 1};
  const auto groups = group_partitions(graph, 4);
  for (std::uint32_t group = 0; group < 4; ++group) EXPECT_EQ(std::ranges::count(groups, group), 2);
}

}  // namespace
}  // namespace kin::router
