// An entity with everything that is said about it.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "index/entity.h"
#include "index/truth/view.h"

namespace kin::index {

struct About {
  StoredEntity entity = {};
  std::vector<StoredEdge> edges = {};  // that leave it, by name, other end and beginning
  std::vector<StoredFragment> fragments = {};
  // Those of each edge; of an edge with several periods they are with the first.
  std::vector<std::vector<StoredFragment>> edge_fragments = {};
};

// With edges and fragments of `as_of` alone, if it is given. Thread-safe.
Result<About> read_about(const TruthView& truth, StoredEntity entity, std::optional<Millis> as_of);

}  // namespace kin::index
