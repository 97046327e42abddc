// hnswlib, for comparison.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace kin::bench {

// A graph over vectors by squared Euclidean distance. One thread only.
class HnswPeer {
 public:
  // M 16, ef_construction 200. The distance uses the widest SIMD vectors of the machine, as hnswlib
  // does when it is built for the machine.
  static Result<std::unique_ptr<HnswPeer>> build(std::span<const float> vectors,
                                                 std::size_t dimension);
  virtual ~HnswPeer() = default;
  // Finds the k nearest, in no order, among `ef` candidates.
  virtual void search(const float* query, std::size_t k, std::size_t ef,
                      std::vector<std::uint32_t>& found) = 0;
};

}  // namespace kin::bench
