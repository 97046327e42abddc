#include "data/plain_copy.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/workers.h"
#include "data/duckdb/session.h"
#include "data/input.h"

namespace kin::data {
namespace {

// The format of a file that DuckDB copies by itself.
Result<Format> copied_format(const std::filesystem::path& path) {
  KIN_TRY(const FileType type, file_type(path));
  const bool plain = type.compression == Compression::kNone &&
                     (type.format == Format::kJsonl || type.format == Format::kParquet);
  if (plain) return type.format;
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} is neither JSONL nor Parquet (use .jsonl or .parquet)", path.string())};
}

}  // namespace

Status plain_copy(const std::filesystem::path& input, const std::filesystem::path& output,
                  int threads) {
  KIN_TRY(const Format from, copied_format(input));
  KIN_TRY(const Format to, copied_format(output));
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(output.parent_path()));
  DuckDbLimits limits;
  limits.threads = threads > 0 ? threads : available_cores();
  KIN_TRY(const auto duckdb, DuckDbSession::open(limits, folder.path()));
  for (const char* setting : {"memory_limit", "allocator_flush_threshold",
                              "allocator_bulk_deallocation_flush_threshold"}) {
    KIN_RETURN_IF_ERROR(duckdb->run(fmt::format("RESET {}", setting)));
  }
  return duckdb->run(fmt::format("COPY (SELECT * FROM {}({})) TO {} (FORMAT {})",
                                 from == Format::kJsonl ? "read_json_auto" : "read_parquet",
                                 sql_text(input.string()), sql_text(output.string()),
                                 to == Format::kJsonl ? "json" : "parquet"));
}

}  // namespace kin::data
