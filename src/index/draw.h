// Entities of some partitions, drawn at random.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "base/doc_id.h"
#include "base/result.h"
#include "index/truth/view.h"

namespace kin::index {

struct DrawRequest {
  std::set<PartitionId> partitions = {};
  std::size_t limit = 1'000;
  std::uint64_t seed = 0;
};

struct DrawnEntity {
  std::uint64_t lot = 0;  // a hash of the id and the seed
  PartitionId partition{};
  DocId id = {};
  friend auto operator<=>(const DrawnEntity&, const DrawnEntity&) = default;
};

struct Draw {
  std::vector<DrawnEntity> entities = {};  // in the order of their lots
  // Every entity of the partitions with a lower lot is among them.
  std::uint64_t below = std::numeric_limits<std::uint64_t>::max();
};

// The entities with the lowest lots. So draws of several shards are one draw from all of them, if
// each is cut at the lowest `below`. Reads a short row of every entity. Thread-safe.
Result<Draw> draw_entities(const TruthView& view, const DrawRequest& request);

}  // namespace kin::index
