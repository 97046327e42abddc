// Walks over the edges of an index: neighbourhoods and shortest paths. Each level, or each group of
// nodes, costs one round of calls.
#pragma once

#include <optional>

#include "base/result.h"
#include "index/graph.h"
#include "router/query/edge_reader.h"

namespace kin::router {

Result<index::Traversal> walk(EdgeReader& reader, const index::TraverseRequest& request);
Result<std::optional<index::Path>> find_path(EdgeReader& reader, const index::PathRequest& request);

}  // namespace kin::router
