// One search over the shards of an index.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "index/neighbours.h"
#include "router/calls/shards.h"

namespace kin::router {

// One thread only; everything given outlives it.
class RoutedSearch {
 public:
  RoutedSearch(Shards& shards, const index::ShardQuery& query, const SearchOptions& options)
      : shards_(shards), query_(query), options_(options), deadline_(shards.deadline()) {}

  Result<RoutedHits> run();
  // Adds the neighbours of given hits as the query's `expand` says, and puts all in order.
  Result<std::vector<index::ShardHit>> join(std::vector<index::ShardHit> hits);

 private:
  // With one map; nothing if it changed meanwhile.
  Result<std::optional<RoutedHits>> attempt();
  // Learns the new map, after one that changed. kUnavailable if the time is over.
  Status begin_again(MapPauses& pauses);
  // Every shard that owns a partition.
  std::vector<std::uint32_t> all_shards() const;
  index::ShardQuery query_for(std::uint32_t shard) const;
  // Searches for words with the statistics of all shards.
  Status find_words(std::vector<std::uint32_t> shards);
  // Asks all shards for the statistics of the words.
  Result<std::vector<StatisticsReply>> read_statistics(const std::vector<std::uint32_t>& shards);
  // Searches with remembered statistics, if every shard is in the state that they are of. Otherwise
  // replaces those of shards that are not, and returns false.
  Result<bool> find_unchanged(const std::vector<std::uint32_t>& shards,
                              std::vector<StatisticsReply>& parts);
  // The shards that can have a match.
  Result<std::vector<std::uint32_t>> matching(const std::vector<std::uint32_t>& shards,
                                              const std::vector<StatisticsReply>& parts) const;
  // Searches for the vector where it can be near enough; a second time, on further shards, if the
  // hits of the first are farther than expected.
  Status find_near();
  // Of the last hit that was asked for; nothing if there are fewer.
  std::optional<double> last_similarity() const;
  Status find_at(const std::vector<std::uint32_t>& shards);
  void keep(std::uint32_t shard, FindReply reply);
  void forget_found();
  void sum_up(const std::vector<StatisticsReply>& parts);
  FindRequest request_for(std::uint32_t shard, std::size_t asked) const;
  bool is_missing(std::uint32_t shard) const;
  // Adds what shows the hits, as far as it did not come with them. False if the map has changed.
  Result<bool> show(RoutedHits& hits);
  // An entity that links lead to.
  struct Reached {
    index::Neighbour neighbour = {};
    std::uint32_t shard = 0;
    std::uint64_t age = 0;
  };
  // In scope, best first.
  Result<std::vector<Reached>> reach(std::span<const index::Seed> seeds,
                                     const index::Expansion& expand);
  Status keep_in_scope(std::vector<Reached>& reached);
  Status find_reached(const std::vector<std::uint32_t>& shards);
  Status add_facets(const std::vector<std::uint32_t>& shards, index::Findings& found);
  Status join_neighbours(std::vector<index::ShardHit>& hits);
  bool can_skip_by_distance() const;
  Limits round_limits() const;
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
  bool several_ = false;  // shards own partitions
  std::optional<index::TextStatistics> statistics_;
  std::vector<std::uint32_t> found_at_;  // shards, in the order of found_
  std::vector<index::Findings> found_;
  std::vector<FindReply> replies_;             // the same, without their findings
  std::map<DocId, std::uint32_t> reached_at_;  // shards of what the graph leg found
  std::vector<ShardProblem> missing_;
};

}  // namespace kin::router
