#include "index/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "index/shard/expand.h"
#include "index/shard/fusion.h"
#include "index/shard/legs.h"
#include "index/shard/scope.h"
#include "index/shard/search.h"

namespace kin::index {
namespace {

constexpr std::uint32_t kMostHops = 16;

bool is_share(double value) {
  return value >= 0 && value <= 1;
}

Error wrong(std::string_view what) {
  return Error{Code::kInvalidArgument, std::string(what)};
}

bool has_legs(const ShardQuery& query) {
  return query.text || query.vector || query.graph;
}

// With a graph leg, `expand` says how far that reaches.
bool expands(const ShardQuery& query) {
  return query.expand.hops > 0 && !query.graph;
}

DocId id_of(const DocumentRow& row) {
  switch (row.kind) {
    case DocKind::kEntity: return *decode_entity_key(row.key);
    case DocKind::kEdge: return decode_forward_key(row.key)->from;
    case DocKind::kEntityFragment: return decode_entity_fragment_key(row.key)->id;
    case DocKind::kEdgeFragment: return decode_edge_fragment_key(row.key)->id;
  }
  KIN_UNREACHABLE();
}

// Says what each hit is, and drops those that are not in the view.
Status identify(const ShardView& view, std::vector<ShardHit>& hits) {
  std::vector<DocNumber> numbers;
  for (const ShardHit& hit : hits) numbers.push_back(hit.number);
  KIN_TRY(const auto rows, view.truth().document_rows(numbers));
  std::vector<ShardHit> kept;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (!rows[i]) continue;
    hits[i].kind = rows[i]->kind;
    hits[i].id = id_of(*rows[i]);
    kept.push_back(std::move(hits[i]));
  }
  hits = std::move(kept);
  return Done{};
}

void keep_page(std::vector<ShardHit>& hits, std::size_t offset, std::size_t k) {
  hits.erase(hits.begin(),
             hits.begin() + static_cast<std::ptrdiff_t>(std::min(offset, hits.size())));
  if (hits.size() > k) hits.resize(k);
}

// How many each leg has to find.
std::size_t depth_of(const ShardView& view, const ShardQuery& query) {
  const int legs = (query.text ? 1 : 0) + (query.vector ? 1 : 0) + (query.graph ? 1 : 0);
  const std::size_t numbers = view.truth().counters().numbers;
  // What is joined must not depend on the page, or pages would overlap.
  if (legs > 1 || expands(query)) return std::min(std::max(query.fusion.depth, query.k), numbers);
  return query.offset >= numbers ? numbers
                                 : std::min(query.offset + std::min(query.k, numbers), numbers);
}

std::vector<ShardHit> fused_hits(LegSearch& legs, const FusionOptions& options) {
  std::vector<ShardHit> hits;
  for (Fused& fused : fuse(legs.found(), options)) {
    ShardHit hit{
        .number = DocNumber{fused.number}, .score = fused.score, .legs = std::move(fused.legs)};
    if (const auto trace = legs.traces().find(fused.number); trace != legs.traces().end())
      hit.trace = std::move(trace->second);
    hits.push_back(std::move(hit));
  }
  return hits;
}

std::vector<ShardHit> listed_hits(const ScopedDocs& docs, std::size_t depth) {
  std::vector<ShardHit> hits;
  for (const std::uint32_t number : docs.all().numbers(0, depth))
    hits.push_back({.number = DocNumber{number}, .score = 1});
  return hits;
}

void lift(ShardHit& hit, Neighbour neighbour, std::uint32_t rank) {
  hit.legs.push_back({.leg = LegKind::kGraph,
                      .score = neighbour.score,
                      .share = neighbour.score - hit.score,
                      .rank = rank});
  hit.score = neighbour.score;
  hit.trace = std::move(neighbour.trace);
}

// What nearness or links found beside what the words match is counted with it.
Status summarise_joined(const ShardQuery& query, const std::vector<ShardHit>& hits,
                        LegSearch& legs) {
  if (!query.text || (!query.count && query.facets.empty())) return Done{};
  std::vector<std::uint32_t> joined;
  for (const ShardHit& hit : hits)
    if (std::ranges::find(hit.legs, LegKind::kText, &LegScore::leg) == hit.legs.end())
      joined.push_back(static_cast<std::uint32_t>(hit.number));
  return joined.empty() ? Status(Done{}) : legs.summarise_too(joined);
}

// All that the pages are cut from.
Result<ShardHits> candidates(const ShardView& view, const ShardQuery& query, const DocSet* among) {
  KIN_RETURN_IF_ERROR(check(query));
  KIN_TRY(ScopedDocs docs, ScopedDocs::of(view, query.scope, among));
  const std::size_t depth = depth_of(view, query);
  LegSearch legs(view, query, docs, depth);
  KIN_RETURN_IF_ERROR(legs.run());
  ShardHits result{.hits =
                       has_legs(query) ? fused_hits(legs, query.fusion) : listed_hits(docs, depth)};
  if (expands(query)) {
    KIN_RETURN_IF_ERROR(identify(view, result.hits));
    KIN_RETURN_IF_ERROR(join_neighbours(
        view, {.expand = query.expand, .scope = query.scope, .among = among}, result.hits));
  }
  KIN_RETURN_IF_ERROR(summarise_joined(query, result.hits, legs));
  result.count = legs.summary().count;
  result.facets = std::move(legs.summary().facets);
  return result;
}

}  // namespace

