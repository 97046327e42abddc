// The first stage of a run: reads all records once.
#pragma once

#include "base/result.h"
#include "dedup/stages/run_state.h"

namespace kin::dedup {

// Continues an earlier run: from its scan of some records, or from its decisions. Not an error if
// there is no checkpoint.
Status resume_run(RunState& run);

// Reads the records that an earlier run did not, and checks that the budget is enough for the next
// stages. Saves a checkpoint from time to time.
Status scan_inputs(RunState& run);

}  // namespace kin::dedup
