#include "stories/agreement.h"

#include <map>
#include <utility>

#include "base/check.h"

namespace kin::stories {
namespace {

double pairs(double count) {
  return count * (count - 1) / 2;
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

AgreementFigures measure_agreement(std::span<const std::uint64_t> groups,
                                   std::span<const std::uint64_t> true_groups) {
  KIN_CHECK(groups.size() == true_groups.size(), "each item has two groups");
  std::map<std::uint64_t, double> sizes;
  std::map<std::uint64_t, double> true_sizes;
  // The contingency table: how many items have this group and that true group.
  std::map<std::pair<std::uint64_t, std::uint64_t>, double> shared;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ++sizes[groups[i]];
    ++true_sizes[true_groups[i]];
    ++shared[{groups[i], true_groups[i]}];
  }
  AgreementFigures figures{.bcubed = {},
                           .pairwise = {},
                           .items = groups.size(),
                           .groups = sizes.size(),
                           .true_groups = true_sizes.size()};
  double right_pairs = 0;
  // Each of the `count` items of a cell has the same share, so the cell adds its square.
  for (const auto& [key, count] : shared) {
    figures.bcubed.precision += count * count / sizes[key.first];
    figures.bcubed.recall += count * count / true_sizes[key.second];
    right_pairs += pairs(count);
  }
  double all_pairs = 0;
  double true_pairs = 0;
  for (const auto& [group, count] : sizes) all_pairs += pairs(count);
  for (const auto& [group, count] : true_sizes) true_pairs += pairs(count);
  const auto items = static_cast<double>(groups.size());
  figures.bcubed.precision = share(figures.bcubed.precision, items);
  figures.bcubed.recall = share(figures.bcubed.recall, items);
  figures.pairwise = {share(right_pairs, all_pairs), share(right_pairs, true_pairs)};
  return figures;
}

}  // namespace kin::stories
