#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace kin {

// Uses stdio instead of the log, which may be broken. abort() leaves a core dump with the stack of
// the check.
void check_failed(const char* file, int line, const char* condition, const char* why) {
  std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, condition, why);
  std::abort();
}

}  // namespace kin
