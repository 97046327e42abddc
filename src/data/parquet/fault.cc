#include "data/parquet/fault.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::data {
namespace {

constexpr std::string_view kBadText = "Invalid string encoding found in Parquet file";

// The beginning of the text that DuckDB fails at, which its message shows in quotes, with escapes.
std::string shown_text(const std::string& message) {
  constexpr std::size_t kMost = 48;
  const std::size_t quote = message.find('"');
  if (quote == std::string::npos) return "";
  const std::size_t end = std::min(message.rfind('"'), quote + 1 + kMost);
  if (end <= quote) return "";
  return fmt::format(" (it begins with \"{}\")", message.substr(quote + 1, end - quote - 1));
}

// The range of rows with the value that DuckDB fails at: with one thread it reads in order, some
// rows at a time, and the dictionary of a row group as a whole.
std::string rows_of_fault(DuckDbSession& duckdb, const ParquetFile& file,
                          const std::string& column) {
  std::uint64_t next = 0;
  const auto again =
      duckdb.run_with_hook(fmt::format("SELECT count(*) FROM {} WHERE kin_rows_1(file_row_number, "
                                       "CAST(hash({}) AS VARCHAR))",
                                       file.sql, sql_name(column)),
                           1, [&](PassingRows& rows) -> Status {
                             for (const std::int64_t row : rows.numbers)
                               next = std::max(next, static_cast<std::uint64_t>(row) + 1);
                             return Done{};
                           });
  const auto end = std::upper_bound(file.group_ends.begin(), file.group_ends.end(), next);
  if (again || end == file.group_ends.end()) return "a row";
  return fmt::format("a row of {} to {}", next, *end - 1);
}

Error fault_in(DuckDbSession& duckdb, const ParquetFile& file, const ParquetColumn& column,
               const Error& error) {
  if (error.message.find(kBadText) != std::string::npos) {
    return {Code::kInvalidArgument,
            fmt::format(
                "{}: column `{}` has text that is not valid UTF-8 in {}{}: such a column "
                "cannot be read, and single rows of it cannot be skipped (re-encode it, or store "
                "it as binary)",
                file.shown_as, column.name, rows_of_fault(duckdb, file, column.name),
                shown_text(error.message))};
  }
  if (error.code == Code::kResourceExhausted || error.code == Code::kCancelled)
    return explain_parquet_error(file.shown_as, error);
  return {Code::kDataLoss,
          fmt::format("{}: column `{}` cannot be read, the file seems to be damaged: {}",
                      file.shown_as, column.name, error.message)};
}

}  // namespace

Error explain_parquet_error(const std::string& shown_as, Error error) {
  if (error.code == Code::kResourceExhausted) {
    error.message = fmt::format("{} (allow more memory, or use fewer threads)", error.message);
  } else if (error.code == Code::kInternal || error.code == Code::kUnavailable) {
    error.code = Code::kDataLoss;
  }
  return with_context(shown_as, std::move(error));
}

std::optional<Error> find_fault(DuckDbSession& duckdb, std::span<const ParquetFile> files) {
  if (!duckdb.run("SET threads = 1")) return {};
  for (const ParquetFile& file : files) {
    if (file.sql.empty()) continue;  // DuckDB did not read it
    for (const ParquetColumn& column : file.columns) {
      const Status read =
          duckdb.run(fmt::format("SELECT max(hash({})) FROM {}", sql_name(column.name), file.sql));
      if (!read) return fault_in(duckdb, file, column, read.error());
    }
  }
  return {};
}

}  // namespace kin::data
