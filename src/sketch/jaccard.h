// The exact Jaccard similarity of two sets of shingle hashes. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kin::sketch {

// Makes a list of hashes a set: ascending, each once.
void sort_unique(std::vector<std::uint64_t>& hashes);

// |a and b| / |a or b| of two sets as sort_unique leaves them; 0 for two empty ones.
double exact_jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace kin::sketch
