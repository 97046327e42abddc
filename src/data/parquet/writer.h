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
// Parquet files of one schema become a Parquet file page by page; DuckDB writes everything else,
// and `duckdb` is then asked about the files.
Result<WriteReport> write_parquet_rows(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                       const ParquetWriteRequest& request);

// What write_parquet_rows() will not keep, as far as is known without reading the rows.
Result<std::vector<std::string>> parquet_losses(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                                FileType type, const WriteOptions& how);

// The memory_bytes that write_parquet_rows() needs at least.
Result<std::uint64_t> least_parquet_memory(std::span<const ParquetFile> files, FileType type);

// True if the row groups of all files can stand in one file.
bool have_one_schema(std::span<const ParquetFile> files);

}  // namespace kin::data
