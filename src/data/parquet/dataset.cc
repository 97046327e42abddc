#include "data/parquet/dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/file.h"
#include "data/parquet/copy_parts.h"
#include "data/parquet/fault.h"
#include "data/parquet/worker_slots.h"
#include "data/parquet/writer.h"
#include "data/parquet_memory.h"

namespace kin::data {
namespace {

// Passes the rows of a DuckDB query to a visitor. Thread-safe.
class RowVisitor {
 public:
  RowVisitor(const Input& input, const ParquetFile& file, std::uint32_t file_number,
             const ScanOptions& options, const Visitor& visitor)
      : file_(file),
        options_(options),
        visitor_(visitor),
        slots_(std::max(options.threads, 1)),
        contents_(static_cast<std::size_t>(std::max(options.threads, 1))) {
    bytes_per_row_ = static_cast<double>(input.bytes) /
                     static_cast<double>(std::max<std::uint64_t>(file.rows, 1));
    for (BatchContent& content : contents_) {
      content.shown_as = input.shown_as;
      content.has_lines = false;
      content.file = file_number;
      content.values.resize(options.columns.size());
    }
  }

  Status visit(PassingRows& rows) {
    const int worker = slots_.take();
    BatchContent& content = contents_[static_cast<std::size_t>(worker)];
    Status status = fill(content, rows);
    if (status.ok() && !content.rows.empty()) status = visitor_(Batch(content), worker);
    slots_.give_back(worker);
    return status;
  }

 private:
  Status fill(BatchContent& content, PassingRows& rows) const {
    content.rows.clear();
    content.places.clear();
    content.bytes =
        static_cast<std::uint64_t>(bytes_per_row_ * static_cast<double>(rows.numbers.size()));
    std::swap(content.values, rows.values);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < rows.numbers.size(); ++i) {
      const auto place = static_cast<std::uint64_t>(rows.numbers[i]);
      if (place >= file_.rows) return wrong_row_number(file_.shown_as);
      const RecordId row = record_at(file_.first_row + place);
      if (options_.only != nullptr && !options_.only->contains(row)) continue;
      content.rows.push_back(row);
      content.places.push_back(place);
      for (auto& column : content.values) column[kept] = column[i];
      ++kept;
    }
    return Done{};
  }

  const ParquetFile& file_;
  const ScanOptions& options_;
  const Visitor& visitor_;
  WorkerSlots slots_;
  std::vector<BatchContent> contents_;
  double bytes_per_row_ = 0;
};

}  // namespace

ParquetDataset::ParquetDataset(std::vector<Input> inputs, DatasetOptions options)
    : inputs_(std::move(inputs)),
      options_(std::move(options)),
      duckdb_(options_.temporary_folder) {}

Result<std::unique_ptr<Dataset>> ParquetDataset::open(std::vector<Input> inputs,
                                                      DatasetOptions options) {
  std::unique_ptr<ParquetDataset> dataset(
      new ParquetDataset(std::move(inputs), std::move(options)));
  const DatasetOptions& given = dataset->options_;
  std::uint64_t rows = 0;
  for (const Input& input : dataset->inputs_) {
    KIN_TRY(ParquetFile file, read_parquet_footer(input, given.temporary_folder));
    file.first_row = rows;
    rows += file.rows;
    dataset->files_.push_back(std::move(file));
  }
  if (rows >= row_number(kNoRecord)) {
    return Error{Code::kInvalidArgument,
                 "the inputs have more than 4,294,967,294 records (split them)"};
  }
  return std::unique_ptr<Dataset>(std::move(dataset));
}

std::vector<std::uint64_t> ParquetDataset::first_rows() const {
  std::vector<std::uint64_t> rows;
  for (const ParquetFile& file : files_) rows.push_back(file.first_row);
  return rows;
}

