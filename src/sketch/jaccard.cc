#include "sketch/jaccard.h"

#include <algorithm>

namespace kin::sketch {

void sort_unique(std::vector<std::uint64_t>& hashes) {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

double exact_jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  if (a.empty() && b.empty()) return 0;
  std::size_t common = 0;
  // Without branches on the hashes: which list goes on is a coin toss.
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t x = a[i];
    const std::uint64_t y = b[j];
    common += x == y;
    i += x <= y;
    j += y <= x;
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

}  // namespace kin::sketch
