#include "dedup/trial/duplicate_share.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace kin::dedup {
namespace {

constexpr double kUsual = 0.1;
// The number of pairs in the sample that weighs as much as the usual share.
constexpr double kWeightOfUsual = 3;
constexpr double kMost = 0.95;

struct Counts {
  double near_by = 0;   // removed for a record less than a quarter of the sample away
  double far = 0;       // removed for one farther away
  double in_large = 0;  // removed from groups of three or more
  double exact = 0;     // of all removed
  double all = 0;
};

Counts count(std::span<const Fate> fates) {
  std::unordered_map<std::size_t, std::size_t> removed_for;
  for (const Fate& fate : fates) {
    if (fate.kept) ++removed_for[*fate.kept];
  }
  Counts counts;
  for (std::size_t row = 0; row < fates.size(); ++row) {
    if (!fates[row].kept) continue;
    const std::size_t kept = *fates[row].kept;
    ++counts.all;
    counts.exact += fates[row].method == Method::kExact;
    const std::size_t distance = std::max(row, kept) - std::min(row, kept);
    if (removed_for[kept] >= 2) {
      ++counts.in_large;
    } else if (4 * distance < fates.size()) {
      ++counts.near_by;
    } else {
      ++counts.far;
    }
  }
  return counts;
}

}  // namespace

DuplicateShare estimate_duplicates(std::span<const Fate> fates, std::uint64_t total) {
  const auto rows = static_cast<double>(fates.size());
  const double part = rows / static_cast<double>(std::max<std::uint64_t>(total, 1));
  const Counts counts = count(fates);
  if (rows == 0) return {.exact = kUsual / 2, .near = kUsual / 2};
  if (part >= 0.999)
    return {.exact = counts.exact / rows, .near = (counts.all - counts.exact) / rows};

  // 9 in 16 random pairs are at least a quarter of the sample apart.
  const double anywhere = std::min(counts.far * 16 / 9, counts.far + counts.near_by);
  const double beside = counts.far + counts.near_by - anywhere;
  // A pair at a random distance is in the sample as a whole with a probability of part². The usual
  // share is the prior of their number.
  const double usual = kUsual * rows * part;
  const double pairs = (anywhere + kWeightOfUsual) / (1 + kWeightOfUsual / usual);
  const double removed = pairs / part + beside + counts.in_large;  // per `rows` records
  const double share = std::min(removed / rows, kMost);
  const double exact = counts.all >= 10 ? counts.exact / counts.all : 0.5;
  return {.exact = share * exact, .near = share * (1 - exact)};
}

}  // namespace kin::dedup
