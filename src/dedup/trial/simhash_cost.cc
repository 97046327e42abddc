#include "dedup/trial/simhash_cost.h"

#include <algorithm>
#include <vector>

#include "sketch/simhash.h"

namespace kin::dedup {

double simhash_comparisons(std::span<const std::string> texts, const DedupOptions& options) {
  sketch::Shingler words({.unit = sketch::ShingleOptions::Unit::kWord,
                          .size = 1,
                          .normalization = options.shingles.normalization});
  std::vector<std::uint64_t> hashes;
  for (const std::string& text : texts) {
    const auto features = words.shingles(text);
    if (!features.empty()) hashes.push_back(sketch::simhash64(features));
  }
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());

  double comparisons = 0;
  const int blocks = options.hamming + 1;
  for (int block = 0; block < blocks; ++block) {
    const int begin = 64 * block / blocks;
    const int width = 64 * (block + 1) / blocks - begin;
    std::vector<std::uint64_t> values;
    for (const std::uint64_t hash : hashes) values.push_back(hash >> begin << (64 - width));
    std::sort(values.begin(), values.end());
    for (std::size_t first = 0; first < values.size();) {
      const auto end = static_cast<std::size_t>(
          std::upper_bound(values.begin() + static_cast<std::ptrdiff_t>(first), values.end(),
                           values[first]) -
          values.begin());
      const auto same = static_cast<double>(end - first);
      comparisons += same * (same - 1) / 2;
      first = end;
    }
  }
  return comparisons;
}

}  // namespace kin::dedup