Result<std::vector<std::string>> ParquetDataset::columns() {
  std::vector<std::string> names;
  for (const ParquetFile& file : files_) {
    for (const ParquetColumn& column : file.columns) {
      if (std::find(names.begin(), names.end(), column.name) == names.end())
        names.push_back(column.name);
    }
  }
  return names;
}

// Row groups without a wanted row are skipped. A scan that may be paused is divided into queries of
// a few row groups per thread.
ParquetDataset::RowRange ParquetDataset::next_range(std::size_t file, std::uint64_t begin,
                                                    const ScanOptions& options) const {
  constexpr std::size_t kGroupsPerThread = 4;
  const ParquetFile& about = files_[file];
  const std::size_t most =
      options.pause ? kGroupsPerThread * static_cast<std::size_t>(std::max(options.threads, 1))
                    : about.group_ends.size();
  const auto wanted = [&](std::uint64_t from, std::uint64_t to) {
    if (options.only == nullptr) return from < to;
    for (std::uint64_t row = from; row < to; ++row) {
      if (options.only->contains(record_at(about.first_row + row))) return true;
    }
    return false;
  };
  RowRange range{file, begin, begin};
  std::size_t groups = 0;
  for (const std::uint64_t end : about.group_ends) {
    if (end <= range.end) continue;
    const bool any = wanted(range.end, end);
    if (!any && groups == 0) range.begin = end;
    if (!any && groups > 0) return range;
    range.end = end;
    groups += any ? 1 : 0;
    if (groups == most) return range;
  }
  return range;
}

void ParquetDataset::skip_file(std::size_t file, const std::string& why) {
  for (std::uint64_t row = 0; row < files_[file].rows; ++row)
    skipped_.add(record_at(files_[file].first_row + row), why);
}

Result<std::vector<std::string>> ParquetDataset::expressions(std::size_t file,
                                                             const ScanOptions& options) {
  std::vector<std::string> found;
  KIN_TRY(DuckDbSession* const duckdb, duckdb_.get());
  KIN_RETURN_IF_ERROR(describe_parquet(*duckdb, files_[file]));
  for (std::size_t i = 0; i < options.columns.size(); ++i) {
    auto expression = text_expression(*duckdb, files_[file], inputs_[file], options.columns[i]);
    if (!expression && i + options.optional_columns >= options.columns.size()) {
      found.emplace_back("CAST(NULL AS VARCHAR)");
      continue;
    }
    KIN_TRY(found.emplace_back(), std::move(expression));
  }
  return found;
}

Result<ParquetDataset::Way> ParquetDataset::way_to_scan(std::size_t file,
                                                        const ScanOptions& options) {
  Way way;
  // The texts of a path through lists are joined by DuckDB.
  const bool lists = std::ranges::any_of(
      options.columns, [](const std::string& name) { return name.find("[]") != name.npos; });
  if (!lists)
    way.pages = scanned_columns(*files_[file].footer, options.columns, options.optional_columns);
  if (!way.pages) {
    KIN_TRY(way.expressions, expressions(file, options));
  }
  return way;
}

Status ParquetDataset::scan_range(const RowRange& rows, const Way& way, const ScanOptions& options,
                                  const Visitor& visitor) {
  return way.pages ? scan_by_pages(rows, way, options, visitor)
                   : scan_by_duckdb(rows, way, options, visitor);
}

void ParquetDataset::limit_memory(std::uint64_t bytes) {
  options_.memory_bytes = bytes;
  if (options_.kept_pages && options_.kept_pages->bytes() > bytes)
    options_.kept_pages->limit(bytes);
}

std::uint64_t ParquetDataset::bytes_to_keep(const ScanOptions& options) const {
  constexpr std::uint64_t kPlaces = 64;  // one byte in this many, for the bookkeeping of kept pages
  std::uint64_t total = 0;
  for (const ParquetFile& file : files_) {
    const auto columns = scanned_columns(*file.footer, options.columns, options.optional_columns);
    if (columns) total += kept_scan_bytes(*file.footer, *columns);
  }
  return total + total / kPlaces;
}

