// Error messages for Parquet files that cannot be read.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "data/duckdb/session.h"
#include "data/parquet/file.h"

namespace kin::data {

// Rewords DuckDB's error about reading the file `shown_as` for the user.
Error explain_parquet_error(const std::string& shown_as, Error error);

// The first file and column with an unreadable value, if there is one. Reads everything with one
// thread; used after a read has failed and DuckDB does not say where.
std::optional<Error> find_fault(DuckDbSession& duckdb, std::span<const ParquetFile> files);

}  // namespace kin::data
