// One search over the shards of an index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "router/calls/shards.h"

namespace kin::router {

// One thread only; everything given outlives it.
class RoutedSearch {
 public:
  RoutedSearch(Shards& shards, const index::ShardQuery& query, const SearchOptions& options)
      : shards_(shards), query_(query), options_(options), deadline_(shards.deadline()) {}

  Result<RoutedHits> run();

 private:
  // With one map; nothing if it changed meanwhile.
  Result<std::optional<RoutedHits>> attempt();
  // Every shard that owns a partition.
  std::vector<std::uint32_t> all_shards() const;
  index::ShardQuery query_for(std::uint32_t shard) const;
  // Adds up the statistics of all shards, and tells which of them can have a match.
  Result<std::vector<std::uint32_t>> read_statistics(const std::vector<std::uint32_t>& shards);
  // Searches for the vector where it can be near enough.
  Status find_near();
  Status find_at(const std::vector<std::uint32_t>& shards);
  bool can_skip_by_distance() const;
  SteadyTime round_end() const;
  Status add_joined(RoutedHits& hits);
  // Takes the failure of a shard as the options say: an error, or one more that is missing.
  template <typename T>
  Status accept(std::uint32_t shard, const Told<T>& told);

  Shards& shards_;
  const index::ShardQuery& query_;
  const SearchOptions& options_;
  SteadyTime deadline_;

  KnownPointer known_;
  bool map_changed_ = false;
  std::optional<index::TextStatistics> statistics_;
  std::vector<std::uint32_t> found_at_;  // shards, in the order of found_
  std::vector<index::Findings> found_;
  std::vector<ShardProblem> missing_;
};

}  // namespace kin::router
