// Measures of how well a grouping agrees with the true one.
#pragma once

#include <cstdint>
#include <span>

namespace kin::stories {

struct Agreement {
  double precision = 0;
  double recall = 0;

  // The harmonic mean; 0 if both are.
  double f1() const {
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
  }
};

struct AgreementFigures {
  // BCubed: for an average item, the share of its group that is in its true group, and the reverse.
  Agreement bcubed;
  // For pairs of items: the share of grouped pairs that are true pairs, and the reverse.
  Agreement pairwise;
  std::uint64_t items = 0;
  std::uint64_t groups = 0;
  std::uint64_t true_groups = 0;
};

// Both lists have one group per item, in the same order. Empty lists give zeros. Thread-safe.
AgreementFigures measure_agreement(std::span<const std::uint64_t> groups,
                                   std::span<const std::uint64_t> true_groups);

}  // namespace kin::stories
