#include "dedup/sample.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/locked_folder.h"
#include "base/random.h"
#include "base/workers.h"
#include "dedup/output/audit.h"
#include "dedup/output/json_lines.h"
#include "dedup/output/removed_log.h"
#include "dedup/record_text.h"
#include "dedup/scan/columns.h"
#include "dedup/scan/scan.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

struct Record {
  std::string text;
  std::optional<std::string> order;  // the value of --keep's column
  SampleReport::Place place;
};

struct Drawn {
  std::vector<Record> records;
  std::uint64_t total = 0;
  bool exact = false;
};

Status check_sampled(const DedupOptions& options) {
  const char* flag = !options.against.empty() ? "--against"
                     : options.append         ? "--append"
                     : options.skip_seen      ? "--skip-seen"
                     : options.cut            ? "--by lines, paragraphs or substring"
                                              : nullptr;
  if (flag == nullptr) return Done{};
  return Error{
      Code::kInvalidArgument,
      fmt::format("--sample compares records of the inputs with each other, so it cannot be "
                  "combined with {} (use --dry-run)",
                  flag)};
}

// Draws records from a dataset. One thread only.
class Drawer {
 public:
  Drawer(data::Dataset& dataset, const DedupOptions& options, const SampleOptions& how)
      : dataset_(dataset), options_(options), how_(how) {
    columns_ = columns_read(options);
    if (options.id_column) columns_.push_back(*options.id_column);
  }

  Result<Drawn> draw() {
    const auto rows = dataset_.rows();
    if (rows) {
      drawn_.total = *rows;
      drawn_.exact = true;
      KIN_RETURN_IF_ERROR(draw_rows(*rows));
    } else {
      KIN_RETURN_IF_ERROR(draw_pieces());
    }
    return std::move(drawn_);
  }

 private:
  // One row from each of as many equal parts as there are records to draw.
  Status draw_rows(std::uint64_t rows) {
    Random random(how_.seed);
    const std::uint64_t count = std::min(how_.records, rows);
    RecordSet only(rows);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t begin = rows * i / count;
      const std::uint64_t end = rows * (i + 1) / count;
      only.insert(record_id(begin + random.below(end - begin)));
    }
    data::ScanOptions scan;
    scan.columns = columns_;
    scan.optional_columns = columns_.size();
    scan.on_error = options_.on_error;
    scan.only = &only;
    std::vector<std::pair<RecordId, Record>> found;
    KIN_TRY(const data::ScanEnd end,
            dataset_.scan(scan, [&](const data::Batch& batch, int) -> Status {
              for (std::size_t i = 0; i < batch.size(); ++i)
                found.emplace_back(batch.row(i), record_of(batch, i));
              return Done{};
            }));
    KIN_RETURN_IF_ERROR(check_found(dataset_, options_, found_read(end.found)));
    std::sort(found.begin(), found.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [row, record] : found) drawn_.records.push_back(std::move(record));
    return Done{};
  }

  // The columns that columns_read() names, which come first.
  std::vector<bool> found_read(std::vector<bool> found) const {
    found.resize(std::min(found.size(), columns_read(options_).size()));
    return found;
  }

  Status draw_pieces() {
    constexpr std::uint64_t kFirst = 1 << 20;
    data::SampleOptions sample;
    sample.columns = columns_;
    sample.optional_columns = columns_.size();
    sample.on_error = options_.on_error;
    sample.max_bytes = kFirst;
    KIN_TRY(const data::Sample few, dataset_.sample(sample));
    const double mean =
        static_cast<double>(few.bytes) / static_cast<double>(std::max<std::uint64_t>(few.rows, 1));
    // A third more, so that there is a choice. They may use half of the memory.
    const double wanted = mean * static_cast<double>(how_.records) * 4 / 3;
    const double most = static_cast<double>(options_.max_memory) / 2;
    sample.max_bytes = std::max(kFirst, static_cast<std::uint64_t>(std::min(wanted, most)));
    std::vector<Record> all;
    sample.visitor = [&](const data::Batch& batch, int) -> Status {
      for (std::size_t i = 0; i < batch.size(); ++i) all.push_back(record_of(batch, i));
      return Done{};
    };
    KIN_TRY(const data::Sample many, dataset_.sample(sample));
    std::uint64_t bytes = 0;
    for (const data::Input& input : dataset_.inputs()) bytes += input.bytes;
    drawn_.exact = many.exact || many.bytes >= bytes;
    drawn_.total = drawn_.exact ? std::max<std::uint64_t>(many.rows, all.size()) : many.total_rows;
    if (many.exact) drawn_.total = many.total_rows;
    // Each record with the probability that gives the wanted number, in their order.
    Random random(how_.seed);
    std::uint64_t missing = std::min<std::uint64_t>(how_.records, all.size());
    for (std::size_t i = 0; i < all.size() && missing > 0; ++i) {
      if (random.below(all.size() - i) >= missing) continue;
      drawn_.records.push_back(std::move(all[i]));
      --missing;
    }
    return Done{};
  }

  Record record_of(const data::Batch& batch, std::size_t i) {
    Record record;
    const std::size_t fields = options_.fields.size();
    record.text = text_of(batch, i, fields, scratch_).value_or(std::string_view());
    std::size_t column = fields;
    if (options_.keep.needs_column()) {
      if (const auto value = batch.value(column++, i)) record.order = std::string(*value);
    }
    record.place.file = dataset_.inputs()[batch.file()].shown_as;
    if (options_.id_column) {
      if (const auto id = batch.value(column, i)) record.place.id = std::string(*id);
    }
    return record;
  }

  data::Dataset& dataset_;
  const DedupOptions& options_;
  const SampleOptions& how_;
  std::vector<std::string> columns_;
  std::string scratch_;
  Drawn drawn_;
};

