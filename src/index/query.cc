#include "index/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "index/find.h"
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

// With a graph leg, `expand` limits that leg and nothing else.
bool expands(const ShardQuery& query) {
  return query.expand.hops > 0 && !query.graph;
}

// Says what each hit is, and drops those that are not in the view.
Status identify_hits(const ShardView& view, std::vector<ShardHit>& hits) {
  std::vector<DocNumber> numbers;
  for (const ShardHit& hit : hits) numbers.push_back(hit.number);
  KIN_TRY(auto identities, identify(view.truth(), numbers));
  std::vector<ShardHit> kept;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (!identities[i]) continue;
    hits[i].doc = std::move(*identities[i]);
    kept.push_back(std::move(hits[i]));
  }
  hits = std::move(kept);
  return Done{};
}

std::vector<ShardHit> fused_hits(LegSearch& legs, const FusionOptions& options) {
  std::vector<ShardHit> hits;
  for (Fused& fused : fuse_legs(legs.found(), options)) {
    ShardHit hit{
        .number = DocNumber{fused.document}, .score = fused.score, .legs = std::move(fused.legs)};
    if (const auto trace = legs.traces().find(fused.document); trace != legs.traces().end())
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

// The hits of all pages, not yet identified. A single shard fuses by number: reading the identity
// of every candidate would cost more than the search.
Result<ShardHits> find_all(const ShardView& view, const ShardQuery& query, const DocSet* among) {
  KIN_RETURN_IF_ERROR(check(query));
  KIN_TRY(ScopedDocs docs, ScopedDocs::of(view, query.scope, among));
  const std::size_t depth = find_depth(query, view.truth().counters().numbers);
  LegSearch legs(view, query, docs, depth);
  KIN_RETURN_IF_ERROR(legs.run());
  ShardHits result{
      .hits = has_legs(query) ? fused_hits(legs, query.fusion) : listed_hits(docs, depth),
      .count = legs.summary().count,
      .facets = std::move(legs.summary().facets)};
  // Links start from ids, so the hits are identified here and not only on their page.
  if (expands(query)) {
    KIN_RETURN_IF_ERROR(identify_hits(view, result.hits));
    KIN_RETURN_IF_ERROR(join_neighbours(
        view, {.expand = query.expand, .scope = query.scope, .among = among}, result.hits));
  }
  if (!sums_joined(query)) return result;
  std::vector<std::uint32_t> joined;
  for (const ShardHit& hit : result.hits) {
    if (is_joined(hit)) joined.push_back(static_cast<std::uint32_t>(hit.number));
  }
  KIN_RETURN_IF_ERROR(sum_joined(view, query, joined, result));
  return result;
}

}  // namespace

bool has_legs(const ShardQuery& query) {
  return query.text || query.vector || query.graph;
}

std::size_t find_depth(const ShardQuery& query, std::size_t documents) {
  const int legs = (query.text ? 1 : 0) + (query.vector ? 1 : 0) + (query.graph ? 1 : 0);
  // The joined hits must not depend on the page, or pages would overlap.
  if (legs > 1 || expands(query)) return std::min(std::max(query.fusion.depth, query.k), documents);
  // Written so that a huge offset does not overflow.
  return query.offset >= documents
             ? documents
             : std::min(query.offset + std::min(query.k, documents), documents);
}

Status check(const Expansion& expand) {
  if (expand.hops > kMostHops)
    return wrong(fmt::format("an expansion has at most {} hops", kMostHops));
  if (!is_share(expand.decay)) return wrong("the decay of a hop must be from 0 to 1");
  return Done{};
}

Status check(const ShardQuery& query) {
  if (!is_share(query.fusion.alpha)) return wrong("alpha must be from 0 to 1");
  if (!(query.fusion.floor >= -1 && query.fusion.floor < 1))
    return wrong("the floor of similarities must be at least -1 and below 1");
  if (!is_share(query.fusion.graph))
    return wrong("the weight of the graph leg must be from 0 to 1");
  if (query.vector && !is_share(query.vector->recall))
    return wrong("the recall must be from 0 to 1");
  if (query.graph && query.graph->from.empty())
    return wrong("a graph search needs at least one document to start from");
  if (query.count && has_legs(query) && !query.text)
    return wrong("only the matches of a text search can be counted");
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
  // A product or a cosine below 0 passes on nothing.
  for (std::size_t i = 0; i < hits.size(); ++i) {
    seeds.push_back({.id = hits[i].doc.id, .score = std::max(0.0, hits[i].score)});
    places.emplace(static_cast<std::uint32_t>(hits[i].number), i);
  }
  KIN_TRY(auto found, neighbours_of(view, seeds, request.expand, request.scope));
  std::uint32_t joined = 0;  // neighbours that joined or were raised; neighbours come best first
  for (Neighbour& one : found) {
    if (joined == request.expand.most) break;
    if (among != nullptr && !among->contains(one.number)) continue;
    const auto [place, fresh] = places.emplace(one.number, hits.size());
    if (fresh) hits.push_back({.number = DocNumber{one.number}, .doc = {.id = one.id}});
    ShardHit& hit = hits[place->second];
    if (one.score > hit.score) lift(hit, std::move(one), ++joined);
  }
  put_in_order(hits);
  return Done{};
}

Result<ShardHits> search_among(const ShardView& view, const ShardQuery& query,
                               const DocSet* among) {
  KIN_TRY(ShardHits result, find_all(view, query, among));
  keep_page(query, result);
  KIN_RETURN_IF_ERROR(identify_hits(view, result.hits));
  return result;
}

Result<ShardHits> search(const ShardView& view, const ShardQuery& query) {
  return search_among(view, query, nullptr);
}

}  // namespace kin::index
