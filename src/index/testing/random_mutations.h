// Random mutations of a few entities, edges and fragments, by a seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "index/mutation.h"

namespace kin::index {

// One thread only.
class RandomMutations {
 public:
  static constexpr std::uint64_t kKeys = 12;
  static constexpr std::uint32_t kPartitions = 3;
  static constexpr Millis kMoments = 20;

  explicit RandomMutations(std::uint64_t seed) : random_(seed) {}

  static DocId id_of(std::uint64_t key) { return doc_id_of("model", std::to_string(key)); }

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }
  DocId any_id() { return id_of(below(kKeys)); }
  std::string any_name() { return below(2) == 0 ? "cites" : "knows"; }
  Millis any_moment() { return static_cast<Millis>(below(kMoments)); }
  Entity any_entity() {
    const std::uint64_t key = below(kKeys);
    Entity entity;
    entity.id = id_of(key);
    entity.key = std::to_string(key);
    entity.source = below(2) == 0 ? "one" : "two";
    entity.title = std::to_string(below(1'000));
    entity.text = std::string(below(600), 'x') + entity.title;
    if (below(2) == 0) entity.tags = {"t" + std::to_string(below(5))};
    if (below(2) == 0) entity.attributes = {{"n", static_cast<std::int64_t>(below(9))}};
    if (below(2) == 0) entity.vectors.push_back({"words", {static_cast<float>(below(99)), 1}});
    if (below(3) == 0) entity.vectors.push_back({"model", {static_cast<float>(below(99))}});
    if (below(2) == 0) entity.summaries = {"s" + std::to_string(below(3))};
    const Millis from = any_moment();
    if (below(2) == 0) entity.valid = {.from = from, .until = from + 1 + any_moment()};
    return entity;
  }

  EdgeId any_edge_id() {
    const Millis since = below(2) == 0 ? kBeginning : any_moment();
    return {.from = any_id(), .name = any_name(), .to = any_id(), .since = since};
  }

  Edge any_edge() {
    Edge edge{.id = any_edge_id(), .weight = static_cast<double>(below(10))};
    if (below(2) == 0) edge.until = std::max<Millis>(edge.id.since, 0) + 1 + any_moment();
    if (below(3) == 0) edge.summary = "s" + std::to_string(below(3));
    return edge;
  }

  Fragment any_fragment() { return {any_moment(), std::to_string(below(3))}; }

  PartitionId any_partition() {
    return PartitionId{static_cast<std::uint32_t>(below(kPartitions))};
  }

  // Mostly a newer epoch, and mostly the shard itself as owner.
  AssignOwner any_owner() {
    if (below(3) != 0) ++epoch_;
    return {.partition = any_partition(), .epoch = epoch_, .owned = below(4) != 0};
  }

  // Makes the shard the owner of everything that any_mutation() touches.
  std::vector<Mutation> own_all() {
    std::vector<Mutation> mutations;
    ++epoch_;
    for (std::uint32_t i = 0; i < kPartitions; ++i)
      mutations.emplace_back(
          AssignOwner{.partition = PartitionId{i}, .epoch = epoch_, .owned = true});
    return mutations;
  }

  Mutation any_mutation() {
    if (below(40) == 0) return any_owner();
    switch (below(13)) {
      case 0: return RemoveEntity{.id = any_id()};
      case 1: return AssignPartition{.id = any_id(), .partition = any_partition()};
      case 2:
        return CloseEdge{.from = any_id(), .name = any_name(), .to = any_id(), .at = any_moment()};
      case 3: return RemoveEdge{.edge = any_edge_id()};
      case 4: return AddFragment{.id = any_id(), .fragment = any_fragment()};
      case 5:
        return AddEdgeFragment{
            .from = any_id(), .name = any_name(), .to = any_id(), .fragment = any_fragment()};
      case 12: {
        SetEdges set{.from = any_id(), .name = any_name()};
        std::map<EdgeId, Edge> edges;
        for (std::uint64_t i = below(3); i > 0; --i) {
          Edge edge = any_edge();
          edge.id.from = set.from;
          edge.id.name = set.name;
          edges.emplace(edge.id, edge);
        }
        for (const auto& [id, edge] : edges) set.edges.push_back(edge);
        return set;
      }
      case 6:
      case 7:
      case 8: {
        PutEntity put{.entity = any_entity()};
        if (below(3) == 0) put.partition = any_partition();
        return put;
      }
      default: return PutEdge{.edge = any_edge()};
    }
  }

 private:
  Random random_;
  std::uint64_t epoch_ = 0;
};

}  // namespace kin::index
