// Estimates how many duplicates a collection has from those of a sample.
#pragma once

#include <cstdint>
#include <span>

#include "dedup/output/removed_log.h"

namespace kin::dedup {

// Shares of all records.
struct DuplicateShare {
  double exact = 0;
  double near = 0;
  double all() const { return exact + near; }
};

// `fates` are those of a run over a sample of a collection of `total` records, in input order. Two
// copies are both in a sample of one record in ten only one time in a hundred, unless copies lie
// near each other or are many: that is told from their distances and from the sizes of groups. A
// sample too small to tell anything gives the share of a usual collection, a tenth.
DuplicateShare estimate_duplicates(std::span<const Fate> fates, std::uint64_t total);

}  // namespace kin::dedup