// The run over the drawn records, which have one field.
DedupJob job_on(const fs::path& folder, const DedupOptions& options) {
  DedupJob job;
  job.inputs = {(folder / "sample.jsonl").string()};
  job.output = folder / "clean.jsonl";
  job.options = options;
  job.options.fields = {"text"};
  job.options.id_column.reset();
  job.options.source_column.reset();
  job.options.temporary_folder.reset();
  job.options.signature_store.reset();
  job.options.tag.reset();
  job.options.dry_run = false;
  job.options.resume = false;
  job.audit = Audit::kIds;
  return job;
}

Status write_records(const std::vector<Record>& records, const KeepPolicy& keep,
                     const fs::path& path) {
  return write_json_lines(path, records.size(), [&](std::size_t i, JsonWriter& json) {
    json.field("text", records[i].text);
    if (!keep.needs_column()) return;
    json.key(keep.column);
    records[i].order ? json.value(*records[i].order) : json.null();
  });
}

// At most `most` rows of removed records, the least alike to the kept record first.
std::vector<std::size_t> choose_examples(const std::vector<Fate>& fates, std::size_t most) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < fates.size(); ++row) {
    if (fates[row].kept) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) {
    return fates[a].similarity < fates[b].similarity;
  });
  if (rows.size() <= most) return rows;
  // Pairs below 1 are more instructive than identical ones: they get at least half of the examples.
  const auto alike = std::partition_point(
      rows.begin(), rows.end(), [&](std::size_t row) { return fates[row].similarity < 1; });
  const auto near = static_cast<std::size_t>(alike - rows.begin());
  const std::size_t same = rows.size() - near;
  const std::size_t of_same = std::min(same, std::max(most / 4, most - std::min(most, near)));
  std::vector<std::size_t> chosen;
  const auto spread = [&](std::size_t begin, std::size_t count, std::size_t wanted) {
    for (std::size_t i = 0; i < wanted; ++i) chosen.push_back(rows[begin + i * count / wanted]);
  };
  spread(0, near, most - of_same);
  spread(near, same, of_same);
  return chosen;
}

}  // namespace

Result<SampleReport> run_sample(const DedupJob& job, const SampleOptions& how, Progress& progress,
                                Clock& clock) {
  DedupOptions options = job.options;
  if (options.threads <= 0) options.threads = available_cores();
  KIN_RETURN_IF_ERROR(validate(options));
  KIN_RETURN_IF_ERROR(check_sampled(options));
  progress.stage = "sample";
  KIN_TRY(const LockedFolder folder, LockedFolder::create(options.temporary_folder));
  KIN_TRY(std::vector<data::Input> files,
          data::find_inputs(job.inputs, folder.path(), nullptr, options.remote));
  data::DatasetOptions dataset_options;
  dataset_options.memory_bytes = options.max_memory / 4;
  dataset_options.temporary_folder = folder.path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(files), dataset_options));
  KIN_RETURN_IF_ERROR(settle_columns(*dataset, options));
  KIN_TRY(const Drawn drawn, Drawer(*dataset, options, how).draw());
  if (drawn.records.empty())
    return Error{Code::kInvalidArgument, "there are no records in the inputs"};

  const DedupJob small = job_on(folder.path(), options);
  KIN_RETURN_IF_ERROR(write_records(drawn.records, options.keep, small.inputs.front()));
  KIN_TRY(const DedupReport done, run_dedup(small, progress, clock));
  KIN_TRY(const std::vector<Fate> fates,
          read_fates(removed_path(small.output), drawn.records.size(), folder.path()));
  SampleReport report;
  report.sampled = drawn.records.size();
  report.total = drawn.total;
  report.total_exact = drawn.exact;
  report.seed = how.seed;
  report.removed = done.removed;
  report.removed_by = done.removed_by;
  report.options = options;
  for (const std::size_t row : choose_examples(fates, how.examples)) {
    const Record& removed = drawn.records[row];
    const Record& kept = drawn.records[*fates[row].kept];
    report.examples.push_back(
        {.kept = kept.place,
         .removed = removed.place,
         .method = fates[row].method,
         .similarity = fates[row].similarity,
         .passages = compare_words(kept.text, removed.text, options.shingles.normalization)});
  }
  return report;
}

}  // namespace kin::dedup
