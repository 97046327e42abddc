#include "data/convert/text_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/file.h"
#include "base/workers.h"
#include "data/block_reader.h"
#include "data/convert/json_schema.h"
#include "data/convert/text_convert.h"
#include "data/parquet/copy_parts.h"
#include "data/text/record_editor.h"
#include "data/text/scan.h"
#include "data/text/writer.h"

namespace kin::data {
namespace {

constexpr std::size_t kSamplePlaces = 16;

// A long record is held twice: as it was read, and its text with escapes decoded.
std::uint64_t large_to_scan(const DatasetOptions& options) {
  return std::max<std::uint64_t>(
      options.long_records > 0 ? options.long_records : options.memory_bytes / 2, 1);
}

std::uint64_t large_to_write(const DatasetOptions& options) {
  return std::max<std::uint64_t>(options.memory_bytes / kWrittenCopies, 1);
}

Status check_headers(const std::vector<Input>& inputs, const CsvHeader& first) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    KIN_TRY(const CsvHeader other, read_csv_header(inputs[i]));
    if (other.names == first.names) continue;
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} has other columns than {} (CSV files of one run need the same header)",
                    inputs[i].shown_as, inputs[0].shown_as)};
  }
  return Done{};
}

// JSON objects may have any names, but each of them only once.
Status check_json_names(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice == names.end()) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("the column \"{}\" occurs twice (rename one)", *twice)};
}

// The start of the first record after `offset`.
Result<std::uint64_t> next_line(const Input& input, std::uint64_t offset) {
  KIN_TRY(const auto source, ByteSource::open(input, offset));
  std::string bytes(64 << 10, '\0');
  for (;;) {
    KIN_TRY(const std::size_t got, source->read(bytes.data(), bytes.size()));
    const std::size_t line_end = std::string_view(bytes.data(), got).find('\n');
    if (got == 0) return offset;
    if (line_end != std::string_view::npos) return offset + line_end + 1;
    offset += got;
  }
}

}  // namespace

TextDataset::TextDataset(std::vector<Input> inputs, DatasetOptions options)
    : inputs_(std::move(inputs)), options_(std::move(options)) {}

Result<std::unique_ptr<Dataset>> TextDataset::open(std::vector<Input> inputs,
                                                   DatasetOptions options) {
  std::unique_ptr<TextDataset> dataset(new TextDataset(std::move(inputs), std::move(options)));
  if (dataset->format() != Format::kJsonl) {
    KIN_TRY(dataset->header_, read_csv_header(dataset->inputs_.front()));
    KIN_RETURN_IF_ERROR(check_headers(dataset->inputs_, dataset->header_));
  }
  return std::unique_ptr<Dataset>(std::move(dataset));
}

void TextDataset::restore(ScanMemory memory) {
  first_rows_ = std::move(memory.first_rows);
  rows_ = memory.rows;
  skipped_.restore(std::move(memory.skipped));
}

Result<std::unique_ptr<RecordReader>> TextDataset::record_reader(
    const std::vector<std::string>& columns, std::size_t optional_columns) const {
  if (format() == Format::kJsonl) return make_json_reader(columns, optional_columns);
  return make_csv_reader(header_, inputs_.front(), columns, optional_columns);
}

Result<std::vector<std::string>> TextDataset::columns() {
  if (format() != Format::kJsonl) return header_.names;
  constexpr std::size_t kEnoughRecords = 1000;
  constexpr std::size_t kEnoughBytes = 1 << 20;
  BlockReader blocks(inputs_, {.start = {},
                               .block_bytes = 256 << 10,
                               .pause = {},
                               .longest_record = options_.longest_record});
  Block block;
  std::vector<std::string> names;
  JsonRecordReader reader({});
  // The first file may be empty, or have only a few records.
  std::size_t records = 0;
  for (std::size_t bytes = 0; records < kEnoughRecords && bytes < kEnoughBytes;) {
    const auto any = blocks.next(block);
    // A record that is too long is refused by the scan, which gives more details.
    if (!any && any.error().code == Code::kResourceExhausted) break;
    if (!any) return any.error();
    if (!*any) break;
    for (std::size_t i = 0; i < block.records.size() && records < kEnoughRecords; ++i, ++records) {
      bytes += block.text(block.records[i]).size();
      for (std::string& key : reader.keys(block.text(block.records[i]))) {
        if (std::find(names.begin(), names.end(), key) == names.end())
          names.push_back(std::move(key));
      }
    }
  }
  blocks.release(block);
  return names;
}

