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

// `fates` are those of a run over a sample of a collection of `total` records, in input order. In a
// sample of one record in ten, both copies of a pair occur only one time in a hundred, unless
// copies are near each other or numerous: distances and sizes of groups tell. A sample too small
// for an estimate gives the share of a usual collection, a tenth.
DuplicateShare estimate_duplicates(std::span<const Fate> fates, std::uint64_t total);

}  // namespace kin::dedup
