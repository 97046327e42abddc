// How well a grouping agrees with a true one.
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
  // Of an average item: which share of its group is of its true group, and the reverse.
  Agreement bcubed;
  // Of pairs of items: which share of those grouped together truly are, and the reverse.
  Agreement pairwise;
  std::uint64_t items = 0;
  std::uint64_t groups = 0;
  std::uint64_t true_groups = 0;
};

// Both lists name a group for each item and are equally long. Nothing gives zeros. Thread-safe.
AgreementFigures agreement(std::span<const std::uint64_t> groups,
                           std::span<const std::uint64_t> true_groups);

}  // namespace kin::stories
