#include "store/seen/block_filter.h"

#include <algorithm>
#include <cmath>

namespace kin::store {

BlockFilter::BlockFilter(std::uint64_t ids, double bits_per_id) {
  constexpr double kBlockBits = sizeof(Block) * 8;
  // At least one block, so that look-ups need no check for an empty filter.
  const double blocks = std::ceil(static_cast<double>(ids) * bits_per_id / kBlockBits);
  blocks_ = HugeArray<Block>(std::max<std::uint64_t>(1, static_cast<std::uint64_t>(blocks)));
}

}  // namespace kin::store
