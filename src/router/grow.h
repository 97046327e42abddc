// A further shard for an index.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/router.h"

namespace kin::router {

// Adds the shard at `address`, which exists there, to the map, without partitions: it gets them by
// moves. First the shard keeps the centroids, and the blobs with these hashes. Returns its place in
// the map. A shard that is in the map already is left as it is, so a call that failed can be
// repeated. kFailedPrecondition if another shard of the map is at the address, or this one at
// another address.
Result<std::uint32_t> add_shard(MetaStore& meta, const Connect& connect, std::string_view index,
                                const std::string& address, std::vector<Hash128> blobs = {},
                                const RouterOptions& options = {});

}  // namespace kin::router
