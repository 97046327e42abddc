// The last stage of a run: its outputs.
#pragma once

#include "base/result.h"
#include "dedup/stages/run_state.h"

namespace kin::dedup {

// Writes every output under a temporary name, then renames all of them. Counts what was removed for
// the report; a dry run does no more than that.
Status write_outputs(RunState& run);

}  // namespace kin::dedup
