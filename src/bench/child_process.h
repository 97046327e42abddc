// The programs of this build as child processes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct ChildUsage {
  double seconds = 0;      // from start to end
  double cpu_seconds = 0;  // user and system time of all threads
  std::uint64_t peak_bytes = 0;
};

// Starts arguments[0], a program in the folder of this one. Its standard output is discarded; its
// standard error is ours. The caller waits for it.
Result<pid_t> start_beside(const std::vector<std::string>& arguments);

// Starts it and waits for it. An error if it does not exit with 0. The reported peak includes the
// memory of this process at the time of the fork, so hold little.
Result<ChildUsage> run_beside(const std::vector<std::string>& arguments);

}  // namespace kin::bench
