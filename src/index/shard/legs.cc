#include "index/shard/legs.h"

#include <algorithm>
#include <set>

#include "index/find.h"
#include "index/shard/expand.h"
#include "index/text_leg.h"

namespace kin::index {
namespace {

void add_ranked(LegFound& found, std::uint32_t number, double score) {
  const auto rank = static_cast<std::uint32_t>(found.hits.size() + 1);
  found.hits.push_back({.document = number, .score = score, .rank = rank});
}

// The same search without hits, but with the sums that the query asks for.
TextSearch summing(TextSearch search, const ShardQuery& query) {
  search.k = 0;
  search.count = query.count;
  search.facets = query.facets;
  search.validity_at = query.validity_at;
  search.statistics = query.statistics;
  return search;
}

}  // namespace

double similarity(Distance kind, float distance) {
  switch (kind) {
    case Distance::kCosine: return 1 - static_cast<double>(distance);
    case Distance::kDot: return -static_cast<double>(distance);
    case Distance::kL2: return 1 / (1 + static_cast<double>(distance));
  }
  KIN_UNREACHABLE();
}

Status LegSearch::run() {
  KIN_RETURN_IF_ERROR(query_.text ? find_texts() : summarise());
  if (query_.vector) KIN_RETURN_IF_ERROR(find_nearest());
  if (query_.graph) KIN_RETURN_IF_ERROR(find_reached());
  // Ranks need no scores of the other legs.
  if (found_.size() < 2 || query_.fusion.how != Fusion::kAlpha) return Done{};
  return score_missing();
}

Status LegSearch::summarise() {
  if (!query_.count && query_.facets.empty()) return Done{};
  KIN_TRY(summary_, view_.text().search({.kind = TextQuery::Kind::kEverything},
                                        summing(docs_.text(), query_)));
  return Done{};
}

Status LegSearch::find_texts() {
  KIN_TRY(text_, parse_leg(*query_.text, view_.text().options()));
  // One search finds the hits and counts all matches.
  TextSearch search = summing(docs_.text(), query_);
  search.k = depth_;
  KIN_TRY(summary_, view_.text().search(text_, search));
  LegFound& found = found_.emplace_back(LegFound{.leg = LegKind::kText});
  for (const TextHit& hit : summary_.hits) add_ranked(found, hit.number, hit.score);
  return Done{};
}

Status LegSearch::find_nearest() {
  LegFound& found = found_.emplace_back(LegFound{.leg = LegKind::kVector});
  // An unknown space is an error even if nothing is searched for in it.
  KIN_RETURN_IF_ERROR(view_.space(query_.vector->space));
  if (!docs_.has_entities()) return Done{};
  KIN_RETURN_IF_ERROR(score_nearness({.k = static_cast<std::uint32_t>(depth_),
                                      .recall = query_.vector->recall,
                                      .filter = docs_.entities()},
                                     found));
  // score_nearness() gives no ranks, since it also scores what other legs found.
  for (std::size_t i = 0; i < found.hits.size(); ++i)
    found.hits[i].rank = static_cast<std::uint32_t>(i + 1);
  return Done{};
}

Status LegSearch::find_reached() {
  const std::vector<Seed> seeds = seeds_of(*query_.graph);
  // Starts are not hits, but they may be found on the way: they are left out below.
  const auto is_start = [&](const DocId& id) {
    return std::ranges::find(query_.graph->from, id) != query_.graph->from.end();
  };
  Expansion reach = query_.expand;
  reach.hops = std::max(reach.hops, 1U);
  KIN_TRY(auto reached, neighbours_of(view_, seeds, reach, query_.scope));
  LegFound& found = found_.emplace_back(LegFound{.leg = LegKind::kGraph});
  const IdFilter* among = docs_.entities();
  for (Neighbour& one : reached) {
    if (found.hits.size() == reach.most || !docs_.has_entities()) break;
    if (is_start(one.id) || (among != nullptr && !among->contains(one.number))) continue;
    add_ranked(found, one.number, one.score);
    traces_.emplace(one.number, std::move(one.trace));
  }
  return Done{};
}

// A document that one leg found is scored by the others too: it may match them without being among
// their best.
Status LegSearch::score_missing() {
  std::set<std::uint32_t> all;
  for (const LegFound& found : found_) {
    for (const LegHit& hit : found.hits) all.insert(hit.document);
  }
  for (LegFound& found : found_) {
    // The graph leg scores nothing that it did not reach.
    std::set<std::uint32_t> missing = all;
    for (const LegHit& hit : found.hits) missing.erase(hit.document);
    const std::vector<std::uint32_t> numbers(missing.begin(), missing.end());
    if (numbers.empty()) continue;
    if (found.leg == LegKind::kText) {
      KIN_RETURN_IF_ERROR(score_texts(numbers, found));
    } else if (found.leg == LegKind::kVector) {
      const IdFilter among = IdFilter::of(numbers);
      KIN_RETURN_IF_ERROR(score_nearness(
          {.k = static_cast<std::uint32_t>(numbers.size()), .filter = &among}, found));
    }
  }
  return Done{};
}

Status LegSearch::score_texts(const std::vector<std::uint32_t>& numbers, LegFound& found) const {
  const DocSet among{numbers};
  const TextSearch search{.k = numbers.size(),
                          .filter = &among,
                          .statistics = query_.statistics,
                          .hidden = docs_.text().hidden};
  KIN_TRY(const TextHits hits, view_.text().search(text_, search));
  for (const TextHit& hit : hits.hits) found.hits.push_back({hit.number, hit.score, 0});
  return Done{};
}

Status LegSearch::score_nearness(VectorSearch how, LegFound& found) const {
  if (query_.vector->vector.empty()) return Done{};
  how.exact = query_.vector->exact;
  KIN_TRY(const SpaceView* space, view_.space(query_.vector->space));
  KIN_TRY(const auto hits, view_.nearest(*space, query_.vector->vector, how));
  const Distance kind = space->index->space().distance;
  for (const VectorHit& hit : hits)
    found.hits.push_back({hit.id, similarity(kind, hit.distance), 0});
  return Done{};
}

bool sums_joined(const ShardQuery& query) {
  return query.text && !query.words_only && (query.count || !query.facets.empty());
}

bool is_joined(const ShardHit& hit) {
  return std::ranges::find(hit.legs, LegKind::kText, &LegScore::leg) == hit.legs.end();
}

Status sum_joined(const ShardView& view, const ShardQuery& query,
                  std::span<const std::uint32_t> numbers, ShardHits& result) {
  if (numbers.empty()) return Done{};
  // The text leg may match some of them all the same, further down than it searched.
  KIN_TRY(const TextQuery text, parse_leg(*query.text, view.text().options()));
  DocSet joined{numbers};
  const TextSearch matching{.k = numbers.size(), .filter = &joined};
  KIN_TRY(const TextHits matched, view.text().search(text, matching));
  for (const TextHit& hit : matched.hits) joined.remove(hit.number);
  const TextSearch all{
      .filter = &joined, .kinds = query.scope.kinds, .valid_at = query.scope.as_of};
  KIN_TRY(const TextHits more,
          view.text().search({.kind = TextQuery::Kind::kEverything}, summing(all, query)));
  if (result.count) *result.count += *more.count;
  for (std::size_t i = 0; i < result.facets.size(); ++i)
    add_counts(more.facets[i], result.facets[i]);
  return Done{};
}

}  // namespace kin::index
