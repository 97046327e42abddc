// Where entities are: asks the directory for what a router does not know.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "router/calls/shards.h"

namespace kin::router {

struct PlacesFound {
  std::unordered_map<DocId, index::PartitionId> places = {};  // without entities that have none
  // Shards that keep directory entries and did not answer, and what they were asked about.
  std::vector<ShardProblem> problems = {};
  std::unordered_map<DocId, Error> unknown = {};
  bool map_changed = false;
};

// The places of the entities. Thread-safe.
PlacesFound locate(Shards& shards, const KnownPointer& known, std::span<const DocId> ids,
                   const Limits& limits);

// The same, and gives entities without a place the one wanted.
struct Wanted {
  DocId id = {};
  index::PartitionId partition{};
};
PlacesFound claim(Shards& shards, const KnownPointer& known, std::span<const Wanted> wanted,
                  SteadyTime deadline);

}  // namespace kin::router
