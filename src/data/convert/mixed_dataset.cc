#include "data/convert/mixed_dataset.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/workers.h"
#include "data/convert/text_convert.h"
#include "data/convert/text_dataset.h"
#include "data/text/record_reader.h"
#include "data/text/writer.h"

namespace kin::data {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMessages = 100;

// Passes the batches of a part to a visitor of the whole.
class ShiftedVisitor {
 public:
  ShiftedVisitor(const Visitor& visitor, std::uint64_t first_row, std::uint32_t first_file,
                 int threads)
      : visitor_(visitor),
        first_row_(first_row),
        first_file_(first_file),
        contents_(static_cast<std::size_t>(std::max(threads, 1))) {}

  Status visit(const Batch& batch, int worker) {
    BatchContent& content = contents_[static_cast<std::size_t>(worker)];
    content = batch.content();
    for (RecordId& row : content.rows) row = record_at(first_row_ + row_number(row));
    content.file += first_file_;
    return visitor_(Batch(content), worker);
  }

 private:
  const Visitor& visitor_;
  std::uint64_t first_row_;
  std::uint32_t first_file_;
  std::vector<BatchContent> contents_;
};

Status append_file(const fs::path& from, File& to, std::uint64_t& end) {
  KIN_TRY(File file, File::open_to_read(from));
  std::string buffer(1 << 20, '\0');
  for (;;) {
    KIN_TRY(const std::size_t got, file.read(buffer.data(), buffer.size()));
    if (got == 0) return Done{};
    KIN_RETURN_IF_ERROR(to.write({buffer.data(), got}));
    end += got;
  }
}

std::string extension_of(Compression compression) {
  switch (compression) {
    case Compression::kNone: return "";
    case Compression::kGzip: return ".gz";
    case Compression::kZstd: return ".zst";
    case Compression::kBzip2: return ".bz2";
    case Compression::kXz: return ".xz";
  }
  KIN_UNREACHABLE();
}

void add_notes(std::vector<std::string>& notes, const std::vector<std::string>& more) {
  for (const std::string& note : more) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

}  // namespace

Result<std::vector<std::vector<Input>>> parts_alike(std::vector<Input> inputs) {
  std::vector<std::vector<Input>> parts;
  std::vector<std::string> header;
  const bool one = inputs.size() == 1;
  for (Input& input : inputs) {
    const Format format = input.type.format;
    const bool has_header = format == Format::kCsv || format == Format::kTsv;
    bool alike = !parts.empty() && parts.back().front().type.format == format;
    if (has_header && !one) {
      KIN_TRY(CsvHeader mine, read_csv_header(input));
      alike = alike && mine.names == header;
      header = std::move(mine.names);
    }
    if (!alike) parts.emplace_back();
    parts.back().push_back(std::move(input));
  }
  return parts;
}

Result<std::unique_ptr<Dataset>> MixedDataset::open(std::vector<std::vector<Input>> parts,
                                                    const DatasetOptions& options) {
  auto dataset = std::make_unique<MixedDataset>();
  dataset->options_ = options;
  // The parts use the memory one after another, and share no pages.
  dataset->options_.kept_pages = nullptr;
  for (std::vector<Input>& inputs : parts) {
    Part part{nullptr, static_cast<std::uint32_t>(dataset->inputs_.size()),
              static_cast<std::uint32_t>(inputs.size())};
    dataset->inputs_.insert(dataset->inputs_.end(), inputs.begin(), inputs.end());
    KIN_TRY(part.dataset, Dataset::open(std::move(inputs), dataset->options_));
    dataset->parts_.push_back(std::move(part));
  }
  return std::unique_ptr<Dataset>(std::move(dataset));
}

void MixedDataset::limit_memory(std::uint64_t bytes) {
  options_.memory_bytes = bytes;
  for (Part& part : parts_) part.dataset->limit_memory(bytes);
}

Result<std::vector<std::string>> MixedDataset::columns() {
  std::vector<std::string> names;
  for (Part& part : parts_) {
    KIN_TRY(const std::vector<std::string> columns, part.dataset->columns());
    add_notes(names, columns);
  }
  return names;
}

std::optional<std::uint64_t> MixedDataset::first_row(std::size_t part) const {
  std::uint64_t first = 0;
  for (std::size_t i = 0; i < part; ++i) {
    const auto rows = parts_[i].dataset->rows();
    if (!rows) return {};
    first += *rows;
  }
  return first;
}

std::vector<std::uint64_t> MixedDataset::first_rows() const {
  std::vector<std::uint64_t> rows;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto first = first_row(i);
    if (!first) break;
    for (const std::uint64_t row : parts_[i].dataset->first_rows()) rows.push_back(*first + row);
  }
  return rows;
}

std::uint64_t MixedDataset::longest_record() const {
  std::uint64_t longest = 0;
  for (const Part& part : parts_) longest = std::max(longest, part.dataset->longest_record());
  return longest;
}

