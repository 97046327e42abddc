// Tools for measuring.
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/random.h"

namespace kin::bench {

// Median of the values: the mean of the two middle ones if their number is even, 0 if there are
// none.
double median(std::vector<double> values);

// Processor time that the calling thread has used, in seconds. It does not depend on what else the
// machine is busy with.
double thread_seconds();

// Bytes of the files in a folder and its sub-folders.
std::uint64_t bytes_in(const std::filesystem::path& folder);

template <typename T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

}  // namespace kin::bench
