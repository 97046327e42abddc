// Runs the stages of a pipeline over the shards of an index.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "index/query.h"
#include "router/calls/shards.h"

namespace kin::router {

// As index::run_pipeline() on one shard that holds everything. One thread only; everything given
// outlives it.
class RoutedPipeline {
 public:
  RoutedPipeline(Shards& shards, std::span<const index::Stage> stages,
                 const std::optional<Show>& show, Staleness* staleness)
      : shards_(shards), stages_(stages), show_(show), limits_{shards.deadline(), staleness} {}

  Result<RoutedHits> run();

  // Called for each stage.
  Status operator()(const index::FindStage& stage);
  Status operator()(const index::ExpandStage& stage);
  Status operator()(const index::FilterStage& stage);
  Status operator()(const index::LimitStage& stage);

 private:
  // With one map; nothing if it changed meanwhile.
  Result<std::optional<RoutedHits>> attempt();
  std::vector<index::DocIdentity> candidates() const;

  Shards& shards_;
  std::span<const index::Stage> stages_;
  const std::optional<Show>& show_;
  Limits limits_;

  bool first_ = true;
  std::vector<index::ShardHit> hits_;
  std::optional<index::TextStatistics> statistics_;  // of the words that are shown
};

}  // namespace kin::router
