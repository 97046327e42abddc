#include "router/query/routed_search.h"

#include <algorithm>
#include <map>
#include <set>

#include "index/find.h"
#include "index/text_leg.h"

namespace kin::router {
namespace {

// Whether the query can match only documents that have one of its words. Patterns, filters by
// facets and the like may match without.
bool needs_words(const index::TextQuery& query) {
  using Kind = index::TextQuery::Kind;
  const auto needs = [](const index::TextQuery& part) { return needs_words(part); };
  switch (query.kind) {
    case Kind::kWords:
    case Kind::kPhrase: return query.field.empty();
    case Kind::kPattern:
    case Kind::kFuzzy:
    case Kind::kEverything: return false;
    case Kind::kBoolean:
      if (!query.must.empty()) return std::ranges::any_of(query.must, needs);
      return !query.should.empty() && std::ranges::all_of(query.should, needs);
  }
  return false;
}

// Whether no document of the shard has a word of the query.
bool has_none(const index::TextStatistics& statistics) {
  return !statistics.frequencies.empty() &&
         std::ranges::all_of(statistics.frequencies,
                             [](const auto& term) { return term.second == 0; });
}

}  // namespace

template <typename T>
Status RoutedSearch::accept(std::uint32_t shard, const Told<T>& told) {
  map_changed_ = map_changed_ || told.map_changed;
  if (told.map_changed || told.reply.ok()) return Done{};
  const Error& error = told.reply.error();
  // A query that makes no sense makes none on the others either.
  if (!options_.partial || error.code == Code::kInvalidArgument)
    return with_context(known_->map.shards[shard], error);
  missing_.push_back(shards_.problem(known_, shard, error));
  return Done{};
}

Result<RoutedHits> RoutedSearch::run() {
  if (query_.graph || query_.expand.hops > 0)
    return Error{Code::kInvalidArgument,
                 "links are not followed by a search over several shards (use traverse)"};
  for (;;) {
    known_ = shards_.known();
    KIN_TRY(auto hits, attempt());
    if (hits) return std::move(*hits);
    KIN_RETURN_IF_ERROR(shards_.refresh());
    if (shards_.is_over(deadline_))
      return Error{Code::kUnavailable, "the map of the index changed during the search"};
    if (shards_.known() == known_) shards_.options().clock->sleep_for(shards_.options().pause);
  }
}

std::vector<std::uint32_t> RoutedSearch::all_shards() const {
  std::vector<bool> owns(known_->map.shards.size(), false);
  for (const PartitionOwner& owner : known_->map.partitions) owns[owner.shard] = true;
  std::vector<std::uint32_t> all;
  for (std::uint32_t shard = 0; shard < owns.size(); ++shard) {
    if (owns[shard]) all.push_back(shard);
  }
  return all;
}

index::ShardQuery RoutedSearch::query_for(std::uint32_t shard) const {
  index::ShardQuery query = query_;
  query.scope.partitions = known_->map.partitions_of(shard);
  query.statistics = nullptr;
  return query;
}

// A shard that does not answer must leave time for those that do.
SteadyTime RoutedSearch::round_end() const {
  if (!options_.partial) return deadline_;
  const SteadyTime now = shards_.options().clock->steady_now();
  return now + std::max(std::chrono::nanoseconds{0}, (deadline_ - now) / 2);
}

bool RoutedSearch::can_skip_by_distance() const {
  // Facets and counts need every shard, and so does a search that must miss nothing.
  return query_.vector && !query_.text && !query_.vector->exact && !query_.vector->vector.empty() &&
         !query_.count && query_.facets.empty() && known_->centroids &&
         (query_.vector->space.empty() || query_.vector->space == known_->centroids->space());
}

Result<std::optional<RoutedHits>> RoutedSearch::attempt() {
  map_changed_ = false;
  missing_.clear();
  found_.clear();
  found_at_.clear();
  std::vector<std::uint32_t> shards = all_shards();
  if (query_.text) {
    KIN_TRY(auto matching, read_statistics(shards));
    if (!query_.vector) shards = std::move(matching);
    // A shard that did not answer is not asked again.
    std::erase_if(shards, [&](std::uint32_t shard) {
      return std::ranges::find(missing_, shard, &ShardProblem::shard) != missing_.end();
    });
  }
  KIN_RETURN_IF_ERROR(can_skip_by_distance() ? find_near() : find_at(shards));
  if (map_changed_) return std::optional<RoutedHits>();
  RoutedHits hits{.found = index::fuse(found_, query_), .asked = found_.size()};
  for (index::ShardHit& hit : hits.found.hits) hit.shard = found_at_[hit.shard];
  KIN_RETURN_IF_ERROR(add_joined(hits));
  if (map_changed_) return std::optional<RoutedHits>();
  index::keep_page(query_, hits.found);
  hits.missing = std::move(missing_);
  return std::optional(std::move(hits));
}

Result<std::vector<std::uint32_t>> RoutedSearch::read_statistics(
    const std::vector<std::uint32_t>& shards) {
  std::vector<Ask<StatisticsRequest>> asks;
  for (const std::uint32_t shard : shards) asks.push_back({shard, {.query = query_for(shard)}});
  auto told = shards_.ask(known_, asks, round_end());
  statistics_ = index::TextStatistics{};
  // All indexes have the same fields and facets.
  KIN_TRY(const index::TextQuery parsed,
          index::parse_leg(*query_.text, index::text_options(index::ShardOptions{})));
  const bool by_words = needs_words(parsed);
  std::vector<std::uint32_t> matching;
  std::vector<std::uint32_t> answering;
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(shards[i], told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    statistics_->add(told[i].reply->text);
    answering.push_back(shards[i]);
    if (!by_words || !has_none(told[i].reply->text)) matching.push_back(shards[i]);
  }
  // Somebody has to say that nothing matches.
  if (matching.empty() && !answering.empty()) matching.push_back(answering.front());
  return matching;
}

Status RoutedSearch::find_at(const std::vector<std::uint32_t>& shards) {
  std::vector<Ask<FindRequest>> asks;
  for (const std::uint32_t shard : shards)
    asks.push_back({shard, {.query = query_for(shard), .statistics = statistics_}});
  auto told = shards_.ask(known_, asks, round_end());
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(shards[i], told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    found_at_.push_back(shards[i]);
    found_.push_back(std::move(told[i].reply->found));
  }
  return Done{};
}

Status RoutedSearch::find_near() {
  KIN_TRY(const auto near, known_->centroids->near(query_.vector->vector, query_.vector->recall));
  std::set<std::uint32_t> shards;
  for (const index::PartitionId partition : near) shards.insert(known_->map.shard_of(partition));
  return find_at({shards.begin(), shards.end()});
}

Status RoutedSearch::add_joined(RoutedHits& hits) {
  if (!query_.text || (!query_.count && query_.facets.empty())) return Done{};
  std::map<std::uint32_t, std::vector<DocId>> by_shard;
  for (const index::ShardHit& hit : hits.found.hits) {
    const bool by_text =
        std::ranges::find(hit.legs, index::LegKind::kText, &index::LegScore::leg) != hit.legs.end();
    if (!by_text) by_shard[static_cast<std::uint32_t>(hit.shard)].push_back(hit.doc.id);
  }
  std::vector<Ask<SumRequest>> asks;
  for (auto& [shard, ids] : by_shard)
    asks.push_back({shard, {.query = query_for(shard), .joined = std::move(ids)}});
  auto told = shards_.ask(known_, asks, round_end());
  for (std::size_t i = 0; i < told.size(); ++i) {
    KIN_RETURN_IF_ERROR(accept(asks[i].shard, told[i]));
    if (told[i].map_changed || !told[i].reply.ok()) continue;
    const Sums& sums = *told[i].reply;
    if (hits.found.count && sums.count) *hits.found.count += *sums.count;
    for (std::size_t f = 0; f < hits.found.facets.size() && f < sums.facets.size(); ++f)
      index::add_counts(sums.facets[f], hits.found.facets[f]);
  }
  return Done{};
}

}  // namespace kin::router
