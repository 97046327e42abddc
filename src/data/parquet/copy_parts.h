// Writes one output as parts that several threads make and one puts together, in order.
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

// One part: what DuckDB is asked to copy.
struct CopyPart {
  std::string select;   // may use kin_rows_0(…)
  std::string options;  // of COPY
};

struct CopyRequest {
  std::vector<CopyPart> parts;  // at least one
  DuckDbSession::RowHook hook;  // called by several threads
  FileType type;
  std::filesystem::path path;                // written to
  std::filesystem::path output;              // what it will be called, for messages
  std::vector<ThriftValue> key_values = {};  // metadata of a Parquet output (read_key_values())
  DuckDbLimits limits;                       // of all DuckDBs together; each has one thread
  int threads = 1;                      // those that DuckDB has no memory for do what is beside
  std::function<Status()> beside = {};  // as in WriteOptions
  std::function<void(std::uint64_t records)> written = {};
  std::filesystem::path temporary_folder;
};

struct Copied {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
};

// Each part is written by a DuckDB of one thread, whose output depends on nothing but the part;
// DuckDB's own threads would cut row groups where they happen to meet.
Result<Copied> copy_parts(const CopyRequest& request);

// The options of a COPY to Parquet: those of `format`, or else this codec and so many rows a group.
std::string copy_options(const OutputFormat& format, const std::string& codec,
                         std::uint64_t group_rows);

// What DuckDB or the system said about writing `output`, worded for the user.
Error explain_write_error(const std::filesystem::path& output, Error error);

}  // namespace kin::data
