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
  const std::filesystem::path& path;    // the path to write to
  const std::filesystem::path& output;  // its final name
  FileType type;
  const WriteOptions& how;
  const DatasetOptions& options;
  // The largest unpacked size of one part of the output, unless a single row group is larger.
  std::uint64_t piece_bytes = std::uint64_t{64} << 20;
};

// Writes the wanted rows of `files`. The output does not depend on threads or memory. Parquet files
// of one schema are written as Parquet page by page; DuckDB writes everything else, using `duckdb`
// to describe the files.
Result<WriteReport> write_parquet_rows(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                       const ParquetWriteRequest& request);

// The losses of write_parquet_rows(), as far as they are known without reading the rows.
Result<std::vector<std::string>> parquet_losses(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                                FileType type, const WriteOptions& how);

// The least memory_bytes for write_parquet_rows().
Result<std::uint64_t> least_parquet_memory(std::span<const ParquetFile> files, FileType type);

// True if the row groups of all files can be combined in one file.
bool have_one_schema(std::span<const ParquetFile> files);

}  // namespace kin::data
