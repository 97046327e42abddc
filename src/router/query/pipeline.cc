#include "router/query/pipeline.h"

#include <fmt/format.h>

#include <set>

#include "index/find.h"
#include "index/stages.h"
#include "router/query/routed_search.h"
#include "router/query/showing.h"

namespace kin::router {

Result<RoutedHits> RoutedPipeline::run() {
  KIN_RETURN_IF_ERROR(index::check_stages(stages_));
  for (;;) {
    KIN_TRY(auto hits, attempt());
    if (hits) return std::move(*hits);
    KIN_RETURN_IF_ERROR(shards_.refresh());
    if (shards_.is_over(limits_.deadline))
      return Error{Code::kUnavailable, "the map of the index changed during the search"};
  }
}

Result<std::optional<RoutedHits>> RoutedPipeline::attempt() {
  first_ = true;
  hits_.clear();
  statistics_.reset();
  const KnownPointer known = shards_.known();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (const Status done = std::visit(*this, stages_[i]); !done.ok())
      return with_context(fmt::format("stage {}", i + 1), done.error());
  }
  // Hits name their shards by places in one map.
  if (shards_.known()->map.epoch != known->map.epoch) return std::optional<RoutedHits>();
  RoutedHits found;
  if (show_) {
    KIN_TRY(auto shown, read_shown(shards_, known, hits_, *show_, limits_,
                                   statistics_ ? &*statistics_ : nullptr));
    if (!shown) return std::optional<RoutedHits>();
    found.shown = std::move(*shown);
  }
  found.found.hits = std::move(hits_);
  return std::optional(std::move(found));
}

std::vector<index::DocIdentity> RoutedPipeline::candidates() const {
  std::vector<index::DocIdentity> docs;
  for (const index::ShardHit& hit : hits_) docs.push_back(hit.doc);
  return docs;
}

Status RoutedPipeline::operator()(const index::FindStage& stage) {
  index::ShardQuery query = index::query_of(stage);
  if (!first_) query.scope.among = candidates();
  const SearchOptions options{.staleness = limits_.staleness};
  KIN_TRY(RoutedHits found, RoutedSearch(shards_, query, options).run());
  if (!first_) {
    index::keep_history(stage.keep, hits_, found.found.hits);
    index::put_in_order_of_age(found.found.hits);
  }
  hits_ = std::move(found.found.hits);
  if (query.text) statistics_ = std::move(found.statistics);
  first_ = false;
  return Done{};
}

Status RoutedPipeline::operator()(const index::ExpandStage& stage) {
  const index::ShardQuery query{.expand = stage.expand};
  const SearchOptions options{.staleness = limits_.staleness};
  KIN_TRY(hits_, RoutedSearch(shards_, query, options).join(std::move(hits_)));
  return Done{};
}

Status RoutedPipeline::operator()(const index::FilterStage& stage) {
  if (hits_.empty()) return Done{};
  // A search without legs lists the documents in scope.
  index::ShardQuery query{.scope = stage.scope, .k = hits_.size()};
  query.scope.among = candidates();
  const SearchOptions options{.staleness = limits_.staleness};
  KIN_TRY(const RoutedHits found, RoutedSearch(shards_, query, options).run());
  std::set<index::DocIdentity> kept;
  for (const index::ShardHit& hit : found.found.hits) kept.insert(hit.doc);
  std::erase_if(hits_, [&](const index::ShardHit& hit) { return !kept.contains(hit.doc); });
  return Done{};
}

Status RoutedPipeline::operator()(const index::LimitStage& stage) {
  if (hits_.size() > stage.k) hits_.resize(stage.k);
  return Done{};
}

}  // namespace kin::router
