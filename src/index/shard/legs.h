// The legs of a query: searches by words, by nearness and by links, each on its own.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/shard/scope.h"
#include "index/view.h"

namespace kin::index {

// Converts a distance to a similarity: the cosine,
// the product, or 1 / (1 + distance). Thread-safe.
double similarity(Distance kind, float distance);

// Finds `depth` documents in scope by each leg of a query. Hits name documents by their number. One
// thread only; the view, the query and the scope outlive it.
class LegSearch {
 public:
  LegSearch(const ShardView& view, const ShardQuery& query, ScopedDocs& docs, std::size_t depth)
      : view_(view), query_(query), docs_(docs), depth_(depth) {}

  Status run();

  const std::vector<LegFound>& found() const { return found_; }
  // The requested count and facets: of the text leg's matches, or of the scope without a text leg.
  TextHits& summary() { return summary_; }
  // The path by which the graph leg reached each of its hits.
  std::unordered_map<std::uint32_t, GraphTrace>& traces() { return traces_; }

 private:
  Status find_texts();
  Status find_nearest();
  Status find_reached();
  Status summarise();
  Status score_missing();
  Status score_texts(const std::vector<std::uint32_t>& numbers, LegFound& found) const;
  Status score_nearness(VectorSearch how, LegFound& found) const;

  const ShardView& view_;
  const ShardQuery& query_;
  ScopedDocs& docs_;
  std::size_t depth_;
  TextQuery text_;
  std::vector<LegFound> found_;
  std::unordered_map<std::uint32_t, GraphTrace> traces_;
  TextHits summary_;
};

// Whether hits that the text leg does not match have to be added to the count and the facets.
bool sums_joined(const ShardQuery& query);
// True if the text leg did not score the hit.
bool is_joined(const ShardHit& hit);
// Adds the documents that the text leg does not match to the count and the facets of `result`.
// Thread-safe.
Status sum_joined(const ShardView& view, const ShardQuery& query,
                  std::span<const std::uint32_t> numbers, ShardHits& result);

}  // namespace kin::index