Result<int> ParquetDataset::threads_for_pages(std::size_t file, const Way& way,
                                              const ScanOptions& options) {
  const ParquetFile& about = files_[file];
  KIN_TRY(const PageScanMemory need, page_scan_memory(*about.data, *about.footer, *way.pages));
  const std::uint64_t memory = options_.memory_bytes;
  const auto wanted = static_cast<std::uint64_t>(std::max(options.threads, 1));
  if (options_.kept_pages && bytes_to_keep(options) + wanted * need.thread_beside_kept <= memory) {
    options_.kept_pages->limit(memory - wanted * need.thread_beside_kept);
    return static_cast<int>(wanted);
  }
  const std::uint64_t fitting =
      std::max<std::uint64_t>(memory / std::max<std::uint64_t>(need.thread, 1), 1);
  const std::uint64_t threads = std::min(wanted, fitting);
  if (options_.kept_pages)
    options_.kept_pages->limit(memory - std::min(memory, threads * need.thread));
  return static_cast<int>(threads);
}

Status ParquetDataset::scan_by_pages(const RowRange& rows, const Way& way,
                                     const ScanOptions& options, const Visitor& visitor) {
  const ParquetFile& file = files_[rows.file];
  KIN_TRY(const int threads, threads_for_pages(rows.file, way, options));
  return scan_pages({.file = *file.data,
                     .footer = *file.footer,
                     .shown_as = file.shown_as,
                     .file_number = static_cast<std::uint32_t>(rows.file),
                     .file_bytes = inputs_[rows.file].bytes,
                     .first_row = file.first_row,
                     .begin = rows.begin,
                     .end = rows.end,
                     .columns = *way.pages,
                     .names = options.columns,
                     .only = options.only,
                     .threads = threads,
                     .kept = options_.kept_pages.get(),
                     .on_bad_record = [&](RecordId record, Error why) -> Status {
                       if (options.on_error == OnError::kFail) return why;
                       skipped_.add(record, std::move(why.message));
                       return Done{};
                     }},
                    visitor);
}

Status ParquetDataset::scan_by_duckdb(const RowRange& rows, const Way& way,
                                      const ScanOptions& options, const Visitor& visitor) {
  const std::size_t file = rows.file;
  const ParquetFile& about = files_[file];
  if (options_.kept_pages) options_.kept_pages->limit(0);  // DuckDB takes all of the memory
  KIN_TRY(DuckDbSession* const duckdb, duckdb_.get());
  KIN_RETURN_IF_ERROR(
      duckdb->set_limits(share_memory({&about, 1}, options.threads, options_.memory_bytes)));
  std::vector<std::string> arguments{"file_row_number"};
  arguments.insert(arguments.end(), way.expressions.begin(), way.expressions.end());
  std::string sql = fmt::format("SELECT count(*) FROM {} WHERE kin_rows_{}({})", about.sql,
                                options.columns.size(), fmt::join(arguments, ", "));
  if (rows.begin > 0 || rows.end < about.rows) {
    // A range on file_row_number lets DuckDB skip whole row groups.
    sql = fmt::format(
        "SELECT count(*) FROM {} WHERE file_row_number >= {} AND file_row_number < {} AND "
        "kin_rows_{}({})",
        about.sql, rows.begin, rows.end, options.columns.size(), fmt::join(arguments, ", "));
  }
  RowVisitor visit(inputs_[file], about, static_cast<std::uint32_t>(file), options, visitor);
  std::mutex mutex;
  std::optional<Error> stopped;
  const auto count = duckdb->run_with_hook(sql, options.columns.size(), [&](PassingRows& passing) {
    Status status = visit.visit(passing);
    const std::scoped_lock lock(mutex);
    if (!status && !stopped) stopped = status.error();
    return status;
  });
  if (count) return Done{};
  if (stopped) return *stopped;
  return explain_scan_error(file, count.error());
}

