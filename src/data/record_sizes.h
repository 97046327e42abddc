// The number of an input's records and the longest of them, found without holding it.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

struct RecordSizes {
  std::uint64_t records = 0;  // with blank lines and headers
  std::uint64_t longest = 0;  // in bytes, with its line end; 0 for Parquet
};

// Reads the whole input.
Result<RecordSizes> record_sizes(const Input& input);

}  // namespace kin::data
