#include "base/thread_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kin {
namespace {

constexpr int kNice = 10;  // about a tenth of the weight of other threads

}  // namespace

void yield_to_other_threads() {
#ifdef __linux__
  // On Linux a thread has a nice value of its own. If it cannot be changed, it stays as it is.
  const auto self = static_cast<id_t>(::syscall(SYS_gettid));
  [[maybe_unused]] const int done = ::setpriority(PRIO_PROCESS, self, kNice);
#endif
}

}  // namespace kin
