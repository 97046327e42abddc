// The first stage of a run: all records, once.
#pragma once

#include "base/result.h"
#include "dedup/stages/run_state.h"

namespace kin::dedup {

// Takes up what an earlier run left: the scan of some records, or all that was decided. Not an
// error if it left nothing.
Status resume_run(RunState& run);

// Reads the records that an earlier run did not, and checks that the budget has room for what comes
// next. Saves a checkpoint now and then.
Status scan_inputs(RunState& run);

}  // namespace kin::dedup
