// When a record of a template has been compared often enough.
#pragma once

#include <cstdint>
#include <vector>

#include "dedup/groups/component.h"
#include "dedup/pairs/simhash_pairs.h"
#include "dedup/scan/scan.h"
#include "sketch/simhash.h"

namespace kin::dedup {

// Counts, for each record of a component, the better ones whose SimHash is near although they are
// not like it. A record of a template has very many, and comparing it with all of them would cost
// time that grows with the square of the template.
class Strangers {
 public:
  Strangers(const Component& component, const Scan& scan)
      : component_(component), scan_(scan), met_(component.records.size()) {}

  // Whether the worse record of the pair has met so many that this one is not compared. The nearest
  // ones always are.
  bool skips(const Edge& link) {
    if (link.method != Method::kSimHash || met_[worse_of(link)] < kMost) return false;
    if (component_.records.size() <= kFewHashed) return false;
    const auto hash = [&](std::uint32_t rank) {
      return scan_.simhashes.get(component_.records[rank]);
    };
    const bool far = sketch::hamming(hash(better_of(link)), hash(worse_of(link))) > kNearest;
    skipped_ = skipped_ || far;
    return far;
  }
  // Whether any pair was: a duplicate may have been missed.
  bool skipped() const { return skipped_; }

  void met(const Edge& link) {
    std::uint8_t& met = met_[worse_of(link)];
    if (link.method == Method::kSimHash && met < kMost) ++met;
  }

 private:
  static constexpr std::uint8_t kMost = 16;
  static constexpr int kNearest = 1;

  const Component& component_;
  const Scan& scan_;
  std::vector<std::uint8_t> met_;
  bool skipped_ = false;
};

}  // namespace kin::dedup
