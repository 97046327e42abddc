// The footer of a Parquet file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/duckdb/session.h"
#include "data/input.h"
#include "data/pages/footer.h"

namespace kin::data {

struct ParquetColumn {
  std::string name;
  std::string type;  // DuckDB's name for it; empty before describe_parquet()
  friend bool operator==(const ParquetColumn&, const ParquetColumn&) = default;
};

struct ParquetFile {
  std::string shown_as;
  Input input;
  // For DuckDB; a remote file has them after describe_parquet(), which copies it.
  std::string sql;  // "read_parquet('…', …)"
  std::string sql_path;
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;            // of the file, counted over all inputs
  std::vector<std::uint64_t> group_ends;  // rows of the file up to the end of each row group
  std::vector<ParquetColumn> columns;
  std::string codec;                 // of most of its data, as COPY … (COMPRESSION …) takes it
  std::uint64_t unpacked_bytes = 0;  // of all columns
  std::uint64_t thread_bytes = 0;    // that a thread of DuckDB needs to read it, estimated
  std::shared_ptr<const File> data;
  std::shared_ptr<const Footer> footer;
};

// The unpacked bytes of all columns of a row group.
std::uint64_t bytes_of(const GroupPlace& group);
// The average bytes of a row of the row group whose rows are the longest.
std::uint64_t longest_average_row(const ParquetFile& file);
// How long a row may be: twice that, or all of a row group with a few rows, of which one may have
// nearly all the bytes.
std::uint64_t longest_likely_row(const ParquetFile& file);

// Reads the footer of `input`. A name that DuckDB would read as a pattern is accessed through a
// link in `temporary_folder`.
Result<ParquetFile> read_parquet_footer(const Input& input,
                                        const std::filesystem::path& temporary_folder);

// Asks DuckDB for the types of the columns. Refuses schemas that DuckDB would silently
// change: decimals of many digits, and names that it considers equal. Does nothing the second time.
// DuckDB reads a remote file from a copy.
Status describe_parquet(DuckDbSession& duckdb, ParquetFile& file);

// The SQL expression for `column`, a name or a dotted path into structs, as text. The error of a
// missing column names those that exist. The file must have been described.
Result<std::string> text_expression(DuckDbSession& duckdb, const ParquetFile& file,
                                    const Input& input, const std::string& column);

// The error for an impossible row number, which would otherwise select another row.
Error wrong_row_number(const std::string& shown_as);

}  // namespace kin::data
