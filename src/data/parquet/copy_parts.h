// Writes one output as parts that several threads make; they are joined in order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/dataset.h"
#include "data/duckdb/session.h"
#include "data/input.h"
#include "data/pages/thrift_compact.h"

namespace kin::data {

// One part: the query and the options of a COPY.
struct CopyPart {
  std::string select;   // may use kin_rows_0(…)
  std::string options;  // of COPY
};

struct CopyRequest {
  std::vector<CopyPart> parts;  // at least one
  DuckDbSession::RowHook hook;  // called by several threads
  FileType type;
  std::filesystem::path path;                // the path to write to
  std::filesystem::path output;              // its final name, for messages
  std::vector<ThriftValue> key_values = {};  // metadata of a Parquet output (read_key_values())
  DuckDbLimits limits;                       // of all DuckDBs together; each has one thread
  int threads = 1;                           // threads without memory for a DuckDB run `beside`
  std::function<Status()> beside = {};       // as in WriteOptions
  std::function<void(std::uint64_t records)> written = {};
  std::filesystem::path temporary_folder;
};

struct Copied {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

// Each part is written by a DuckDB of one thread, whose output depends only on the part; with
// several threads DuckDB's row groups would depend on timing.
Result<Copied> copy_parts(const CopyRequest& request);

// The options of a COPY to Parquet: those of `format`, else this codec and rows per group.
std::string copy_options(const OutputFormat& format, const std::string& codec,
                         std::uint64_t group_rows);

// Rewords an error of DuckDB or the system about writing `output` for the user.
Error explain_write_error(const std::filesystem::path& output, Error error);

}  // namespace kin::data
