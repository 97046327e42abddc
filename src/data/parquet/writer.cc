#include "data/parquet/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "data/duckdb/sql_type.h"
#include "data/pages/rewrite.h"
#include "data/parquet/columns.h"
#include "data/parquet/copy_parts.h"
#include "data/parquet/page_writer.h"
#include "data/parquet/type_notes.h"
#include "data/parquet_memory.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

// A row is passed as one number: the file in the high bits, the row in the file in the low ones.
constexpr int kRowBits = 40;
constexpr std::int64_t kRowMask = (std::int64_t{1} << kRowBits) - 1;

// Rows that are copied together: either whole files, or row groups of one.
struct Piece {
  std::size_t first_file = 0;
  std::size_t files = 1;
  std::uint64_t begin = 0;  // rows of the only file
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;  // unpacked
};

void add_groups(std::vector<Piece>& pieces, const ParquetFile& file, std::size_t number,
                std::uint64_t piece_bytes) {
  Piece piece{number, 1, 0, 0, 0};
  for (const GroupPlace& group : file.footer->groups) {
    const std::uint64_t bytes = bytes_of(group);
    if (piece.end > piece.begin && piece.bytes + bytes > piece_bytes) {
      pieces.push_back(piece);
      piece = {number, 1, piece.end, piece.end, 0};
    }
    piece.end += group.rows;
    piece.bytes += bytes;
  }
  pieces.push_back(piece);
}

// Large files are cut between row groups, small ones are combined. A piece has at most
// `piece_bytes`, or it is a single row group.
std::vector<Piece> cut(std::span<const ParquetFile> files, std::uint64_t piece_bytes) {
  std::vector<Piece> pieces;
  bool open = false;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::uint64_t bytes = files[i].unpacked_bytes;
    if (bytes > piece_bytes) {
      add_groups(pieces, files[i], i, piece_bytes);
      open = false;
      continue;
    }
    if (!open || pieces.back().bytes + bytes > piece_bytes) pieces.push_back({i, 0, 0, 0, 0});
    Piece& piece = pieces.back();
    ++piece.files;
    piece.end = piece.files == 1 ? files[i].rows : 0;
    piece.bytes += bytes;
    open = true;
  }
  return pieces;
}

struct Counts {
  std::uint64_t rows = 0;
  std::uint64_t kept = 0;
};

Counts count(const Piece& piece, std::span<const ParquetFile> files, const RecordSet& keep) {
  const ParquetFile& last = files[piece.first_file + piece.files - 1];
  const bool whole = piece.files > 1;
  const std::uint64_t begin = files[piece.first_file].first_row + piece.begin;
  const std::uint64_t end = whole ? last.first_row + last.rows : last.first_row + piece.end;
  Counts counts{end - begin, 0};
  for (std::uint64_t row = begin; row < end; ++row) counts.kept += keep.contains(record_at(row));
  return counts;
}

// The rows of a row group of about 24 MB: large enough to compress and read well, small enough to
// take little memory while it is filled. All row groups of a piece have about the same size.
std::uint64_t row_group_rows(const Piece& piece, Counts counts) {
  constexpr std::uint64_t kGroupBytes = 24 << 20;
  constexpr std::uint64_t kVector = 2048;
  constexpr std::uint64_t kMost = 122'880;
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(piece.bytes / std::max<std::uint64_t>(counts.rows, 1), 1);
  const std::uint64_t fitting = std::clamp(kGroupBytes / row_bytes, kVector, kMost);
  const std::uint64_t groups = std::max<std::uint64_t>((counts.kept + fitting / 2) / fitting, 1);
  return std::clamp((counts.kept + groups - 1) / groups, kVector, kMost);
}

// JSON has neither NaN nor infinity.
std::string finite(const std::string& value, const std::string& type) {
  return replace_values(value, parse_type(type), [](const std::string& one, const std::string& of) {
    if (of != "DOUBLE" && of != "FLOAT") return one;
    return fmt::format("CASE WHEN isfinite({0}) THEN {0} END", one);
  });
}

bool is_csv(Format format) {
  return format == Format::kCsv || format == Format::kTsv;
}

