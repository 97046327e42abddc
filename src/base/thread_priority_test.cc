#include "base/thread_priority.h"

#include <gtest/gtest.h>

#ifdef __linux__
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace kin {
namespace {

int nice_of_this_thread() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
}

TEST(ThreadPriority, IsThatOfOneThreadAlone) {
  const int before = nice_of_this_thread();
  int interrupted = -1, yielded = -1;
  std::thread([&] {
    let_others_interrupt();
    interrupted = nice_of_this_thread();
    yield_to_other_threads();
    yielded = nice_of_this_thread();
  }).join();
  EXPECT_EQ(interrupted, before);
  EXPECT_GT(yielded, before);
  EXPECT_EQ(nice_of_this_thread(), before);
}

}  // namespace
}  // namespace kin
#endif
