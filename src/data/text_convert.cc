#include "data/text_convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/file.h"
#include "base/workers.h"
#include "data/block_reader.h"
#include "data/copy_parts.h"
#include "data/json_record.h"
#include "data/parquet_file.h"
#include "data/record_encoder.h"
#include "data/sql_type.h"
#include "data/text_scan.h"
#include "data/text_writer.h"

namespace kin::data {
namespace {

Format input_format(const ConvertRequest& request) {
  return request.inputs.front().type.format;
}

// Where a key was first seen: the row, and its place in the record.
using FirstSeen = std::map<std::string, std::pair<std::uint64_t, std::size_t>, std::less<>>;

void note_keys(FirstSeen& seen, JsonRecordReader& reader, std::string_view record,
               std::uint64_t row) {
  std::size_t place = 0;
  for (const std::string& key : reader.keys(record)) {
    const auto [at, is_new] = seen.emplace(key, std::pair(row, place));
    if (!is_new) at->second = std::min(at->second, std::pair(row, place));
    ++place;
  }
}

// The top-level keys of the kept records of JSONL, in order of appearance.
Result<std::vector<std::string>> all_keys(const ConvertRequest& request) {
  BlockReader blocks(request.inputs, {.block_bytes = kTextBlockBytes});
  std::mutex mutex;
  FirstSeen seen;
  KIN_RETURN_IF_ERROR(run_workers(std::max(request.threads, 1), [&](int) -> Status {
    JsonRecordReader reader({});
    FirstSeen mine;
    Block block;
    for (;;) {
      KIN_TRY(const bool any, blocks.next(block));
      if (!any) break;
      for (std::size_t i = 0; i < block.records.size(); ++i) {
        const RecordId row = record_at(block.first_row + i);
        if (!request.keep.contains(row) || request.skipped.contains(row)) continue;
        note_keys(mine, reader, block.text(block.records[i]), block.first_row + i);
      }
    }
    const std::scoped_lock lock(mutex);
    for (const auto& [key, place] : mine) {
      const auto [at, is_new] = seen.emplace(key, place);
      if (!is_new) at->second = std::min(at->second, place);
    }
    return Done{};
  }));
  std::vector<std::string> keys;
  for (const auto& [key, place] : seen) keys.push_back(key);
  std::sort(keys.begin(), keys.end(),
            [&](const auto& a, const auto& b) { return seen.at(a) < seen.at(b); });
  return keys;
}

Result<TextWritten> write_encoded(const ConvertRequest& request, const std::filesystem::path& path,
                                  TextWriteOptions options) {
  options.threads = request.threads;
  return write_text(request.inputs, request.keep, request.skipped, path, options);
}

Result<WriteReport> json_to_csv_file(const ConvertRequest& request) {
  KIN_TRY(const std::vector<std::string> columns, all_keys(request));
  const Format format = request.type.format;
  NestedColumns nested(columns.size());
  const std::string header = csv_header_line(columns, format);
  KIN_TRY(const TextWritten written,
          write_encoded(request, request.path,
                        {.header = header, .compression = request.type.compression, .encoder = [&] {
                           return json_to_csv(columns, format, nested);
                         }}));
  WriteReport report{written.records, written.bytes, {}};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!nested[i]) continue;
    report.notes.push_back(fmt::format("{} has no nesting: column `{}` was written as JSON text",
                                       format_name(format), columns[i]));
  }
  report.notes.push_back(
      fmt::format("{} has no types and no nulls: every value was written as text, null and missing "
                  "ones as an empty value",
                  format_name(format)));
  return report;
}

Result<WriteReport> csv_to_text_file(const ConvertRequest& request) {
  const Format from = input_format(request);
  const Format to = request.type.format;
  const std::vector<std::string>& names = request.header.names;
  const std::string header = to == Format::kJsonl ? "" : csv_header_line(names, to);
  const auto encoder = [&] {
    return to == Format::kJsonl ? csv_to_json(names, from) : csv_to_csv(names.size(), from, to);
  };
  KIN_TRY(const TextWritten written,
          write_encoded(
              request, request.path,
              {.header = header, .compression = request.type.compression, .encoder = encoder}));
  WriteReport report{written.records, written.bytes, {}};
  if (to == Format::kJsonl) {
    report.notes.push_back(
        fmt::format("{} has no types: every value was written as a string", format_name(from)));
  }
  return report;
}

// Types that DuckDB finds in strings, back to text.
std::string type_to_keep(const std::string& type) {
  return replace_types(type, [](std::string_view word) {
    const bool found = word.starts_with("TIME") || word == "DATE" || word == "UUID";
    return std::string(found ? "VARCHAR" : word);
  });
}

struct Spooled {
  std::filesystem::path path;
  TextWritten written;
};