// The SQL expression for the written value of `column`; CSV needs to know if it is the only one.
std::string written_value(std::string value, const ParquetColumn& column, Format format,
                          std::size_t columns) {
  if (is_csv(format) && is_nested(column.type))
    value = fmt::format("CAST(to_json({}) AS VARCHAR)", finite(value, column.type));
  if (format == Format::kJsonl)
    value = is_long_decimal(column.type) ? fmt::format("CAST({} AS VARCHAR)", value)
                                         : finite(value, column.type);
  // An empty line is not a record; an empty text is written in quotes.
  if (is_csv(format) && columns == 1)
    value = fmt::format("coalesce(CAST({} AS VARCHAR), '')", value);
  return value;
}

// A note for each column with values that JSON does not have.
Result<std::vector<std::string>> number_notes(DuckDbSession& duckdb,
                                              std::span<const ParquetFile> files,
                                              const std::vector<ParquetColumn>& columns,
                                              Format format) {
  std::vector<std::string> checks;
  std::vector<std::string> names;
  for (const ParquetColumn& column : columns) {
    const std::string value = sql_name(column.name);
    const bool as_json = format == Format::kJsonl || (is_csv(format) && is_nested(column.type));
    const std::string written = as_json ? finite(value, column.type) : value;
    if (written == value) continue;
    checks.push_back(fmt::format("bool_or(({}) IS DISTINCT FROM {})", written, value));
    names.push_back(column.name);
  }
  std::vector<std::string> notes;
  if (checks.empty()) return notes;
  std::vector<std::string> paths;
  for (const ParquetFile& file : files) paths.push_back(file.sql_path);
  KIN_TRY(const auto found,
          duckdb.query(fmt::format(
              "SELECT {} FROM read_parquet([{}], hive_partitioning = false, union_by_name = {})",
              fmt::join(checks, ", "), fmt::join(paths, ", "), !same_columns(files))));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (found[0][i] != "true") continue;
    notes.push_back(fmt::format(
        "JSON has neither NaN nor infinity: column `{}` has null in their place", names[i]));
  }
  return notes;
}

std::string select(const Piece& piece, std::span<const ParquetFile> files,
                   const std::vector<ParquetColumn>& columns, Format format) {
  const auto mine = files.subspan(piece.first_file, piece.files);
  std::vector<std::string> expressions;
  for (const ParquetColumn& column : columns) {
    std::string value = has_column(mine, column.name) ? sql_name(column.name) : "NULL";
    if (!same_columns(files)) value = fmt::format("CAST({} AS {})", value, column.type);
    expressions.push_back(fmt::format(
        "{} AS {}", written_value(value, column, format, columns.size()), sql_name(column.name)));
  }
  std::vector<std::string> paths;
  for (const ParquetFile& file : mine) paths.push_back(file.sql_path);
  std::string range;
  if (piece.files == 1)
    range =
        fmt::format("file_row_number >= {} AND file_row_number < {} AND ", piece.begin, piece.end);
  return fmt::format(
      "SELECT {} FROM read_parquet([{}], hive_partitioning = false, union_by_name = {}) WHERE {}"
      "kin_rows_0(((CAST(file_index AS BIGINT) + {}) << {}) | file_row_number)",
      fmt::join(expressions, ", "), fmt::join(paths, ", "), !same_columns(mine), range,
      piece.first_file, kRowBits);
}

std::string text_options(FileType type, bool first) {
  std::string options = "FORMAT json";
  if (type.format == Format::kCsv)
    options = fmt::format("FORMAT csv, HEADER {}, DELIMITER ','", first);
  if (type.format == Format::kTsv)
    options = fmt::format("FORMAT csv, HEADER {}, DELIMITER '\t'", first);
  if (type.compression == Compression::kGzip) options += ", COMPRESSION gzip";
  if (type.compression == Compression::kZstd) options += ", COMPRESSION zstd";
  return options;
}

