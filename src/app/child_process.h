// This program, run again as a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::app {

struct ChildUsage {
  double seconds = 0;      // from start to end
  double cpu_seconds = 0;  // of all its threads, the system's part included
  std::uint64_t peak_bytes = 0;
};

// Runs this program with `arguments` and waits for it. Its standard output is dropped, its errors
// go where ours go. An error if it does not exit with 0. The peak is at least what this process
// held when it was started, so hold little.
Result<ChildUsage> run_self(const std::vector<std::string>& arguments);

}  // namespace kin::app
