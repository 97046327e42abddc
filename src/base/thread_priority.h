// The priority of threads beside others of the machine. Where the system has no such thing, nothing
// happens.
#pragma once

namespace kin {

// From now on other threads that wake up run at once, though this one has not had its turn to the
// end. It gets as much of the processor as before.
void let_others_interrupt();

// The same, and this thread gets a tenth of what others get where they want all of it. It cannot be
// undone.
void yield_to_other_threads();

}  // namespace kin
