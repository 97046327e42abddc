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

// The candidates of all shards, each once, numbered from the oldest; those of equal age in the
// order of their identities.
class Candidates {
 public:
  explicit Candidates(std::span<const Findings> shards) {
    for (std::size_t s = 0; s < shards.size(); ++s) {
      const Findings& found = shards[s];
      ordinals_.emplace_back(found.candidates.size(), kNoCandidate);
      for (std::uint32_t c = 0; c < found.candidates.size(); ++c)
        origins_.push_back({&found.candidates[c], s, c, c < found.ages.size() ? found.ages[c] : 0});
    }
    // Stable: if two shards hold a document, the first one's stays.
    std::ranges::stable_sort(origins_, less);
    origins_.erase(std::unique(origins_.begin(), origins_.end(), same), origins_.end());
    std::ranges::sort(origins_, [](const Origin& a, const Origin& b) {
      return a.age != b.age ? a.age < b.age : less(a, b);
    });
    for (std::uint32_t ordinal = 0; ordinal < origins_.size(); ++ordinal)
      ordinals_[origins_[ordinal].shard][origins_[ordinal].candidate] = ordinal;
  }

  struct Origin {
    const DocIdentity* doc;
    std::size_t shard;
    std::uint32_t candidate;
    std::uint64_t age;
  };
  const Origin& origin(std::uint32_t ordinal) const { return origins_[ordinal]; }
  std::size_t size() const { return origins_.size(); }
  // kNoCandidate if an earlier shard holds the document too.
  std::uint32_t ordinal(std::size_t shard, std::uint32_t candidate) const {
    return ordinals_[shard][candidate];
  }

 private:
  static bool less(const Origin& a, const Origin& b) { return *a.doc < *b.doc; }
  static bool same(const Origin& a, const Origin& b) { return *a.doc == *b.doc; }

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
  // Hits without a rank come last. Ties go by ordinal, so that the order of the shards does not
  // matter.
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

// Without legs: from the oldest on. Each shard gave its oldest ones, as far as the page goes.
std::vector<Fused> list_all(const Candidates& candidates) {
  std::vector<Fused> all;
  for (std::uint32_t ordinal = 0; ordinal < candidates.size(); ++ordinal)
    all.push_back({.document = ordinal, .score = 1});
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
  return view.text().statistics(text, view.sections_outside(query.scope.partitions));
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
  KIN_TRY(found.ages, read_ages(view.truth(), found.candidates));
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
                                 : list_all(candidates);
  for (Fused& one : fused) {
    const Candidates::Origin& origin = candidates.origin(one.document);
    ShardHit hit{.doc = *origin.doc,
                 .age = origin.age,
                 .shard = origin.shard,
                 .score = one.score,
                 .legs = std::move(one.legs)};
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

Result<std::vector<std::optional<std::uint64_t>>> ages_in_scope(const ShardView& view,
                                                                const Scope& scope,
                                                                std::span<const DocId> ids) {
  std::vector<std::optional<std::uint64_t>> ages(ids.size());
  KIN_TRY(ScopedDocs docs, ScopedDocs::of(view, scope));
  if (!docs.has_entities()) return ages;
  const IdFilter* among = docs.entities();
  KIN_TRY(const auto heads, view.truth().heads(ids));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto& head = heads[i];
    if (!head || (scope.partitions && !scope.partitions->contains(head->partition))) continue;
    if (among == nullptr || among->contains(static_cast<std::uint32_t>(head->number)))
      ages[i] = head->version.lsn;
  }
  return ages;
}

void put_in_order_of_age(std::vector<ShardHit>& hits) {
  std::ranges::sort(hits, [](const ShardHit& a, const ShardHit& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.age != b.age ? a.age < b.age : a.doc < b.doc;
  });
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
