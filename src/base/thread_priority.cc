#include "base/thread_priority.h"

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace kin {

#ifdef __linux__
namespace {

constexpr int kNice = 10;  // about a tenth of the weight of other threads

// Of sched_setattr(2), which glibc does not have.
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};

// A thread that wakes up takes the place of one whose turns are longer than its own (Linux 6.12 and
// later; turns are 3 ms as a rule).
constexpr std::uint64_t kLongTurn = 50'000'000;  // nanoseconds

bool set_turns(int nice) {
  const Attributes attributes{.nice = nice, .runtime = kLongTurn};
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

// On Linux a thread has a nice value of its own.
id_t this_thread() {
  return static_cast<id_t>(::syscall(SYS_gettid));
}

}  // namespace

// What the system refuses stays as it is.
void let_others_interrupt() {
  [[maybe_unused]] const bool done = set_turns(::getpriority(PRIO_PROCESS, this_thread()));
}

void yield_to_other_threads() {
  if (set_turns(kNice)) return;
  [[maybe_unused]] const int done = ::setpriority(PRIO_PROCESS, this_thread(), kNice);
}
#else
void let_others_interrupt() {}
void yield_to_other_threads() {}
#endif

}  // namespace kin
