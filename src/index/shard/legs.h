// The legs of a query: what words, nearness and links find, each for itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "index/query.h"
#include "index/shard/fusion.h"
#include "index/shard/scope.h"
#include "index/view.h"

namespace kin::index {

// A vector leg made ready.
struct VectorQuestion {
  const SpaceView* space = nullptr;
  std::vector<float> vector = {};  // empty: what is asked has no place in the space
};
// Where the leg says nothing, the vector is made of the words of `text`. kFailedPrecondition if
// there is neither a vector nor anything to make one. Thread-safe.
Result<VectorQuestion> vector_question(const ShardView& view, const VectorLeg& leg,
                                       const std::optional<TextLeg>& text);
// From a distance to what is more the nearer: the cosine, the product, or 1 / (1 + distance).
double similarity(Distance kind, float distance);

// Finds `depth` documents in scope by each leg of a query. One thread only; not longer than the
// view and the query live.
class LegSearch {
 public:
  LegSearch(const ShardView& view, const ShardQuery& query, ScopedDocs& docs, std::size_t depth)
      : view_(view), query_(query), docs_(docs), depth_(depth) {}

  Status run();

  const std::vector<LegFound>& found() const { return found_; }
  // Of what the text leg matches, or without one the scope: the count and the facets asked for.
  TextHits& summary() { return summary_; }
  // Adds to the summary those of the documents that the text leg does not match.
  Status summarise_too(const std::vector<std::uint32_t>& numbers);
  // By which way the graph leg came to each of its hits.
  std::unordered_map<std::uint32_t, GraphTrace>& traces() { return traces_; }

 private:
  TextSearch summing_search() const;
  Status find_texts();
  Status find_vectors();
  Status find_reached();
  Status summarise();
  Status score_missing();
  Status score_texts(const std::vector<std::uint32_t>& numbers, LegFound& found) const;
  Status score_vectors(const std::vector<std::uint32_t>& numbers, LegFound& found) const;

  const ShardView& view_;
  const ShardQuery& query_;
  ScopedDocs& docs_;
  std::size_t depth_;
  TextQuery text_;
  VectorQuestion question_;
  std::vector<LegFound> found_;
  std::unordered_map<std::uint32_t, GraphTrace> traces_;
  TextHits summary_;
};

}  // namespace kin::index
