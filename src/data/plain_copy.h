// A copy of a file by DuckDB alone, as a baseline for benchmarks.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace kin::data {

// Copies the records of `input` to `output`, both JSONL or Parquet by their extensions, the way a
// user of DuckDB would: one COPY with DuckDB's defaults, in input order, straight to its name.
// `threads` 0: as many as there are cores. Thread-safe for different outputs.
Status plain_copy(const std::filesystem::path& input, const std::filesystem::path& output,
                  int threads);

}  // namespace kin::data
