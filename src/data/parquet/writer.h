// Writes kept rows of Parquet files, as Parquet or another format.
#pragma once

#include <filesystem>
#include <span>

#include "data/dataset.h"
#include "data/duckdb/session.h"
#include "data/parquet/file.h"
#include "data/text/skip_log.h"

namespace kin::data {

struct ParquetWriteRequest {
  const RecordSet& keep;
  const SkipLog& skipped;
  const std::filesystem::path& path;    // written to
  const std::filesystem::path& output;  // what it will be called
  FileType type;
  const WriteOptions& how;
  const DatasetOptions& options;
  // Unpacked, that one part of the output is made of, about.
  std::uint64_t piece_bytes = std::uint64_t{64} << 20;
};

// Writes the rows of `files` that are wanted. The output does not depend on threads or memory.
// `duckdb` is asked about the files only.
Result<WriteReport> write_parquet_rows(DuckDbSession& duckdb, std::span<const ParquetFile> files,
                                       const ParquetWriteRequest& request);

}  // namespace kin::data
