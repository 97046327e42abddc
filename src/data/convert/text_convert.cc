#include "data/convert/text_convert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <mutex>

#include "base/check.h"
#include "base/file.h"
#include "base/workers.h"
#include "data/block_reader.h"
#include "data/convert/json_schema.h"
#include "data/convert/spool_pieces.h"
#include "data/duckdb/session.h"
#include "data/parquet/copy_parts.h"
#include "data/parquet_memory.h"
#include "data/text/json_record.h"
#include "data/text/json_shape.h"
#include "data/text/record_editor.h"
#include "data/text/record_encoder.h"
#include "data/text/writer.h"

namespace kin::data {
namespace {

Format input_format(const ConvertRequest& request) {
  return request.inputs.front().type.format;
}

// Makes the edits of the request in JSON; nothing if there are none.
std::unique_ptr<RecordEncoder> json_editor(const ConvertRequest& request,
                                           EditParts parts = EditParts::kAll) {
  return request.how.edits == nullptr ? nullptr : edit_json(*request.how.edits, parts);
}

// The same for CSV, where only texts are replaced: added columns have types, which the other format
// may have too.
std::unique_ptr<RecordEncoder> csv_editor(const ConvertRequest& request) {
  if (request.how.edits == nullptr) return nullptr;
  return edit_csv(*request.how.edits, request.header.names, input_format(request),
                  EditParts::kReplacements);
}

// Columns that the output gets besides those of the inputs.
const std::vector<RecordEdits::Column>& added_columns(const ConvertRequest& request) {
  static const std::vector<RecordEdits::Column> kNone;
  return request.how.edits == nullptr ? kNone : request.how.edits->added();
}

// Declares the types of the added columns, also where every value is null.
void add_declared(const ConvertRequest& request, JsonShape& shape) {
  constexpr std::size_t kBehindAll = ~std::size_t{0} >> 1;
  const auto& added = added_columns(request);
  for (std::size_t i = 0; i < added.size(); ++i) {
    auto& field = shape.fields[added[i].name];
    if (field == nullptr) field = std::make_unique<JsonShape>();
    field->first = {~std::uint64_t{0}, kBehindAll + i};
    switch (added[i].type) {
      case RecordEdits::Type::kInteger: field->integer = true; break;
      case RecordEdits::Type::kReal: field->real = true; break;
      case RecordEdits::Type::kBoolean: field->truth = true; break;
      case RecordEdits::Type::kText: field->text = true; break;
    }
  }
}

// For one of several passes over the records.
std::function<void(std::uint64_t)> written_part(const ConvertRequest& request,
                                                std::uint64_t passes) {
  if (!request.how.written) return {};
  return [&written = request.how.written, passes](std::uint64_t records) {
    written(records / passes);
  };
}
std::uint64_t passes_of(const ConvertRequest& request) {
  return (input_format(request) == Format::kJsonl ? 1 : 0) + 1 +
         (request.type.format == Format::kParquet ? 1 : 0);
}

std::uint64_t large_bytes(const ConvertRequest& request) {
  return std::max<std::uint64_t>(request.options.memory_bytes / kWrittenCopies, 1);
}

// The shape of the JSONL records in `keep`.
Result<JsonShape> shape_of(const ConvertRequest& request, const RecordSet& keep) {
  BlockReader blocks(request.inputs,
                     {.block_bytes = kTextBlockBytes, .large_bytes = large_bytes(request)});
  std::mutex mutex;
  JsonShape shape;
  KIN_RETURN_IF_ERROR(run_workers(std::max(request.how.threads, 1), [&](int) -> Status {
    JsonShapeReader reader;
    JsonShape mine;
    Block block;
    std::string edited;
    auto editor = json_editor(request);
    const auto told = written_part(request, passes_of(request));
    for (;;) {
      std::uint64_t records = 0;
      KIN_TRY(const bool any, blocks.next(block));
      if (!any) break;
      for (std::size_t i = 0; i < block.records.size(); ++i) {
        const RecordId row = record_at(block.first_row + i);
        if (!keep.contains(row) || request.skipped.contains(row)) continue;
        std::string_view record = block.text(block.records[i]);
        if (editor != nullptr) {
          edited.clear();
          // A problem is reported, with its line, when the record is written.
          if (editor->append(edited, record, row)) continue;
          const std::size_t length = edited.size();
          edited.resize(length + kJsonPadding);
          record = std::string_view(edited).substr(0, length);
        }
        reader.add(record, block.first_row + i, mine);
        ++records;
      }
      if (told) told(records);
      // As in write_text().
      if (edited.capacity() > 8 * kTextBlockBytes) {
        edited = std::string();
        editor = json_editor(request);
      }
    }
    blocks.release(block);
    const std::scoped_lock lock(mutex);
    merge(shape, mine);
    return Done{};
  }));
  if (!shape.fields.empty()) add_declared(request, shape);
  return shape;
}

void note_repeated_keys(const JsonShape& records, std::vector<std::string>& notes) {
  if (!records.repeated_key) return;
  notes.push_back("some records have a key twice: the first value was written");
}

Result<TextWritten> write_encoded(const ConvertRequest& request, const std::filesystem::path& path,
                                  TextWriteOptions options) {
  options.threads = request.how.threads;
  options.level = request.how.format.level;
  options.large_bytes = large_bytes(request);
  options.written = written_part(request, passes_of(request));
  if (path == request.path) options.beside = request.how.beside;
  return write_text(request.inputs, request.keep, request.skipped, path, options);
}

Result<WriteReport> json_to_csv_file(const ConvertRequest& request) {
  KIN_TRY(const JsonShape shape, shape_of(request, request.keep));
  const std::vector<std::string> columns = keys_of(shape);
  const Format format = request.type.format;
  NestedColumns nested(columns.size());
  const std::string header = csv_header_line(columns, format);
  KIN_TRY(const TextWritten written,
          write_encoded(request, request.path,
                        {.header = header, .compression = request.type.compression, .encoder = [&] {
                           return chain(json_editor(request), json_to_csv(columns, format, nested));
                         }}));
  WriteReport report{written.records, written.bytes, {}};
  note_repeated_keys(shape, report.notes);
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
  std::vector<std::string> columns = names;
  for (const auto& column : added_columns(request)) columns.push_back(column.name);
  const std::string header = to == Format::kJsonl ? "" : csv_header_line(columns, to);
  const auto encoder = [&] {
    if (to != Format::kJsonl) return chain(csv_editor(request), csv_to_csv(names.size(), from, to));
    return chain(csv_editor(request), csv_to_json(names, from));
  };
  const auto edited = [&]() -> std::unique_ptr<RecordEncoder> {
    if (request.how.edits == nullptr) return encoder();
    if (to == Format::kJsonl) return chain(encoder(), json_editor(request, EditParts::kAdditions));
    return chain(encoder(), edit_csv(*request.how.edits, names, to, EditParts::kAdditions));
  };
  KIN_TRY(const TextWritten written,
          write_encoded(
              request, request.path,
              {.header = header, .compression = request.type.compression, .encoder = edited}));
  WriteReport report{written.records, written.bytes, {}};
  if (to == Format::kJsonl) {
    report.notes.push_back(
        fmt::format("{} has no types: every value was written as a string", format_name(from)));
  }
  return report;
}

std::string sql_type_of(RecordEdits::Type type) {
  switch (type) {
    case RecordEdits::Type::kInteger: return "BIGINT";
    case RecordEdits::Type::kReal: return "DOUBLE";
    case RecordEdits::Type::kBoolean: return "BOOLEAN";
    case RecordEdits::Type::kText: return "VARCHAR";
  }
  KIN_UNREACHABLE();
}

// The plan of a Parquet output: its columns, and how records are spooled for DuckDB.
struct ParquetPlan {
  std::vector<JsonSchemaColumn> columns;
  std::vector<std::string> notes;
};

Result<ParquetPlan> plan_parquet(const ConvertRequest& request) {
  ParquetPlan plan;
  if (input_format(request) != Format::kJsonl) {
    for (const std::string& name : request.header.names) plan.columns.push_back({name, "VARCHAR"});
    for (const auto& column : added_columns(request))
      plan.columns.push_back({column.name, sql_type_of(column.type)});
    plan.notes.push_back(fmt::format("{} has no types: every column was written as text",
                                     format_name(input_format(request))));
    return plan;
  }
  KIN_TRY(JsonShape shape, shape_of(request, request.keep));
  if (shape.fields.empty()) {
    // Without records, the schema is that of the first ones of the input.
    KIN_TRY(shape, shape_of(request, RecordSet(1000, true)));
  }
  note_repeated_keys(shape, plan.notes);
  KIN_TRY(plan.columns, json_schema(shape, plan.notes));
  if (plan.columns.empty()) plan.columns.push_back({"text", "VARCHAR"});
  plan.notes.push_back(
      "Parquet has one schema for all records: fields that a record lacks were written as null");
  return plan;
}

std::function<std::unique_ptr<RecordEncoder>()> spool_encoder(const ConvertRequest& request,
                                                              const ParquetPlan& plan) {
  const Format from = input_format(request);
  std::vector<std::string> names;
  std::vector<SpoolAs> spool_as;
  for (const JsonSchemaColumn& column : plan.columns) {
    names.push_back(column.name);
    spool_as.push_back(column.spool);
  }
  if (from == Format::kJsonl) {
    return [=, &request] { return chain(json_editor(request), json_to_spool(names, spool_as)); };
  }
  return [=, &request]() -> std::unique_ptr<RecordEncoder> {
    return chain(chain(csv_editor(request), csv_to_json(request.header.names, from)),
                 json_editor(request, EditParts::kAdditions));
  };
}

// DuckDB's reader of JSON has a buffer of 32 MiB or more, and gives as many of the records in it at
// a time as fit into 2,048 rows. These join a row group as a whole, however long they are. It gives
// no records of two files at a time, so long records are spooled in several files.
Result<std::vector<std::filesystem::path>> bounded_pieces(const std::filesystem::path& spool,
                                                          const TextWritten& written) {
  constexpr std::uint64_t kPieceBytes = 4 << 20;
  constexpr std::uint64_t kRowsAtOnce = 2048;
  if (written.longest_record * kRowsAtOnce <= kPieceBytes) return std::vector{spool};
  return cut_into_pieces(spool, kPieceBytes);
}

// The query that reads the spooled records.
std::string select_spooled(std::span<const std::filesystem::path> pieces,
                           const TextWritten& written, const ParquetPlan& plan) {
  std::vector<std::string> files;
  for (const auto& piece : pieces) files.push_back(sql_text(piece.string()));
  std::vector<std::string> typed;
  std::vector<std::string> selected;
  for (const JsonSchemaColumn& column : plan.columns) {
    const std::string name = sql_name(column.name);
    const bool text = column.spool != SpoolAs::kValue;
    typed.push_back(fmt::format("{}: {}", name, sql_text(text ? "VARCHAR" : column.type)));
    selected.push_back(text ? fmt::format("{}::{} AS {}", name, column.type, name) : name);
  }
  return fmt::format(
      "SELECT {} FROM read_json([{}], format = 'newline_delimited', maximum_object_size = {}, "
      "columns = {{{}}})",
      fmt::join(selected, ", "), fmt::join(files, ", "), written.longest_record + 1024,
      fmt::join(typed, ", "));
}

// DuckDB's error names the spooled records, which the user does not know.
Error without_spool(Error error, const std::filesystem::path& spool) {
  const std::string name = (spool.parent_path() / spool.stem()).string();
  if (error.message.find(name) == std::string::npos) return error;
  return {Code::kInternal,
          "the records cannot be converted to Parquet (write JSONL, and convert "
          "that by other means)"};
}

// Row groups of about kGroupBytes. DuckDB holds several copies of the values of one, so where the
// records are longer than on average, bytes end it before its rows do.
std::string group_options(const ConvertRequest& request, const TextWritten& written) {
  constexpr std::uint64_t kGroupBytes = 24 << 20;
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(written.bytes / std::max<std::uint64_t>(written.records, 1), 1);
  const auto rows = std::clamp<std::uint64_t>(kGroupBytes / row_bytes, 2048, 122'880);
  std::string options = copy_options(request.how.format, "snappy", rows);
  if (!request.how.format.row_group_rows)
    options += fmt::format(", ROW_GROUP_SIZE_BYTES {}", kGroupBytes);
  return options;
}

// Queries for the spooled records, each of a bounded length.
Result<std::vector<CopyPart>> spooled_parts(const ConvertRequest& request,
                                            const std::filesystem::path& spool,
                                            const TextWritten& written, const ParquetPlan& plan) {
  constexpr std::size_t kPiecesOfAPart = 256;
  KIN_TRY(const auto pieces, bounded_pieces(spool, written));
  std::vector<CopyPart> parts;
  for (std::size_t i = 0; i < pieces.size(); i += kPiecesOfAPart) {
    const auto some = std::span<const std::filesystem::path>(pieces).subspan(
        i, std::min(kPiecesOfAPart, pieces.size() - i));
    parts.push_back({select_spooled(some, written, plan), group_options(request, written)});
  }
  return parts;
}

// The freed memory that DuckDB's allocator may keep: what the least memory of a writer leaves.
std::uint64_t held_back(const ConvertRequest& request) {
  constexpr std::uint64_t kMost = 128 << 20;
  const std::uint64_t least = least_memory_to_parquet().bytes;
  const std::uint64_t spare =
      request.options.memory_bytes - std::min(request.options.memory_bytes, least);
  return std::clamp(spare, kDuckDbLeastHeldBack, kMost);
}

Result<WriteReport> to_parquet_file(const ConvertRequest& request) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(request.options.temporary_folder));
  KIN_TRY(ParquetPlan plan, plan_parquet(request));
  const std::filesystem::path spool = folder.path() / "records.jsonl";
  KIN_TRY(const TextWritten written,
          write_encoded(request, spool, {.header = {}, .encoder = spool_encoder(request, plan)}));
  KIN_TRY(auto parts, spooled_parts(request, spool, written, plan));
  const auto copied =
      copy_parts({.parts = std::move(parts),
                  .hook = {},
                  .type = request.type,
                  .path = request.path,
                  .output = request.output,
                  // It counts more than is resident.
                  .limits = {.threads = 1,
                             .memory_bytes = std::max(2 * request.options.memory_bytes,
                                                      3 * least_memory_to_parquet().bytes),
                             .held_back_bytes = held_back(request)},
                  .threads = request.how.threads,
                  .beside = request.how.beside,
                  .written = written_part(request, passes_of(request)),
                  .temporary_folder = folder.path()});
  if (!copied) return without_spool(copied.error(), spool);
  return WriteReport{copied->records, copied->bytes, std::move(plan.notes)};
}

}  // namespace

WriteMemory least_memory_to_parquet() {
  return {.bytes = 160 << 20, .copies = 8};
}

Result<WriteReport> convert_text(const ConvertRequest& request) {
  if (request.type.format == Format::kParquet) return to_parquet_file(request);
  if (input_format(request) == Format::kJsonl) return json_to_csv_file(request);
  return csv_to_text_file(request);
}

}  // namespace kin::data
