// The last stage of a run: writes its outputs.
#pragma once

#include "base/result.h"
#include "dedup/stages/run_state.h"

namespace kin::dedup {

// Writes every output under a temporary name, then renames all of them. Counts the removals for
// the report; a dry run does only that.
Status write_outputs(RunState& run);

}  // namespace kin::dedup