Result<ScanEnd> MixedDataset::scan_part(std::size_t number, const ScanOptions& options,
                                        const Visitor& visitor) {
  Part& part = parts_[number];
  const std::uint64_t first = first_row(number).value_or(0);
  if (part.dataset->rows() == 0U) return ScanEnd{{part.files, 0, 0, 0}, true, {}};
  ScanOptions own = options;
  own.may_be_empty = true;
  own.start.file -= part.first_file;
  own.start.row -= first;
  RecordSet only;
  if (options.only != nullptr) {
    const std::uint64_t size = options.only->size();
    only = slice(*options.only, first, part.dataset->rows().value_or(size - std::min(size, first)));
    own.only = &only;
  }
  ShiftedVisitor shifted(visitor, first, part.first_file, options.threads);
  return part.dataset->scan(
      own, [&](const Batch& batch, int worker) { return shifted.visit(batch, worker); });
}

Result<ScanEnd> MixedDataset::scan(const ScanOptions& options, const Visitor& visitor) {
  ScanOptions rest = options;
  std::vector<bool> found(options.columns.size());
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (rest.start.file >= part.first_file + part.files) continue;
    const std::uint64_t first = first_row(i).value_or(0);
    if (rest.start.file <= part.first_file && rest.start.offset == 0)
      rest.start = {part.first_file, 0, 0, std::max(rest.start.row, first)};
    auto end = scan_part(i, rest, visitor);
    merge_skipped();
    if (!end) return end.error();
    for (std::size_t c = 0; c < end->found.size(); ++c) found[c] = found[c] || end->found[c];
    Position at = end->position;
    at.file += part.first_file;
    at.row += first;
    if (!end->finished) return ScanEnd{at, false, std::move(found)};
    rest.start = {part.first_file + part.files, 0, 0, first_row(i + 1).value_or(at.row)};
  }
  if (rest.start.row == 0 && !options.may_be_empty)
    return Error{Code::kInvalidArgument, "there are no records in the inputs"};
  return ScanEnd{rest.start, true, std::move(found)};
}

void MixedDataset::merge_skipped() {
  skipped_ = {};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto first = first_row(i);
    if (!first) break;
    const SkippedRecords& own = parts_[i].dataset->skipped();
    skipped_.count += own.count;
    for (const RecordId row : own.rows)
      skipped_.rows.push_back(record_at(*first + row_number(row)));
    for (const auto& [row, message] : own.messages) {
      if (skipped_.messages.size() < kMessages)
        skipped_.messages.emplace_back(record_at(*first + row_number(row)), message);
    }
  }
}

void MixedDataset::restore(ScanMemory memory) {
  for (const Part& part : parts_) {
    if (part.first_file >= memory.first_rows.size()) break;
    const std::uint64_t first = memory.first_rows[part.first_file];
    const std::size_t behind = part.first_file + part.files;
    std::optional<std::uint64_t> end = memory.rows;
    if (behind < memory.first_rows.size()) end = memory.first_rows[behind];
    ScanMemory own;
    for (std::size_t i = part.first_file; i < std::min(behind, memory.first_rows.size()); ++i)
      own.first_rows.push_back(memory.first_rows[i] - first);
    if (end) own.rows = *end - first;
    const auto is_mine = [&](RecordId row) {
      return row_number(row) >= first && (!end || row_number(row) < *end);
    };
    for (const RecordId row : memory.skipped.rows) {
      if (is_mine(row)) own.skipped.rows.push_back(record_at(row_number(row) - first));
    }
    for (const auto& [row, message] : memory.skipped.messages) {
      if (is_mine(row))
        own.skipped.messages.emplace_back(record_at(row_number(row) - first), message);
    }
    own.skipped.count = own.skipped.rows.size();
    part.dataset->restore(std::move(own));
  }
  merge_skipped();
}

Result<Sample> MixedDataset::sample(const SampleOptions& options) {
  Sample sample;
  sample.lengths.resize(options.columns.size());
  sample.exact = true;
  std::uint64_t total = 0;
  for (const Input& input : inputs_) total += input.bytes;
  for (Part& part : parts_) {
    std::uint64_t bytes = 0;
    for (const Input& input : part.dataset->inputs()) bytes += input.bytes;
    if (bytes == 0 || part.dataset->rows() == 0U) continue;
    SampleOptions own = options;
    const double share = static_cast<double>(bytes) / static_cast<double>(total);
    own.max_bytes = static_cast<std::uint64_t>(static_cast<double>(options.max_bytes) * share) + 1;
    ShiftedVisitor shifted(options.visitor, sample.rows, part.first_file, 1);
    if (options.visitor)
      own.visitor = [&](const Batch& batch, int worker) { return shifted.visit(batch, worker); };
    KIN_TRY(const Sample mine, part.dataset->sample(own));
    sample.rows += mine.rows;
    sample.bytes += mine.bytes;
    sample.total_rows += mine.total_rows;
    sample.exact = sample.exact && mine.exact;
    for (std::size_t i = 0; i < mine.lengths.size(); ++i) {
      sample.lengths[i].insert(sample.lengths[i].end(), mine.lengths[i].begin(),
                               mine.lengths[i].end());
    }
  }
  return sample;
}

Status MixedDataset::check_output(const fs::path& output) const {
  for (const Part& part : parts_) KIN_RETURN_IF_ERROR(part.dataset->check_output(output));
  return Done{};
}

