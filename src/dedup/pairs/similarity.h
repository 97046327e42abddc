// The exact similarity of two records, from their texts.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/pairs/classes.h"
#include "sketch/shingles.h"
#include "store/kept_values.h"

namespace kin::dedup {

// Reads texts from the kept values, shingles them once, and compares. Caches shingles up to a
// number of bytes; others are read again. One thread only; several may share the values.
class ExactSimilarity {
 public:
  ExactSimilarity(const store::KeptValues& values, const Classes& classes,
                  const sketch::ShingleOptions& shingles, std::uint64_t memory)
      : values_(values), classes_(classes), shingler_(shingles), memory_(memory) {}

  // Reads these records in one go, in the order of the file.
  void prefetch(std::vector<RecordId> ids);
  void forget();

  // The Jaccard similarity of the two records' shingle sets.
  Result<double> between(RecordId a, RecordId b);

 private:
  using Shingles = std::vector<std::uint64_t>;

  Shingles shingles_of(std::string_view text);
  // The record's shingles: cached, or in `scratch`.
  Result<const Shingles*> find(RecordId id, Shingles& scratch);

  const store::KeptValues& values_;
  const Classes& classes_;
  sketch::Shingler shingler_;
  std::uint64_t memory_;
  std::uint64_t used_ = 0;
  std::unordered_map<RecordId, Shingles> remembered_;
  Shingles scratch_a_;
  Shingles scratch_b_;
};

}  // namespace kin::dedup
