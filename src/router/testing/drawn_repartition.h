// Repartitions as simulated runs begin them.
#pragma once

#include <string>

#include "base/random.h"
#include "router/repartition.h"

namespace kin::router {

// Of some partitions of one shard: some get one more, some lose one, some are retrained. It may
// make no sense, as when the shard owns nothing.
NewRepartition draw_repartition(const ShardMap& map, Random& random);

// "3 7, 1 added, without 7".
std::string name_of(const NewRepartition& wanted);

}  // namespace kin::router
