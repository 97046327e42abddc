// The columns that several Parquet files have together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/duckdb/session.h"
#include "data/parquet/file.h"

namespace kin::data {

// True if all files have the same columns in the same order, with the same types.
bool same_columns(std::span<const ParquetFile> files);

// True if a file has the column, whatever the case of its letters.
bool has_column(std::span<const ParquetFile> files, const std::string& name);

// Notes the parts of schemas that DuckDB, which unites files of different schemas, does not keep.
void add_schema_notes(std::span<const ParquetFile> files, std::vector<std::string>& notes);

// The columns of all files, in order of appearance, with types that hold all their values. Appends
// the differences of the files to `notes`. Refuses columns if no type of `format` can hold their
// values without losing digits.
Result<std::vector<ParquetColumn>> unite_columns(DuckDbSession& duckdb,
                                                 std::span<const ParquetFile> files, Format format,
                                                 std::vector<std::string>& notes);

}  // namespace kin::data