Error ParquetDataset::explain_scan_error(std::size_t file, Error error) {
  const bool of_the_file = error.code != Code::kResourceExhausted && error.code != Code::kCancelled;
  const auto duckdb = duckdb_.get();
  const auto fault =
      of_the_file && duckdb ? find_fault(**duckdb, {&files_[file], 1}) : std::nullopt;
  return fault ? *fault : explain_parquet_error(inputs_[file].shown_as, std::move(error));
}

// Names are in the footer; DuckDB is only needed for paths.
bool ParquetDataset::has_column(std::size_t file, const std::string& column) {
  const auto is_it = [&](const ParquetColumn& own) { return own.name == column; };
  if (std::ranges::any_of(files_[file].columns, is_it)) return true;
  const auto duckdb = duckdb_.get();
  return duckdb.ok() && describe_parquet(**duckdb, files_[file]).ok() &&
         text_expression(**duckdb, files_[file], inputs_[file], column).ok();
}

Result<ScanEnd> ParquetDataset::scan(const ScanOptions& options, const Visitor& visitor) {
  auto end = scan_files(options, visitor);
  skipped_.settle();
  for (std::size_t i = 0; end && i < options.columns.size(); ++i) {
    bool found = false;
    for (std::size_t file = 0; file < files_.size() && !found; ++file)
      found = has_column(file, options.columns[i]);
    end->found.push_back(found);
  }
  return end;
}

Result<ScanEnd> ParquetDataset::scan_files(const ScanOptions& options, const Visitor& visitor) {
  if (*rows() == 0 && !options.may_be_empty) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{}{}: there are no records in it", inputs_.front().shown_as,
                             inputs_.size() > 1 ? " and the other inputs" : "")};
  }
  Position at = options.start;
  for (; at.file < files_.size(); ++at.file) {
    const ParquetFile& file = files_[at.file];
    at.row = std::max(at.row, file.first_row);
    KIN_TRY(const bool finished, scan_file(at, options, visitor));
    if (!finished) return ScanEnd{at, false};
  }
  return ScanEnd{at, true};
}

Result<bool> ParquetDataset::scan_file(Position& at, const ScanOptions& options,
                                       const Visitor& visitor) {
  const ParquetFile& file = files_[at.file];
  const std::uint64_t end = file.first_row + file.rows;
  std::optional<Way> way;
  while (at.row < end) {
    if (options.pause && options.pause()) return false;
    const RowRange range = next_range(at.file, at.row - file.first_row, options);
    at.row = file.first_row + range.end;
    if (range.begin == range.end) continue;
    if (!way) {
      auto found = way_to_scan(at.file, options);
      if (!found && options.on_error == OnError::kFail) return found.error();
      if (!found) {
        skip_file(at.file, found.error().message);
        at.row = end;
        return true;
      }
      way = std::move(*found);
    }
    KIN_RETURN_IF_ERROR(scan_range(range, *way, options, visitor));
  }
  return true;
}

