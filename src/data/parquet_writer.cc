#include "data/parquet_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>

#include "base/file.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

// Rows pass by as one number: the file in the high bits, the row in the file in the low ones.
constexpr int kRowBits = 40;
constexpr std::int64_t kRowMask = (std::int64_t{1} << kRowBits) - 1;

bool same_columns(std::span<const ParquetFile> files) {
  return std::all_of(files.begin(), files.end(), [&](const ParquetFile& file) {
    return file.columns == files.front().columns;
  });
}

std::string source(std::span<const ParquetFile> files) {
  std::vector<std::string> paths;
  for (const ParquetFile& file : files) paths.push_back(file.sql_path);
  return fmt::format("read_parquet([{}], hive_partitioning = false, union_by_name = {})",
                     fmt::join(paths, ", "), !same_columns(files));
}

// About 24 MB of data a row group: large enough to compress and read well, and small enough that
// those being filled fit in little memory.
std::uint64_t row_group_rows(std::span<const ParquetFile> files) {
  constexpr std::uint64_t kBytes = 24 << 20;
  constexpr std::uint64_t kVector = 2048;
  constexpr std::uint64_t kMost = 122'880;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  for (const ParquetFile& file : files) {
    rows += file.rows;
    bytes += file.unpacked_bytes;
  }
  const std::uint64_t fitting = kBytes * rows / std::max<std::uint64_t>(bytes, 1);
  return std::clamp(fitting / kVector * kVector, kVector, kMost);
}

// Key-value metadata that other programs left, if all files agree on it.
Result<std::string> metadata_option(DuckDbSession& duckdb, std::span<const ParquetFile> files) {
  std::string option;
  for (const ParquetFile& file : files) {
    KIN_TRY(const auto pairs,
            duckdb.query(fmt::format("SELECT try(decode(key)), try(decode(value)) FROM "
                                     "parquet_kv_metadata({}) ORDER BY 1, 2",
                                     file.sql_path)));
    std::vector<std::string> entries;
    for (const auto& pair : pairs) {
      if (!pair[0] || !pair[1]) continue;
      entries.push_back(fmt::format("{}: {}", sql_name(*pair[0]), sql_text(*pair[1])));
    }
    const std::string mine =
        entries.empty() ? "" : fmt::format(", KV_METADATA {{{}}}", fmt::join(entries, ", "));
    if (&file != &files.front() && mine != option) return std::string();
    option = mine;
  }
  return option;
}

std::string select_list(std::span<const ParquetFile> files, Format format,
                        std::vector<std::string>& notes) {
  if (format == Format::kParquet) return "*";
  std::vector<std::string> replaced;
  std::vector<std::string> nested;
  for (const ParquetFile& file : files) {
    for (const ParquetColumn& column : file.columns) {
      const bool seen = std::find(nested.begin(), nested.end(), column.name) != nested.end();
      if (seen || format == Format::kJsonl || !is_nested(column.type)) continue;
      nested.push_back(column.name);
      replaced.push_back(
          fmt::format("CAST(to_json({0}) AS VARCHAR) AS {0}", sql_name(column.name)));
      notes.push_back(fmt::format("{} has no nesting: column `{}` was written as JSON text",
                                  format_name(format), column.name));
    }
  }
  return replaced.empty() ? "*" : fmt::format("* REPLACE ({})", fmt::join(replaced, ", "));
}

}  // namespace

Result<FileType> output_type(const fs::path& output, std::span<const Input> inputs) {
  if (output == "-") return FileType{};
  for (const Input& input : inputs) {
    std::error_code ignored;
    if (!fs::equivalent(input.path, output, ignored)) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} is an input and cannot be the output too (name another)", output.string())};
  }
  return file_type(output);
}

Error explain_write_error(const fs::path& output, Error error) {
  const std::string& text = error.message;
  if (text.starts_with("cannot ")) return error;
  if (text.find("No space left") != std::string::npos) return system_error("write", output, ENOSPC);
  if (text.find("Permission denied") != std::string::npos)
    return system_error("write", output, EACCES);
  if (text.find("No such file or directory") != std::string::npos)
    return system_error("write", output, ENOENT);
  if (text.find("Out of Memory") != std::string::npos)
    error.message += " (allow more memory, or use fewer threads)";
  return with_context(fmt::format("cannot write {}", output.string()), std::move(error));
}

Result<WriteReport> write_parquet_rows(DuckDbSession& duckdb, std::span<const Input>,
                                       std::span<const ParquetFile> files,
                                       const ParquetWriteRequest& request) {
  // Found out now, with an error that names it, rather than by DuckDB.
  KIN_TRY(File probe, File::create(request.path));
  KIN_RETURN_IF_ERROR(probe.close());
  WriteReport report;
  std::string options;
  switch (request.type.format) {
    case Format::kParquet: {
      KIN_TRY(const std::string metadata, metadata_option(duckdb, files));
      options = fmt::format("FORMAT parquet, COMPRESSION {}, ROW_GROUP_SIZE {}{}",
                            files.front().codec, row_group_rows(files), metadata);
      break;
    }
    case Format::kJsonl: options = "FORMAT json"; break;
    case Format::kCsv: options = "FORMAT csv, HEADER, DELIMITER ','"; break;
    case Format::kTsv: options = "FORMAT csv, HEADER, DELIMITER '\t'"; break;
  }
  if (request.type.compression == Compression::kGzip) options += ", COMPRESSION gzip";
  if (request.type.compression == Compression::kZstd) options += ", COMPRESSION zstd";
  if (!same_columns(files)) {
    report.notes.push_back(
        "the inputs have different columns: the output has all of them, with nulls where a file "
        "lacks one");
  }
  const std::string columns = select_list(files, request.type.format, report.notes);
  const std::string sql = fmt::format(
      "COPY (SELECT {} FROM {} WHERE kin_rows_0((CAST(file_index AS BIGINT) << {}) | "
      "file_row_number)) TO {} ({})",
      columns, source(files), kRowBits, sql_text(request.path.string()), options);
  const auto written = duckdb.run_with_hook(sql, 0, [&](PassingRows& rows) -> Status {
    for (std::size_t i = 0; i < rows.numbers.size(); ++i) {
      const auto file = static_cast<std::size_t>(rows.numbers[i] >> kRowBits);
      const auto row = static_cast<std::uint64_t>(rows.numbers[i] & kRowMask);
      const RecordId id = record_at(files[file].first_row + row);
      rows.keep[i] = request.keep.contains(id) && !request.skipped.contains(id);
    }
    return Done{};
  });
  if (!written) return explain_write_error(request.output, written.error());
  report.records = static_cast<std::uint64_t>(*written);
  std::error_code failure;
  report.bytes = fs::file_size(request.path, failure);
  if (failure) return system_error("read", request.path, failure.value());
  return report;
}

}  // namespace kin::data
