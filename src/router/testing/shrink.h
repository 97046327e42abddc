// A run that breaks a promise, made small enough to be read.
#pragma once

#include <cstddef>

#include "router/testing/cluster_run.h"

namespace kin::router {

struct Shrunk {
  RunOptions options = {};  // with what could be left out
  RunReport report = {};    // of the run with these options; it has a violation
  std::size_t parts = 0;    // that are left
  std::size_t runs = 0;     // that were tried
};

// Leaves parts out of the run as long as some violation remains: halves of what is left first, then
// smaller and smaller pieces (delta debugging). `report` is that of `options`, with a violation.
Shrunk shrink(RunOptions options, RunReport report, std::size_t most_runs = 800);

}  // namespace kin::router