Status check(const Expansion& expand) {
  if (expand.hops > kMostHops) return wrong(fmt::format("at most {} hops", kMostHops));
  if (!is_share(expand.decay)) return wrong("the decay of a hop is from 0 to 1");
  return Done{};
}

Status check(const ShardQuery& query) {
  if (!is_share(query.fusion.alpha)) return wrong("alpha is from 0 to 1");
  if (!(query.fusion.floor >= -1 && query.fusion.floor < 1))
    return wrong("a floor of similarities is from -1 up to, but without, 1");
  if (!is_share(query.fusion.graph)) return wrong("the share of the graph leg is from 0 to 1");
  if (query.vector && !is_share(query.vector->recall)) return wrong("a recall is from 0 to 1");
  if (query.graph && query.graph->from.empty())
    return wrong("a search by links needs something to start from");
  if (query.count && has_legs(query) && !query.text)
    return wrong("only what words match can be counted: nearness has no end");
  return check(query.expand);
}

void put_in_order(std::vector<ShardHit>& hits) {
  std::ranges::sort(hits, [](const ShardHit& a, const ShardHit& b) {
    return a.score != b.score ? a.score > b.score : a.number < b.number;
  });
}

Status join_neighbours(const ShardView& view, const JoinRequest& request,
                       std::vector<ShardHit>& hits) {
  KIN_TRY(ScopedDocs docs, ScopedDocs::of(view, request.scope, request.among));
  if (!docs.has_entities()) return Done{};
  const IdFilter* among = docs.entities();
  std::vector<Seed> seeds;
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    seeds.push_back({.id = hits[i].id, .score = std::max(0.0, hits[i].score)});
    places.emplace(static_cast<std::uint32_t>(hits[i].number), i);
  }
  KIN_TRY(auto found, neighbours_of(view, seeds, request.expand, request.scope.as_of));
  std::uint32_t joined = 0;
  for (Neighbour& one : found) {
    if (joined == request.expand.most) break;
    if (among != nullptr && !among->contains(one.number)) continue;
    const auto [place, fresh] = places.emplace(one.number, hits.size());
    if (fresh) hits.push_back({.number = DocNumber{one.number}, .id = one.id});
    ShardHit& hit = hits[place->second];
    if (one.score > hit.score) lift(hit, std::move(one), ++joined);
  }
  put_in_order(hits);
  return Done{};
}

Result<ShardHits> search_among(const ShardView& view, const ShardQuery& query,
                               const DocSet* among) {
  KIN_TRY(ShardHits result, candidates(view, query, among));
  keep_page(result.hits, query.offset, query.k);
  KIN_RETURN_IF_ERROR(identify(view, result.hits));
  return result;
}

Result<ShardHits> search_all(const ShardView& view, const ShardQuery& query) {
  return candidates(view, query, nullptr);
}

Result<ShardHits> search(const ShardView& view, const ShardQuery& query) {
  return search_among(view, query, nullptr);
}

}  // namespace kin::index
