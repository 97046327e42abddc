#include "index/find.h"

#include <algorithm>
#include <limits>
#include <map>

#include "index/shard/fusion.h"
#include "index/shard/legs.h"
#include "index/shard/scope.h"
#include "index/shard/search.h"
#include "index/text/analyzer.h"
#include "index/text_leg.h"

namespace kin::index {
namespace {

constexpr std::uint32_t kNoCandidate = std::numeric_limits<std::uint32_t>::max();

// Each candidate once, however many legs found it.
std::vector<DocNumber> numbers_of(const std::vector<LegFound>& legs) {
  std::vector<DocNumber> numbers;
  for (const LegFound& leg : legs) {
    for (const LegHit& hit : leg.hits) numbers.push_back(DocNumber{hit.document});
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The candidates of all shards, each once, numbered in the order of their identities.
class Candidates {
 public:
  explicit Candidates(std::span<const Findings> shards) {
    std::vector<Origin> all;
    for (std::size_t s = 0; s < shards.size(); ++s) {
      ordinals_.emplace_back(shards[s].candidates.size(), kNoCandidate);
      for (std::uint32_t c = 0; c < shards[s].candidates.size(); ++c)
        all.push_back({&shards[s].candidates[c], s, c});
    }
    // Stable: if two shards hold a document, the first one's comes first.
    std::ranges::stable_sort(all, [](const Origin& a, const Origin& b) { return *a.doc < *b.doc; });
    for (const Origin& one : all) {
      if (!origins_.empty() && *origins_.back().doc == *one.doc) continue;
      ordinals_[one.shard][one.candidate] = static_cast<std::uint32_t>(origins_.size());
      origins_.push_back(one);
    }
  }

  struct Origin {
    const DocIdentity* doc;
    std::size_t shard;
    std::uint32_t candidate;
  };
  const Origin& origin(std::uint32_t ordinal) const { return origins_[ordinal]; }
  std::size_t size() const { return origins_.size(); }
  // kNoCandidate if an earlier shard holds the document too.
  std::uint32_t ordinal(std::size_t shard, std::uint32_t candidate) const {
    return ordinals_[shard][candidate];
  }

 private:
  std::vector<Origin> origins_;
  std::vector<std::vector<std::uint32_t>> ordinals_;
};

// One leg over all shards. Each shard ranked its own results; only the best `depth` over all of
// them count as found, as on one shard that holds everything. The others keep their scores without
// a rank.
LegFound merge_leg(LegKind kind, std::span<const Findings> shards, const Candidates& candidates,
                   std::size_t depth) {
  LegFound merged{.leg = kind};
  for (std::size_t s = 0; s < shards.size(); ++s) {
    for (const LegFound& leg : shards[s].legs) {
      if (leg.leg != kind) continue;
      for (LegHit hit : leg.hits) {
        hit.document = candidates.ordinal(s, hit.document);
        if (hit.document != kNoCandidate) merged.hits.push_back(hit);
      }
    }
  }
  // Hits without a rank come last. Ties go by ordinal, the order of identities, so that the order
  // of the shards does not matter.
  std::ranges::sort(merged.hits, [](const LegHit& a, const LegHit& b) {
    if ((a.rank == 0) != (b.rank == 0)) return b.rank == 0;
    return a.score != b.score ? a.score > b.score : a.document < b.document;
  });
  for (std::size_t i = 0; i < merged.hits.size() && merged.hits[i].rank != 0; ++i)
    merged.hits[i].rank = i < depth ? static_cast<std::uint32_t>(i + 1) : 0;
  return merged;
}

std::vector<LegFound> merge_legs(std::span<const Findings> shards, const Candidates& candidates,
                                 const ShardQuery& query) {
  std::vector<LegFound> legs;
  // Here no shard's number of documents limits the depth.
  const std::size_t depth = find_depth(query, std::numeric_limits<std::uint32_t>::max());
  if (query.text) legs.push_back(merge_leg(LegKind::kText, shards, candidates, depth));
  if (query.vector) legs.push_back(merge_leg(LegKind::kVector, shards, candidates, depth));
  if (query.graph)
    legs.push_back(merge_leg(LegKind::kGraph, shards, candidates, query.expand.most));
  std::vector<bool> found(candidates.size());
  for (const LegFound& leg : legs) {
    for (const LegHit& hit : leg.hits) {
      if (hit.rank != 0) found[hit.document] = true;
    }
  }
  // A result of one shard that is not among the best of all is not a candidate. With kAlpha, text
  // and nearness also score the candidates of other legs; other legs count only with a rank.
  for (LegFound& leg : legs) {
    const bool ranks_only = query.fusion.how == Fusion::kRrf || leg.leg == LegKind::kGraph;
    std::erase_if(leg.hits, [&](const LegHit& hit) {
      return !found[hit.document] || (ranks_only && hit.rank == 0);
    });
  }
  return legs;
}

// Without legs: shard by shard, each in its own order, so that pages neither overlap nor have gaps.
std::vector<Fused> list_all(std::span<const Findings> shards, const Candidates& candidates) {
  std::vector<Fused> all;
  for (std::size_t s = 0; s < shards.size(); ++s) {
    for (std::uint32_t c = 0; c < shards[s].candidates.size(); ++c) {
      const std::uint32_t ordinal = candidates.ordinal(s, c);
      if (ordinal != kNoCandidate) all.push_back({.document = ordinal, .score = 1});
    }
  }
  return all;
}

// Values of validity keep their order, because every shard has all of them.
void add_values(const std::vector<FacetCount>& more, FacetCounts& to) {
  std::map<std::string, FacetCount> by_key;
  for (const auto* values : {&std::as_const(to.values), &more}) {
    for (const FacetCount& value : *values) {
      // The number of the facet does not matter: all keys here are of one facet.
      FacetCount& sum = by_key[facet_key(0, value.value)];
      sum.value = value.value;
      sum.count += value.count;
    }
  }
  if (to.name == kValidity) {
    for (FacetCount& value : to.values) value.count = by_key[facet_key(0, value.value)].count;
    return;
  }
  to.values.clear();
  for (auto& [key, sum] : by_key) to.values.push_back(std::move(sum));
  std::ranges::stable_sort(to.values, std::ranges::greater(), &FacetCount::count);
}

}  // namespace

Result<TextStatistics> read_statistics(const ShardView& view, const ShardQuery& query) {
  if (!query.text) return TextStatistics{};
  KIN_TRY(const TextQuery text, parse_leg(*query.text, view.text().options()));
  return view.text().statistics(text);
}

Result<Findings> find(const ShardView& view, const ShardQuery& query) {
  KIN_RETURN_IF_ERROR(check(query));
  KIN_TRY(ScopedDocs docs, ScopedDocs::of(view, query.scope));
  const std::size_t depth = find_depth(query, view.truth().counters().numbers);
  LegSearch search(view, query, docs, depth);
  KIN_RETURN_IF_ERROR(search.run());
  Findings found{.count = search.summary().count, .facets = std::move(search.summary().facets)};
  std::vector<DocNumber> numbers = numbers_of(search.found());
  if (search.found().empty()) {
    for (const std::uint32_t number : docs.all().numbers(0, depth))
      numbers.push_back(DocNumber{number});
  }
  KIN_TRY(auto identities, identify(view.truth(), numbers));
  // Numbers mean nothing on other shards: from here on hits name places among the candidates.
  std::unordered_map<std::uint32_t, std::uint32_t> places;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!identities[i]) continue;
    places.emplace(static_cast<std::uint32_t>(numbers[i]),
                   static_cast<std::uint32_t>(found.candidates.size()));
    found.candidates.push_back(std::move(*identities[i]));
  }
  for (const LegFound& leg : search.found()) {
    LegFound& named = found.legs.emplace_back(LegFound{.leg = leg.leg});
    for (LegHit hit : leg.hits) {
      const auto place = places.find(hit.document);
      if (place == places.end()) continue;
      hit.document = place->second;
      named.hits.push_back(hit);
    }
  }
  for (auto& [number, trace] : search.traces()) {
    if (const auto place = places.find(number); place != places.end())
      found.traces.emplace(place->second, std::move(trace));
  }
  return found;
}

ShardHits fuse(std::span<const Findings> shards, const ShardQuery& query) {
  ShardHits result;
  if (shards.empty()) return result;
  const Candidates candidates(shards);
  std::vector<Fused> fused = has_legs(query)
                                 ? fuse_legs(merge_legs(shards, candidates, query), query.fusion)
                                 : list_all(shards, candidates);
  for (Fused& one : fused) {
    const Candidates::Origin& origin = candidates.origin(one.document);
    ShardHit hit{
        .doc = *origin.doc, .shard = origin.shard, .score = one.score, .legs = std::move(one.legs)};
    const auto& traces = shards[origin.shard].traces;
    if (const auto trace = traces.find(origin.candidate); trace != traces.end())
      hit.trace = trace->second;
    result.hits.push_back(std::move(hit));
  }
  if (query.count) {
    result.count = 0;
    for (const Findings& shard : shards) *result.count += shard.count.value_or(0);
  }
  result.facets = shards.front().facets;
  for (const Findings& shard : shards.subspan(1)) {
    for (std::size_t i = 0; i < result.facets.size(); ++i)
      add_counts(shard.facets[i], result.facets[i]);
  }
  return result;
}

Status add_joined(const ShardView& view, const ShardQuery& query, std::size_t shard,
                  ShardHits& result) {
  if (!sums_joined(query)) return Done{};
  std::vector<DocId> ids;
  for (const ShardHit& hit : result.hits) {
    if (hit.shard == shard && is_joined(hit)) ids.push_back(hit.doc.id);
  }
  // Nearness and links find entities alone.
  KIN_TRY(const auto heads, view.truth().heads(ids));
  std::vector<std::uint32_t> numbers;
  for (const auto& head : heads) {
    if (head) numbers.push_back(static_cast<std::uint32_t>(head->number));
  }
  return sum_joined(view, query, numbers, result);
}

void add_counts(const FacetCounts& from, FacetCounts& to) {
  if (to.values.empty())
    to.values = from.values;
  else
    add_values(from.values, to);
}

void keep_page(const ShardQuery& query, ShardHits& result) {
  auto& hits = result.hits;
  const std::size_t skipped = std::min(query.offset, hits.size());
  hits.erase(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(skipped));
  if (hits.size() > query.k) hits.resize(query.k);
}

}  // namespace kin::index
