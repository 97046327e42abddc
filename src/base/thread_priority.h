// The priority of threads beside others of the machine. Where the system has no such thing, nothing
// happens.
#pragma once

#include <chrono>
#include <optional>

namespace kin {

// From now on other threads that wake up run at once, though this one has not had its turn to the
// end. It gets as much of the processor as before.
void let_others_interrupt();

// From now on this thread runs only where no other one wants the processor, or next to nothing. Not
// for threads that hold locks for long. It cannot be undone. False where the system has no such
// threads; then nothing changes.
bool use_spare_time();

// How long this thread has run, and how long it has waited for a processor while it could have run.
// Nothing where the system does not tell.
struct ThreadTimes {
  std::chrono::nanoseconds ran{};
  std::chrono::nanoseconds waited{};
};
std::optional<ThreadTimes> times_of_this_thread();

// As let_others_interrupt(), and this thread gets a tenth of what others get where they want all of
// it. It cannot be undone.
void yield_to_other_threads();

}  // namespace kin
