// Reads what shows hits, from the shards that have them.
#pragma once

#include <optional>
#include <span>

#include "router/calls/shards.h"

namespace kin::router {

// In the order of the hits, whose shards are places in the map. Nothing if the map has changed.
// Scores are explained, if `show` asks for that, by the statistics of the search.
Result<std::optional<Presented>> read_shown(Shards& shards, const KnownPointer& known,
                                            std::span<const index::ShardHit> hits, const Show& show,
                                            const Limits& limits,
                                            const index::TextStatistics* statistics = nullptr);

}  // namespace kin::router