// DuckDB takes numbers of more than 64 bits for doubles, which have not as many digits. Text keeps
// them.
Status keep_long_numbers(DuckDbSession& duckdb, const std::string& source,
                         std::vector<ParquetColumn>& columns, std::vector<std::string>& notes) {
  std::vector<std::string> texts;
  std::vector<std::string> tests;
  for (const ParquetColumn& column : columns) {
    if (column.type != "DOUBLE" && column.type != "HUGEINT" && column.type != "UHUGEINT") continue;
    texts.push_back(fmt::format("{}: 'VARCHAR'", sql_name(column.name)));
    tests.push_back(
        fmt::format("bool_or(regexp_matches({}, '^-?[0-9]{{19,}}$'))", sql_name(column.name)));
  }
  if (tests.empty()) return Done{};
  KIN_TRY(const auto cells,
          duckdb.query(fmt::format("SELECT {} FROM read_json({}, columns = {{{}}})",
                                   fmt::join(tests, ", "), source, fmt::join(texts, ", "))));
  std::size_t next = 0;
  for (ParquetColumn& column : columns) {
    if (column.type != "DOUBLE" && column.type != "HUGEINT" && column.type != "UHUGEINT") continue;
    if (cells[0][next++] != "true") continue;
    column.type = "VARCHAR";
    notes.push_back(fmt::format(
        "`{}` has numbers that do not fit 64 bits: they were written as text", column.name));
  }
  return Done{};
}

Result<std::vector<ParquetColumn>> json_columns(DuckDbSession& duckdb, const std::string& source,
                                                std::vector<std::string>& notes) {
  KIN_TRY(const auto rows, duckdb.query(fmt::format(
                               "DESCRIBE SELECT * FROM read_json({}, sample_size = -1)", source)));
  std::vector<ParquetColumn> columns;
  for (const auto& row : rows)
    columns.push_back({row[0].value_or(""), type_to_keep(row[1].value_or(""))});
  KIN_RETURN_IF_ERROR(keep_long_numbers(duckdb, source, columns, notes));
  for (const ParquetColumn& column : columns) {
    if (column.type.find("JSON") == std::string::npos) continue;
    notes.push_back(fmt::format(
        "`{}` holds values of different types: they were written as JSON text", column.name));
  }
  return columns;
}

// What DuckDB reads the spooled records as, and what to say about it.
Result<std::string> json_source(DuckDbSession& duckdb, const Spooled& spooled,
                                const ConvertRequest& request, std::vector<std::string>& notes) {
  const std::uint64_t longest = spooled.written.longest_record + 1024;
  const std::string source =
      fmt::format("{}, format = 'newline_delimited', maximum_object_size = {}",
                  sql_text(spooled.path.string()), longest);
  std::vector<ParquetColumn> columns;
  if (input_format(request) == Format::kJsonl) {
    KIN_TRY(columns, json_columns(duckdb, source, notes));
  } else {
    for (const std::string& name : request.header.names) columns.push_back({name, "VARCHAR"});
  }
  std::vector<std::string> typed;
  for (const ParquetColumn& column : columns) {
    typed.push_back(fmt::format("{}: {}", sql_name(column.name), sql_text(column.type)));
  }
  return fmt::format("read_json({}, columns = {{{}}})", source, fmt::join(typed, ", "));
}

// A schema without records: that of the first ones of the input.
Result<std::string> empty_source(const ConvertRequest& request) {
  std::vector<std::string> names = request.header.names;
  if (names.empty()) {
    const RecordSet first(1000, true);
    KIN_TRY(names, all_keys({request.inputs, request.header, first, request.skipped, request.path,
                             request.output, request.type, request.threads, request.options}));
  }
  if (names.empty()) names.push_back("text");
  std::vector<std::string> columns;
  for (const std::string& name : names)
    columns.push_back(fmt::format("NULL::VARCHAR AS {}", sql_name(name)));
  return fmt::format("(SELECT {} WHERE false)", fmt::join(columns, ", "));
}

std::uint64_t row_group_rows(const TextWritten& written) {
  constexpr std::uint64_t kGroupBytes = 24 << 20;
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(written.bytes / std::max<std::uint64_t>(written.records, 1), 1);
  return std::clamp<std::uint64_t>(kGroupBytes / row_bytes, 2048, 122'880);
}

Result<WriteReport> to_parquet_file(const ConvertRequest& request) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(request.options.temporary_folder));
  const Format from = input_format(request);
  Spooled spooled{folder.path() / "kept.jsonl", {}};
  TextWriteOptions options;
  if (from != Format::kJsonl)
    options.encoder = [&] { return csv_to_json(request.header.names, from); };
  KIN_TRY(spooled.written, write_encoded(request, spooled.path, std::move(options)));
  const DuckDbLimits limits{.threads = 1, .memory_bytes = request.options.memory_bytes};
  KIN_TRY(const auto duckdb, DuckDbSession::open(limits, folder.path()));
  WriteReport report;
  std::string source;
  if (spooled.written.records == 0) {
    KIN_TRY(source, empty_source(request));
  } else {
    KIN_TRY(source, json_source(*duckdb, spooled, request, report.notes));
  }
  KIN_TRY(
      const Copied copied,
      copy_parts({.parts = {{"SELECT * FROM " + source,
                             fmt::format("FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE {}",
                                         row_group_rows(spooled.written))}},
                  .hook = {},
                  .type = request.type,
                  .path = request.path,
                  .output = request.output,
                  .limits = limits,
                  .temporary_folder = folder.path()}));
  report.records = copied.records;
  report.bytes = copied.bytes;
  report.notes.push_back(
      from == Format::kJsonl
          ? "Parquet has one schema for all records: fields that a record lacks were written as "
            "null"
          : fmt::format("{} has no types: every column was written as text", format_name(from)));
  return report;
}

}  // namespace

Result<WriteReport> convert_text(const ConvertRequest& request) {
  if (request.type.format == Format::kParquet) return to_parquet_file(request);
  if (input_format(request) == Format::kJsonl) return json_to_csv_file(request);
  return csv_to_text_file(request);
}

}  // namespace kin::data