Result<ScanEnd> TextDataset::scan(const ScanOptions& options, const Visitor& visitor) {
  BlockReader blocks(inputs_, {.start = options.start,
                               .block_bytes = kTextBlockBytes,
                               .pause = options.pause,
                               .large_bytes = large_to_scan(options_),
                               .longest_record = options_.longest_record});
  FirstFailure failure;
  std::mutex mutex;
  std::vector<bool> found(options.columns.size());
  KIN_RETURN_IF_ERROR(run_workers(std::max(options.threads, 1), [&](int worker) -> Status {
    KIN_TRY(auto reader, record_reader(options.columns, options.optional_columns));
    BlockScanner scanner(options, inputs_, std::move(reader), skipped_);
    Block block;
    while (!failure.any()) {
      const auto any = blocks.next(block);
      if (!any) failure.add(block.number, any.error());
      if (!any || !*any) break;
      const auto content = scanner.read(block);
      Status visited = content ? Status(Done{}) : Status(content.error());
      if (content && !(*content)->rows.empty()) visited = visitor(Batch(**content), worker);
      if (!visited) failure.add(block.number, visited.error());
    }
    blocks.release(block);
    const std::scoped_lock lock(mutex);
    scanner.add_found(found);
    return Done{};
  }));
  skipped_.settle();
  longest_record_ = std::max(longest_record_, blocks.longest_record());
  KIN_RETURN_IF_ERROR(check_unchanged(inputs_));  // first: it explains other failures
  KIN_RETURN_IF_ERROR(failure.status());
  const std::vector<std::uint64_t> first_rows = blocks.first_rows();
  for (std::size_t i = first_rows_.size(); i < first_rows.size(); ++i)
    first_rows_.push_back(first_rows[i]);
  const Position end = blocks.position();
  if (!blocks.finished()) return ScanEnd{end, false, std::move(found)};
  rows_ = end.row;
  if (end.row == 0 && !options.may_be_empty) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}{}: there are no records in it", inputs_.front().shown_as,
                             inputs_.size() > 1 ? " and the other inputs" : "")};
  }
  return ScanEnd{end, true, std::move(found)};
}

// JSONL is sampled throughout its files, CSV and compressed files at their beginnings: in the
// middle of a CSV file, the inside of a quoted value looks like a record.
std::vector<Position> TextDataset::sample_places(std::uint64_t total) const {
  std::vector<Position> places;
  std::uint64_t before = 0;
  for (std::uint32_t i = 0; i < inputs_.size(); ++i) {
    const std::uint64_t first =
        (before * kSamplePlaces + total - 1) / std::max<std::uint64_t>(total, 1);
    for (std::uint64_t k = first;
         k * total / kSamplePlaces < before + inputs_[i].bytes && k < kSamplePlaces; ++k) {
      const std::uint64_t offset =
          k * total / kSamplePlaces - std::min(before, k * total / kSamplePlaces);
      const bool anywhere = format() == Format::kJsonl && !inputs_[i].array &&
                            inputs_[i].type.compression == Compression::kNone;
      places.push_back({i, anywhere ? offset : 0, 0, 0});
    }
    before += inputs_[i].bytes;
  }
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

Result<Sample> TextDataset::sample(const SampleOptions& options) {
  Sample sample;
  sample.lengths.resize(options.columns.size());
  std::uint64_t total = 0;
  for (const Input& input : inputs_) total += input.bytes;
  std::vector<Position> places;
  std::size_t share = options.max_bytes;
  if (total <= options.max_bytes) {
    for (std::uint32_t i = 0; i < inputs_.size(); ++i) places.push_back({i, 0, 0, 0});
  } else {
    places = sample_places(total);
    share = std::max<std::size_t>(share / std::max<std::size_t>(places.size(), 1), 4096);
  }
  const ScanOptions scan{.columns = options.columns,
                         .on_error = options.on_error,
                         .only = nullptr,
                         .start = {},
                         .pause = {}};
  KIN_TRY(auto reader, record_reader(options.columns, options.optional_columns));
  SkipLog skipped;
  BlockScanner scanner(scan, inputs_, std::move(reader), skipped);
  for (Position place : places) {
    if (place.offset > 0) {
      KIN_TRY(place.offset, next_line(inputs_[place.file], place.offset));
    }
    place.row = sample.rows;
    BlockReader blocks(inputs_, {.start = place, .block_bytes = share, .pause = {}});
    Block block;
    KIN_TRY(const bool any, blocks.next(block));
    longest_record_ = std::max(longest_record_, blocks.longest_record());
    if (!any) continue;
    KIN_TRY(const BatchContent* content, scanner.read(block));
    if (options.visitor && !content->rows.empty())
      KIN_RETURN_IF_ERROR(options.visitor(Batch(*content), 0));
    sample.rows += block.records.size();
    sample.bytes += block.input_bytes;
    for (std::size_t i = 0; i < content->values.size(); ++i) {
      for (const std::string_view text : content->values[i]) {
        sample.lengths[i].push_back(static_cast<std::uint32_t>(text.size()));
      }
    }
  }
  const double bytes = static_cast<double>(std::max<std::uint64_t>(sample.bytes, 1));
  sample.exact = rows_.has_value();
  sample.total_rows = rows_.value_or(static_cast<std::uint64_t>(
      static_cast<double>(sample.rows) * static_cast<double>(total) / bytes));
  return sample;
}

Status TextDataset::check_output(const std::filesystem::path& output) const {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  Status names = Done{};
  if (type.format == Format::kParquet) names = check_parquet_names(header_.names, "column");
  if (type.format == Format::kJsonl) names = check_json_names(header_.names);
  if (names) return Done{};
  return with_context(inputs_.front().shown_as + ":1", names.error());
}

Result<WriteMemory> TextDataset::least_write_memory(const std::filesystem::path& output,
                                                    const WriteOptions&) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  if (type.format == Format::kParquet) return least_memory_to_parquet();
  return WriteMemory{.bytes = 0, .copies = kWrittenCopies};
}

