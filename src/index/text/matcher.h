// Finds the documents of one segment that a plan matches, in order, one at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "index/text/plan.h"
#include "index/text/score.h"
#include "index/text/segment.h"

namespace kin::index {

struct ScoreBound {
  Score most = 0;
  std::uint32_t last = kNoDoc - 1;  // the last document it holds for

  // Adds the bound of another part that the document has too.
  void add(const ScoreBound& part) {
    most += part.most;
    last = std::min(last, part.last);
  }
};

// The part of a term in the score of a document.
struct TermShare {
  const PlanTerm* term = nullptr;
  std::uint32_t occurrences = 0;  // in the document, or in the field that is asked for
  Score score = 0;
};

// One thread only. Moves forward only.
class Matcher {
 public:
  Matcher() = default;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;
  virtual ~Matcher() = default;

  std::uint32_t doc() const { return doc_; }
  // To the first match from `target` on; kNoDoc if there is none.
  virtual std::uint32_t seek(std::uint32_t target) = 0;
  // The same, without a move if doc() is there or beyond already.
  std::uint32_t reach(std::uint32_t target) {
    // Before the first move doc_ is 0, which may not be a match.
    if (!reached_ || doc_ < target) seek(target);
    reached_ = true;
    return doc_;
  }
  // The score of the current match.
  virtual Score score() = 0;
  virtual void explain(std::vector<TermShare>& shares) = 0;
  // An upper bound for the matches from `target` to bound.last. `target` is not before doc().
  virtual ScoreBound bound(std::uint32_t target) = 0;

 protected:
  std::uint32_t doc_ = 0;

 private:
  bool reached_ = false;
};

// Both must outlive the matcher.
std::unique_ptr<Matcher> make_matcher(const Plan& plan, LengthNorm norm,
                                      const TextSegment& segment);

// Matches what `matcher` matches among `ordinals`, which ascend.
std::unique_ptr<Matcher> restrict_matcher(std::unique_ptr<Matcher> matcher,
                                          std::vector<std::uint32_t> ordinals);

}  // namespace kin::index