std::vector<CopyPart> make_parts(std::span<const ParquetFile> files,
                                 const std::vector<ParquetColumn>& columns,
                                 const ParquetWriteRequest& request) {
  std::vector<CopyPart> parts;
  const std::vector<Piece> pieces = cut(files, request.piece_bytes);
  for (const Piece& piece : pieces) {
    const Counts counts = count(piece, files, request.keep);
    // One part is needed even when nothing is kept: it has the schema.
    const bool last_chance = &piece == &pieces.back() && parts.empty();
    if (counts.kept == 0 && !last_chance) continue;
    CopyPart part{select(piece, files, columns, request.type.format),
                  text_options(request.type, parts.empty())};
    if (request.type.format == Format::kParquet) {
      part.options =
          copy_options(request.how.format, files.front().codec, row_group_rows(piece, counts));
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<std::vector<StoredColumn>> stored_columns(DuckDbSession& duckdb,
                                                 const std::string& sql_path) {
  KIN_TRY(const auto rows,
          duckdb.query(
              fmt::format("SELECT name, type, converted_type FROM parquet_schema({})", sql_path)));
  std::vector<StoredColumn> columns;
  // The first row is the schema itself.
  for (std::size_t i = 1; i < rows.size(); ++i) {
    columns.push_back({rows[i][0].value_or(""), rows[i][1].value_or(""), rows[i][2].value_or("")});
  }
  return columns;
}

// Converts with DuckDB.
Result<WriteReport> convert_rows(DuckDbSession& duckdb, std::span<const ParquetFile> files,
                                 const ParquetWriteRequest& request) {
  WriteReport report;
  KIN_TRY(const std::vector<ParquetColumn> columns,
          unite_columns(duckdb, files, request.type.format, report.notes));
  std::vector<ThriftValue> metadata;
  if (request.type.format == Format::kParquet) {
    metadata = common_metadata(files, report.notes);
    add_schema_notes(files, report.notes);
  }
  add_type_notes(columns, request.type.format, report.notes);
  const DuckDbLimits limits =
      share_memory(files, request.how.threads, request.options.memory_bytes);
  KIN_RETURN_IF_ERROR(duckdb.set_limits(limits));
  KIN_TRY(const auto numbers, number_notes(duckdb, files, columns, request.type.format));
  report.notes.insert(report.notes.end(), numbers.begin(), numbers.end());
  const auto keep = [&](PassingRows& rows) -> Status {
    for (std::size_t i = 0; i < rows.numbers.size(); ++i) {
      const auto file = static_cast<std::size_t>(rows.numbers[i] >> kRowBits);
      const auto row = static_cast<std::uint64_t>(rows.numbers[i] & kRowMask);
      if (file >= files.size() || row >= files[file].rows)
        return wrong_row_number(files[std::min(file, files.size() - 1)].shown_as);
      const RecordId id = record_at(files[file].first_row + row);
      rows.keep[i] = request.keep.contains(id) && !request.skipped.contains(id);
    }
    return Done{};
  };
  KIN_TRY(const Copied copied, copy_parts({.parts = make_parts(files, columns, request),
                                           .hook = keep,
                                           .type = request.type,
                                           .path = request.path,
                                           .output = request.output,
                                           .key_values = std::move(metadata),
                                           .limits = limits,
                                           .threads = request.how.threads,
                                           .beside = request.how.beside,
                                           .written = request.how.written,
                                           .temporary_folder = request.options.temporary_folder}));
  if (request.type.format == Format::kParquet && same_columns(files)) {
    KIN_TRY(const auto before, stored_columns(duckdb, files.front().sql_path));
    KIN_TRY(const auto after, stored_columns(duckdb, sql_text(request.path.string())));
    add_storage_notes(before, after, report.notes);
  }
  report.records = copied.records;
  report.bytes = copied.bytes;
  return report;
}

Result<WriteReport> convert(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                            const ParquetWriteRequest& request) {
  KIN_TRY(DuckDbSession* const session, duckdb.get());
  for (ParquetFile& file : files) KIN_RETURN_IF_ERROR(describe_parquet(*session, file));
  return convert_rows(*session, files, request);
}

// The bytes of long rows that DuckDB gets at a time.
constexpr std::uint64_t kLongRowsAtOnce = 8 << 20;

// Rows per row group for a file whose rows are so long that DuckDB, which reads 2,048 rows of a row
// group at a time, would hold too many bytes. Nothing for other files.
std::optional<std::uint64_t> rows_at_a_time(const ParquetFile& file) {
  constexpr std::uint64_t kVector = 2048;
  const std::uint64_t row_bytes = longest_average_row(file);
  if (row_bytes * kVector <= 2 * kLongRowsAtOnce) return {};
  return std::max<std::uint64_t>(kLongRowsAtOnce / row_bytes, 1);
}

// The memory of a thread of DuckDB that converts long rows: those of a query as they are read, as
// vectors and as text.
std::uint64_t long_rows_bytes(const ParquetFile& file) {
  constexpr std::uint64_t kCopies = 5;
  return kCopies * std::max(kLongRowsAtOnce, longest_likely_row(file));
}

std::uint64_t least_duckdb_memory(const ParquetFile& file, bool long_rows) {
  const std::uint64_t thread = long_rows ? long_rows_bytes(file) : file.thread_bytes;
  return kDuckDbBytes + duckdb_thread_need(thread) + kDuckDbLeastHeldBack;
}

// Each file is first rewritten with its edits, and in small row groups if its rows are long; DuckDB
// converts the result. Small row groups alone do not bound its memory: a filter joins vectors of
// less than 64 rows to larger ones, of all rows of a query. So a query has few of such groups.
Result<WriteReport> convert_rewritten(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                      const ParquetWriteRequest& request) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(request.options.temporary_folder));
  WriteOptions how = request.how;
  how.format = {};
  how.beside = {};
  how.written = {};
  std::vector<ParquetFile> edited;
  std::uint64_t rows = 0;
  std::uint64_t piece_bytes = request.piece_bytes;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path path = folder.path() / fmt::format("{}.parquet", i);
    how.format.row_group_rows = rows_at_a_time(files[i]);
    KIN_RETURN_IF_ERROR(write_pages(
        files.subspan(i, 1),
        {request.keep, request.skipped, path, request.output, request.type, how, request.options}));
    Input input{path, {Format::kParquet, Compression::kNone}, 0, files[i].shown_as};
    KIN_TRY(ParquetFile file, read_parquet_footer(input, request.options.temporary_folder));
    file.first_row = rows;
    if (how.format.row_group_rows) {
      file.thread_bytes = std::max(file.thread_bytes, long_rows_bytes(files[i]));
      piece_bytes = std::min(piece_bytes, kLongRowsAtOnce);
    }
    rows += file.rows;
    edited.push_back(std::move(file));
  }
  how = request.how;
  how.edits = nullptr;
  const SkipLog nothing;
  return convert(duckdb, edited,
                 {RecordSet(rows, true), nothing, request.path, request.output, request.type, how,
                  request.options, piece_bytes});
}

}  // namespace

