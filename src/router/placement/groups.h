// Which partitions go to one shard: neighbouring ones, so that few searches need several shards.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kin::router {

// Partitions of a space, and how often neighbours lie in two of them.
struct PartitionGraph {
  std::vector<std::vector<float>> centres = {};
  std::vector<double> weights = {};  // vectors of each partition

  // A neighbour in partition `to` of a vector in partition `from`.
  struct Tie {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };
  std::vector<Tie> ties = {};  // each counts once
};

// The group of each partition, from 0 to `groups` - 1. Groups have about the same weight, as far as
// the weights of single partitions allow it, and few ties between each other. With as many
// partitions as groups or more, no group is empty. The same graph gives the same groups.
std::vector<std::uint32_t> group_partitions(const PartitionGraph& graph, std::size_t groups);

}  // namespace kin::router
