// A search in two halves, for a caller that asks several shards: find() on each of them, fuse()
// once over what they found.
//
//   TextStatistics all;  // of the whole collection, so that scores of different shards compare
//   for (const ShardView& view : views) all.add(*read_statistics(view, query));
//   query.statistics = &all;
//   std::vector<Findings> found;
//   for (const ShardView& view : views) found.push_back(*find(view, query));
//   ShardHits hits = fuse(found, query);
//   for (std::size_t i = 0; i < views.size(); ++i) add_joined(views[i], query, i, hits);  // counts
//   keep_page(query, hits);  // now the hits of search() on one shard that holds everything
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/doc_identity.h"
#include "index/query.h"
#include "index/view.h"

namespace kin::index {

// This shard's part of the statistics that the text leg of the query needs; nothing without a text
// leg. Thread-safe.
Result<TextStatistics> read_statistics(const ShardView& view, const ShardQuery& query);

// The results of a query's legs on one shard.
struct Findings {
  std::vector<DocIdentity> candidates = {};  // each once
  std::vector<std::uint64_t> ages = {};      // theirs; see ApplyOptions::ages. Of all, or of none
  std::vector<LegFound> legs = {};           // their raw scores; hits name places in `candidates`
  std::unordered_map<std::uint32_t, GraphTrace> traces = {};  // of the graph leg, by candidate
  std::optional<std::uint64_t> count = {};                    // see ShardQuery::count
  std::vector<FacetCounts> facets = {};
};

// Runs every leg of the query. Without legs the candidates are the documents in scope. The errors
// of search(). Thread-safe.
Result<Findings> find(const ShardView& view, const ShardQuery& query);

// Merges the results of find() with the same query on shards that hold different documents; if two
// shards hold a document, the first shard's scores count. Gives the hits of all pages in order,
// each with its shard. Of equal scores the older document comes first, as on one shard, if shards
// were written with ages that compare; then identities decide. Does not follow `expand`. Counts and
// facets are those of the text leg; see add_joined(). Thread-safe.
ShardHits fuse(std::span<const Findings> shards, const ShardQuery& query);

// Adds hits of shard number `shard` to the count and the facets of
// `result` if they were found by nearness or links, not by the
// words of the query. Does nothing without a text leg. Thread-safe.
Status add_joined(const ShardView& view, const ShardQuery& query, std::size_t shard,
                  ShardHits& result);

// The age of each entity that is in scope; nothing for others. Thread-safe.
Result<std::vector<std::optional<std::uint64_t>>> ages_in_scope(const ShardView& view,
                                                                const Scope& scope,
                                                                std::span<const DocId> ids);

// Puts hits in order: best first, of equal scores the older one, then by identity. Thread-safe.
void put_in_order_of_age(std::vector<ShardHit>& hits);

// Adds the counts of a facet to those of another shard, in the order of counts, then of values; the
// values of validity keep their order. Thread-safe.
void add_counts(const FacetCounts& from, FacetCounts& to);

// Keeps the page that the query asks for. Thread-safe.
void keep_page(const ShardQuery& query, ShardHits& result);

}  // namespace kin::index
