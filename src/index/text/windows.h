// Searches for any of several terms with MAXSCORE: windows of documents, pruned by the score bounds
// of blocks.
#pragma once

#include <cstdint>
#include <span>

#include "index/text/plan.h"
#include "index/text/postings.h"
#include "index/text/score.h"
#include "index/text/segment.h"

namespace kin::index {

// Receives documents, and sets the least score of interest. One thread only.
class DocVisitor {
 public:
  virtual ~DocVisitor() = default;
  // Scores below this need not be reported.
  virtual Score least() const = 0;
  virtual void visit(std::uint32_t ordinal, Score score) = 0;
};

struct PlacedSegment {
  const TextSegment& segment;
  std::size_t place;  // its number in the view
};

// Reports every document of a segment that has one of the terms and scores at least what the
// visitor asks for at that moment, in order. At most kMostSummed terms. Thread-safe.
void visit_any(std::span<const PlanTerm> terms, LengthNorm norm, PlacedSegment in,
               DocVisitor& visitor);

}  // namespace kin::index
