// The number of an input's records and the longest of them, found without holding it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "data/input.h"

namespace kin::data {

struct RecordSizes {
  std::uint64_t records = 0;  // with blank lines and headers
  std::uint64_t longest = 0;  // in bytes, with its line end; 0 for Parquet
  std::uint64_t most = 0;     // the highest count in a record; 0 for Parquet
};

// Counts something in a piece of a record.
using CountIn = std::function<std::uint64_t(std::string_view piece)>;

// Reads the whole input.
Result<RecordSizes> record_sizes(const Input& input, const CountIn& count);

}  // namespace kin::data