Result<std::uint64_t> least_parquet_memory(std::span<const ParquetFile> files, FileType type) {
  const bool by_pages = type.format == Format::kParquet && have_one_schema(files);
  std::uint64_t most = 0;
  for (const ParquetFile& file : files) {
    // Files with long rows are written in small row groups first.
    const bool long_rows = rows_at_a_time(file).has_value();
    if (by_pages || long_rows) {
      KIN_TRY(const std::uint64_t need, rewrite_memory(*file.data, *file.footer));
      most = std::max(most, need);
    }
    if (!by_pages) most = std::max(most, least_duckdb_memory(file, long_rows));
  }
  return most;
}

Result<std::vector<std::string>> parquet_losses(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                                FileType type, const WriteOptions& how) {
  std::vector<std::string> notes;
  const bool parquet = type.format == Format::kParquet;
  if (parquet && have_one_schema(files)) {
    output_metadata(files, how, notes);
    return notes;
  }
  KIN_TRY(DuckDbSession* const session, duckdb.get());
  for (ParquetFile& file : files) KIN_RETURN_IF_ERROR(describe_parquet(*session, file));
  KIN_TRY(const std::vector<ParquetColumn> columns,
          unite_columns(*session, files, type.format, notes));
  if (parquet) {
    common_metadata(files, notes);
    add_schema_notes(files, notes);
  }
  add_type_notes(columns, type.format, notes);
  return notes;
}

Result<WriteReport> write_parquet_rows(LazyDuckDb& duckdb, std::span<ParquetFile> files,
                                       const ParquetWriteRequest& request) {
  if (request.type.format == Format::kParquet && have_one_schema(files))
    return write_pages(files, request);
  const bool long_rows = std::ranges::any_of(
      files, [](const ParquetFile& file) { return rows_at_a_time(file).has_value(); });
  if (long_rows || request.how.edits != nullptr) return convert_rewritten(duckdb, files, request);
  return convert(duckdb, files, request);
}

}  // namespace kin::data
