// The figures of a node for Prometheus.
#pragma once

#include <vector>

#include "server/node/node_shards.h"
#include "server/watch/metrics.h"

namespace kin::server {

std::vector<Gauge> gauges_of(const std::vector<ShardFigures>& shards);

}  // namespace kin::server
