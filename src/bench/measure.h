// Tools for measuring.
#pragma once

#include <vector>

namespace kin::bench {

// Median of the values: the mean of the two middle ones if their number is even, 0 if there are
// none.
double median(std::vector<double> values);

// Processor time that the calling thread has used, in seconds. It does not depend on what else the
// machine is busy with.
double thread_seconds();

}  // namespace kin::bench