Result<std::vector<std::string>> MixedDataset::foreseen_losses(const fs::path& output,
                                                               const WriteOptions& options) {
  std::vector<std::string> losses;
  for (const Part& part : parts_) {
    KIN_TRY(const std::vector<std::string> mine, part.dataset->foreseen_losses(output, options));
    add_notes(losses, mine);
  }
  return losses;
}

// One part is read at a time.
Result<std::uint64_t> MixedDataset::least_scan_memory(const std::vector<std::string>& columns) {
  std::uint64_t least = 0;
  for (const Part& part : parts_) {
    KIN_TRY(const std::uint64_t mine, part.dataset->least_scan_memory(columns));
    least = std::max(least, mine);
  }
  return least;
}

// The parts are written as JSONL, which is then converted to the output format.
Result<WriteMemory> MixedDataset::least_write_memory(const fs::path& output,
                                                     const WriteOptions& options) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  WriteMemory least{.bytes = 0, .copies = kWrittenCopies};
  if (type.format == Format::kParquet) least = least_memory_to_parquet();
  for (const Part& part : parts_) {
    KIN_TRY(const WriteMemory mine, part.dataset->least_write_memory("records.jsonl", options));
    least.bytes = std::max(least.bytes, mine.bytes);
    least.copies = std::max(least.copies, mine.copies);
  }
  return least;
}

// Writes every part as JSONL, one after another. Concatenated compressed pieces are a valid file. A
// part without records has no piece, unless it is the only one: a file without records is an empty
// stream of its format.
Result<WriteReport> MixedDataset::write_json(const RecordSet& keep, const fs::path& path,
                                             Compression compression, const WriteOptions& options) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(options_.temporary_folder));
  const fs::path piece = folder.path() / ("piece.jsonl" + extension_of(compression));
  KIN_TRY(File to, File::create(path));
  WriteReport report;
  bool worked_beside = !options.beside;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::uint64_t first = first_row(i).value_or(0);
    const std::uint64_t behind = first_row(i + 1).value_or(keep.size());
    const bool last = i + 1 == parts_.size();
    const RecordSet mine = slice(keep, first, behind - first);
    if (mine.count() == 0 && !(last && report.bytes == 0)) continue;
    WriteOptions own = options;
    if (!last) own.beside = nullptr;
    worked_beside = worked_beside || last;
    std::optional<ShiftedEdits> edits;
    if (options.edits != nullptr) own.edits = &edits.emplace(*options.edits, first);
    KIN_TRY(const auto staged, parts_[i].dataset->write_staged(mine, piece, own));
    KIN_RETURN_IF_ERROR(append_file(staged.first.path(), to, report.bytes));
    report.records += staged.second.records;
    add_notes(report.notes, staged.second.notes);
  }
  if (!worked_beside) {
    KIN_RETURN_IF_ERROR(
        run_workers(std::max(options.threads, 1), [&](int) { return options.beside(); }));
  }
  KIN_RETURN_IF_ERROR(to.close());
  return report;
}

Result<std::pair<StagedOutput, WriteReport>> MixedDataset::write_staged(
    const RecordSet& keep, const fs::path& output, const WriteOptions& options) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  if (type.format == Format::kJsonl) {
    StagedOutput staged(output, options_.temporary_folder);
    KIN_TRY(WriteReport report, write_json(keep, staged.path(), type.compression, options));
    return std::pair(std::move(staged), std::move(report));
  }
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(options_.temporary_folder));
  Input spool{.path = folder.path() / "records.jsonl", .shown_as = "the records as JSON"};
  WriteOptions first = options;
  first.beside = nullptr;
  first.written = nullptr;
  KIN_TRY(const WriteReport json, write_json(keep, spool.path, Compression::kNone, first));
  spool.bytes = json.bytes;
  KIN_TRY(const auto dataset, TextDataset::open({spool}, options_));
  WriteOptions second = options;
  second.edits = nullptr;
  KIN_TRY(auto written, dataset->write_staged(RecordSet(json.records, true), output, second));
  std::vector<std::string> notes = json.notes;
  notes.push_back(
      fmt::format("the inputs have different formats or columns: all records were "
                  "written to {} as JSON",
                  format_name(type.format)));
  add_notes(notes, written.second.notes);
  written.second.notes = std::move(notes);
  return written;
}

Result<StagedOutput> MixedDataset::write_skipped(const fs::path& output) const {
  StagedOutput staged(output, options_.temporary_folder);
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(options_.temporary_folder));
  const fs::path piece = folder.path() / ("piece" + extension_of(compression_of(output)));
  KIN_TRY(File to, File::create(staged.path()));
  std::uint64_t bytes = 0;
  for (const Part& part : parts_) {
    if (part.dataset->skipped().count == 0) continue;
    KIN_TRY(const StagedOutput own, part.dataset->write_skipped(piece));
    KIN_RETURN_IF_ERROR(append_file(own.path(), to, bytes));
  }
  KIN_RETURN_IF_ERROR(to.close());
  return staged;
}

}  // namespace kin::data
