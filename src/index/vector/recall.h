// Measures how far a search has to look for a given recall, with some of the index's own vectors as
// queries.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "index/vector/writer.h"

namespace kin::index::internal {

// One thread only.
class RecallMeter {
 public:
  RecallMeter(std::size_t dimension, bool products) : queries_(dimension), products_(products) {}

  // A vector whose neighbours are searched for; `source` is its number among the vectors seen. All
  // vectors are rotated and padded.
  void add_query(std::size_t source, std::span<const float> vector);
  // One of all vectors, and its cell.
  void see(std::size_t source, std::span<const float> vector, std::uint32_t owner);
  // Call it after all see() calls, when the cells are laid out.
  RecallCurve curve(const Draft& draft);

 private:
  void add(const Draft& draft, const Centres& centres, std::size_t query);

  Matrix queries_;
  bool products_;
  std::vector<std::size_t> sources_;
  std::vector<float> squares_;
  std::vector<float> scratch_;
  std::vector<std::priority_queue<std::pair<float, std::uint32_t>>> nearest_;
  std::vector<float> shares_;
  std::vector<float> reaches_;
};

}  // namespace kin::index::internal
