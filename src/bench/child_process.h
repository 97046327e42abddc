// A program of ours, run as a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct ChildUsage {
  double seconds = 0;      // from start to end
  double cpu_seconds = 0;  // of all its threads, the system's part included
  std::uint64_t peak_bytes = 0;
};

// Runs the program beside this one that the first of `arguments` names and waits for it. Its
// standard output is dropped, its errors go where ours go. An error if it does not exit with 0. The
// peak is at least what this process held when it started the child, so hold little.
Result<ChildUsage> run_beside(const std::vector<std::string>& arguments);

}  // namespace kin::bench
