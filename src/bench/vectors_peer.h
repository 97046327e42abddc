// hnswlib at the job of the vector index, for comparison.
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
  // M 16, ef_construction 200. The graph code is compiled as ours is; the distance is by the widest
  // vectors the machine has, as hnswlib built for this machine would have it.
  static Result<std::unique_ptr<HnswPeer>> build(std::span<const float> vectors,
                                                 std::size_t dimension);
  virtual ~HnswPeer() = default;
  // The k nearest, in no order, with `ef` candidates looked at.
  virtual void search(const float* query, std::size_t k, std::size_t ef,
                      std::vector<std::uint32_t>& found) = 0;
};

}  // namespace kin::bench
