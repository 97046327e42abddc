// The stages in which a run decides which records are removed.
#pragma once

#include "base/result.h"
#include "dedup/stages/run_state.h"

namespace kin::dedup {

// From the keys of the scan to `run.removals`: identical records, candidates, their texts,
// verification, chunks. Frees the scan.
Status decide(RunState& run);

}  // namespace kin::dedup
