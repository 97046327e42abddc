#include "index/draw.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "index/truth/entity_keys.h"

namespace kin::index {

Result<Draw> draw_entities(const TruthView& view, const DrawRequest& request) {
  Draw draw;
  auto& drawn = draw.entities;
  const auto keep_lowest = [&] {
    if (drawn.size() <= request.limit) return;
    const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(request.limit);
    std::ranges::nth_element(drawn, end);
    draw.below = end->lot;
    drawn.erase(end, drawn.end());
  };
  for (const PartitionId partition : request.partitions) {
    kv::Cursor at = view.rows(kMembersFamily, kv::keys_with(members_prefix(partition)));
    for (; at.valid(); at.next()) {
      const auto id = decode_entity_key(at.value());
      if (!id) return Error{Code::kDataLoss, "a row of members is damaged"};
      const std::uint64_t lot = hash64(id->view(), request.seed);
      if (lot >= draw.below) continue;
      drawn.push_back({.lot = lot, .partition = partition, .id = *id});
      if (drawn.size() >= 2 * request.limit + 1) keep_lowest();
    }
    KIN_RETURN_IF_ERROR(at.status());
  }
  keep_lowest();
  std::ranges::sort(drawn);
  return draw;
}

}  // namespace kin::index
