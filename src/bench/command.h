// The command line of `kindred-bench`.
#pragma once

#include "app/program.h"

namespace kin::bench {

app::Program bench_program();

}  // namespace kin::bench
