#include "sketch/jaccard.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace kin::sketch {
namespace {

// Below this number std::sort is faster than filling buckets.
constexpr std::size_t kFewHashes = 64;
constexpr std::size_t kVeryManyHashes = std::size_t{1} << 19;
// Insertion sort is quadratic in the crowd of a bucket.
constexpr std::size_t kBigBucket = 24;

// Sorts values that are nearly in order.
void insertion_sort(std::span<std::uint64_t> hashes) {
  for (std::size_t i = 1; i < hashes.size(); ++i) {
    const std::uint64_t hash = hashes[i];
    std::size_t hole = i;
    for (; hole > 0 && hashes[hole - 1] > hash; --hole) hashes[hole] = hashes[hole - 1];
    hashes[hole] = hash;
  }
}

// Hashes are uniform, so their high bits put each within a place or two of its final position:
// several times as fast as comparing. A crowded bucket is sorted on its own.
void sort_by_high_bits(std::vector<std::uint64_t>& hashes) {
  // At least half as many buckets as hashes.
  const int shift = 65 - std::bit_width(hashes.size());
  std::vector<std::size_t> ends((std::size_t{1} << (64 - shift)) + 1);
  for (const std::uint64_t hash : hashes) ++ends[(hash >> shift) + 1];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<std::uint64_t> sorted(hashes.size());
  for (const std::uint64_t hash : hashes) sorted[ends[hash >> shift]++] = hash;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    if (end - begin > kBigBucket) std::sort(sorted.data() + begin, sorted.data() + end);
    begin = end;
  }
  // Hashes of different buckets are in order already, so each moves within its own bucket only.
  insertion_sort(sorted);
  hashes.swap(sorted);
}

}  // namespace

void sort_unique(std::vector<std::uint64_t>& hashes) {
  // For very many hashes, a second copy and the buckets would take too much memory.
  if (hashes.size() <= kFewHashes || hashes.size() > kVeryManyHashes) {
    std::sort(hashes.begin(), hashes.end());
  } else {
    sort_by_high_bits(hashes);
  }
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
