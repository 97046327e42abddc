// The priority of threads beside others of the process.
#pragma once

namespace kin {

// From now on this thread runs only where the others leave a core idle, or nearly so. It cannot be
// undone. Where the system has no such thing, nothing happens.
void yield_to_other_threads();

}  // namespace kin
