// A child that writes until it is killed, for tests.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/check.h"

namespace kin::index {

struct DoomedChild {
  pid_t process = 0;
  int told = -1;  // the read end of the child's output
};

// Starts a child with KIN_KILL_FOLDER, KIN_KILL_TO (a file descriptor) and KIN_KILL_SEED in its
// environment. The child runs this program again with a single disabled test, because threads of
// this process do not survive a fork.
inline DoomedChild start_doomed(const std::string& test, const std::filesystem::path& folder,
                                std::uint64_t seed) {
  std::array<int, 2> ends{};
  KIN_CHECK(pipe(ends.data()) == 0, "a pipe is made");
  const std::string filter = "--gtest_filter=" + test;
  const std::string to = std::to_string(ends[1]);
  const std::string seeded = std::to_string(seed);
  const pid_t child = fork();
  KIN_CHECK(child >= 0, "a child is made");
  if (child == 0) {
    setenv("KIN_KILL_FOLDER", folder.c_str(), 1);
    setenv("KIN_KILL_TO", to.c_str(), 1);
    setenv("KIN_KILL_SEED", seeded.c_str(), 1);
    execl("/proc/self/exe", "kin_index_test", "--gtest_also_run_disabled_tests", filter.c_str(),
          nullptr);
    _exit(6);
  }
  close(ends[1]);
  return {.process = child, .told = ends[0]};
}

}  // namespace kin::index