Result<Sample> ParquetDataset::sample(const SampleOptions& options) {
  Sample sample;
  sample.total_rows = *rows();
  sample.exact = true;
  sample.lengths.resize(options.columns.size());
  std::uint64_t unpacked = 0;
  for (const ParquetFile& file : files_) unpacked += file.unpacked_bytes;
  const std::uint64_t row_bytes =
      std::max<std::uint64_t>(unpacked / std::max<std::uint64_t>(sample.total_rows, 1), 1);
  const std::uint64_t most = std::max<std::uint64_t>(options.max_bytes / row_bytes, 1);
  constexpr std::size_t kFiles = 8;
  const std::size_t step = std::max<std::size_t>(files_.size() / kFiles, 1);
  ScanOptions scan{.columns = options.columns,
                   .optional_columns = options.optional_columns,
                   .on_error = options.on_error,
                   .only = nullptr,
                   .start = {},
                   .pause = {}};
  const std::uint64_t share =
      std::max<std::uint64_t>(most / ((files_.size() + step - 1) / step), 1);
  for (std::size_t i = 0; i < files_.size(); i += step) {
    const auto way = way_to_scan(i, scan);
    if (!way && options.on_error == OnError::kFail) return way.error();
    if (!way) continue;
    const RowRange range{i, 0, std::min(share, files_[i].rows)};
    KIN_RETURN_IF_ERROR(
        scan_range(range, *way, scan, [&](const Batch& batch, int worker) -> Status {
          sample.rows += batch.size();
          sample.bytes += batch.bytes();
          for (std::size_t column = 0; column < options.columns.size(); ++column) {
            for (std::size_t row = 0; row < batch.size(); ++row) {
              sample.lengths[column].push_back(static_cast<std::uint32_t>(
                  batch.value(column, row).value_or(std::string_view()).size()));
            }
          }
          return options.visitor ? options.visitor(batch, worker) : Status(Done{});
        }));
  }
  return sample;
}

Result<std::vector<std::string>> ParquetDataset::foreseen_losses(
    const std::filesystem::path& output, const WriteOptions& options) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  return parquet_losses(duckdb_, files_, type, options);
}

Result<std::uint64_t> ParquetDataset::least_scan_memory(const std::vector<std::string>& columns) {
  std::uint64_t most = 0;
  for (const ParquetFile& file : files_) {
    const auto pages = scanned_columns(*file.footer, columns, columns.size());
    if (pages) {
      KIN_TRY(const PageScanMemory need, page_scan_memory(*file.data, *file.footer, *pages));
      most = std::max(most, need.thread);
    } else {
      most = std::max(most,
                      kDuckDbBytes + duckdb_thread_need(file.thread_bytes) + kDuckDbLeastHeldBack);
    }
  }
  return most;
}

Result<WriteMemory> ParquetDataset::least_write_memory(const std::filesystem::path& output,
                                                       const WriteOptions&) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  KIN_TRY(const std::uint64_t bytes, least_parquet_memory(files_, type));
  return WriteMemory{.bytes = bytes};
}

// Writing reads columns that no scan has read.
Error ParquetDataset::explain_output_error(const std::filesystem::path& output, Error error) {
  error = explain_write_error(output, std::move(error));
  const bool of_the_files = error.code == Code::kInvalidArgument || error.code == Code::kInternal ||
                            error.code == Code::kUnavailable;
  const auto duckdb = duckdb_.get();
  const auto fault = of_the_files && duckdb ? find_fault(**duckdb, files_) : std::nullopt;
  return fault ? *fault : error;
}

// The system's errors about the output name the file that is written to.
Error ParquetDataset::explain_page_error(const std::filesystem::path& output, Error error) {
  const std::string temporary = temporary_name(output).string();
  const std::size_t at = error.message.find(temporary);
  if (at != std::string::npos) error.message.replace(at, temporary.size(), output.string());
  return error;
}

Result<std::pair<StagedOutput, WriteReport>> ParquetDataset::write_staged(
    const RecordSet& keep, const std::filesystem::path& output, const WriteOptions& options) {
  KIN_TRY(const FileType type, output_type(output, inputs_));
  StagedOutput staged(output, options_.temporary_folder);
  const bool by_pages = type.format == Format::kParquet && have_one_schema(files_);
  if (!by_pages && options_.kept_pages) options_.kept_pages->limit(0);
  auto report = write_parquet_rows(
      duckdb_, files_, {keep, skipped_, staged.path(), output, type, options, options_});
  if (!report && by_pages) return explain_page_error(output, report.error());
  if (!report) return explain_output_error(output, report.error());
  return std::pair(std::move(staged), std::move(*report));
}

}  // namespace kin::data