bool TextDataset::writes_array(const std::filesystem::path& output) const {
  return has_json_extension(output) && std::all_of(inputs_.begin(), inputs_.end(),
                                                   [](const Input& input) { return input.array; });
}

RecordId TextDataset::first_written(const RecordSet& keep) const {
  for (std::size_t row = 0; row < keep.size(); ++row) {
    if (keep.contains(record_at(row)) && !skipped_.contains(record_at(row))) return record_at(row);
  }
  return kNoRecord;
}

// In the format of the inputs.
Result<WriteReport> TextDataset::write_as_is(const StagedOutput& staged, const FileType& type,
                                             const RecordSet& keep,
                                             const WriteOptions& options) const {
  TextWriteOptions how{.header = header_.line,
                       .compression = type.compression,
                       .level = options.format.level,
                       .threads = options.threads,
                       .beside = options.beside,
                       .written = options.written,
                       .large_bytes = large_to_write(options_)};
  const bool array = writes_array(staged.target());
  const RecordId first = array ? first_written(keep) : kNoRecord;
  if (array) {
    how.header = kArrayBegin;
    how.trailer = kArrayEnd;
  }
  std::string header;
  if (options.edits != nullptr && format() != Format::kJsonl) {
    header = edited_csv_header(*options.edits, header_.line, format());
    how.header = header;
  }
  if (array || options.edits != nullptr) {
    how.encoder = [&, array, first] {
      std::unique_ptr<RecordEncoder> edit;
      if (options.edits != nullptr) {
        edit = format() == Format::kJsonl
                   ? edit_json(*options.edits, EditParts::kAll)
                   : edit_csv(*options.edits, header_.names, format(), EditParts::kAll);
      }
      return chain(std::move(edit), array ? json_to_element(first) : nullptr);
    };
  }
  KIN_TRY(const TextWritten written, write_text(inputs_, keep, skipped_, staged.path(), how));
  return WriteReport{written.records, written.bytes, {}};
}

Result<WriteReport> TextDataset::write_to(const StagedOutput& staged, const FileType& type,
                                          const RecordSet& keep,
                                          const WriteOptions& options) const {
  if (options.edits != nullptr) KIN_RETURN_IF_ERROR(check_edits(*options.edits, header_.names));
  if (type.format == format()) return write_as_is(staged, type, keep, options);
  return convert_text(
      {inputs_, header_, keep, skipped_, staged.path(), staged.target(), type, options, options_});
}

Result<StagedOutput> TextDataset::write_skipped(const std::filesystem::path& output) const {
  StagedOutput staged(output, options_.temporary_folder);
  const std::vector<RecordId>& rows = skipped_.records().rows;
  RecordSet keep(rows.empty() ? 0 : row_number(rows.back()) + 1);
  for (const RecordId row : rows) keep.insert(row);
  const SkipLog none;
  KIN_RETURN_IF_ERROR(write_text(inputs_, keep, none, staged.path(),
                                 {.header = {}, .compression = compression_of(output)}));
  return staged;
}

Result<std::pair<StagedOutput, WriteReport>> TextDataset::write_staged(
    const RecordSet& keep, const std::filesystem::path& output, const WriteOptions& options) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  KIN_RETURN_IF_ERROR(check_output(output));
  StagedOutput staged(output, options_.temporary_folder);
  auto report = write_to(staged, type, keep, options);
  KIN_RETURN_IF_ERROR(check_unchanged(inputs_));  // first: it explains other failures
  if (!report) return explain_write_error(output, report.error());
  std::uint64_t wanted = keep.count();
  for (const RecordId row : skipped_.records().rows) wanted -= keep.contains(row) ? 1 : 0;
  if (report->records != wanted) {
    return Error{Code::kDataLoss,
                 fmt::format("{} records were to be written to {}, but {} were: an input changed "
                             "while it was read (run again)",
                             wanted, output.string(), report->records)};
  }
  return std::pair(std::move(staged), std::move(*report));
}

}  // namespace kin::data
