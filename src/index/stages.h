// The parts of a pipeline that need no shard: for one shard (run_pipeline() of query.h), and for a
// caller that asks several. All functions are thread-safe.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "index/query.h"

namespace kin::index {

// kInvalidArgument names the invalid stage, counted from 1. The queries of find stages are checked
// by the search itself.
Status check_stages(std::span<const Stage> stages);

// The query of a find stage. Counts and pages are for searches without stages.
ShardQuery query_of(const FindStage& stage);

// What a find stage found among the hits `before`: it keeps a share `keep` of their scores there,
// and the legs and ways of all stages. Scores of different kinds are compared as shares of the best
// of their kind. The hits have to be put in order after that.
void keep_history(double keep, std::span<const ShardHit> before, std::vector<ShardHit>& now);

}  // namespace kin::index
