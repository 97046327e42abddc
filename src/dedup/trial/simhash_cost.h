// Estimates the work of finding pairs of SimHashes.
#pragma once

#include <span>
#include <string>

#include "dedup/options.h"

namespace kin::dedup {

// The number of comparisons of `texts` whose SimHashes share a block of bits, once for each block.
// Grows with the square of the texts. Thread-safe.
double simhash_comparisons(std::span<const std::string> texts, const DedupOptions& options);

}  // namespace kin::dedup
