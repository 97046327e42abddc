// A connected component of candidate pairs, as the grouping solves it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dedup/pairs/candidates.h"
#include "dedup/scan/keep_order.h"

namespace kin::dedup {

// Its records are ranked, the best first.
struct Component {
  std::vector<RecordId> records;  // by rank
  // Pairs of ranks instead of records: a is the better one. Sorted. Borrowed.
  std::span<const Edge> links;
};

inline std::uint32_t better_of(const Edge& link) {
  return static_cast<std::uint32_t>(row_number(link.a));
}
inline std::uint32_t worse_of(const Edge& link) {
  return static_cast<std::uint32_t>(row_number(link.b));
}

// The order of Component::links.
bool by_rank(const Edge& x, const Edge& y);

// Replaces the records in the edges of one component by their ranks. The component borrows them.
Component rank(std::span<Edge> edges, const KeepOrder& order);

}  // namespace kin::dedup
