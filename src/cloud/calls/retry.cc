#include "cloud/calls/retry.h"

#include <algorithm>

namespace kin::cloud {

std::chrono::nanoseconds full_jitter(const RetryOptions& options, int tries, Random& random) {
  using std::chrono::nanoseconds;
  const nanoseconds longest = options.longest;
  nanoseconds most = options.base;
  for (int i = 1; i < tries && most < longest; ++i) most *= 2;
  most = std::min(most, longest);
  return nanoseconds(
      static_cast<nanoseconds::rep>(random.unit() * static_cast<double>(most.count())));
}

}  // namespace kin::cloud
