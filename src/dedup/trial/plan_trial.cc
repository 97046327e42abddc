#include "dedup/trial/plan_trial.h"

#include <malloc.h>

#include <algorithm>
#include <thread>

#include "base/file.h"
#include "base/memory.h"
#include "dedup/output/audit.h"
#include "dedup/output/json_lines.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

// Files of `folder` that this process has open and that have no name any more.
std::uint64_t nameless_bytes(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code ignored;  // files come and go while they are counted
  for (auto at = fs::directory_iterator("/proc/self/fd", ignored); at != fs::directory_iterator();
       at.increment(ignored)) {
    if (ignored) break;
    const std::string target = fs::read_symlink(at->path(), ignored).string();
    if (ignored || !target.starts_with(folder.string()) || !target.ends_with(" (deleted)"))
      continue;
    const std::uint64_t size = fs::file_size(at->path(), ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = nameless_bytes(fs::absolute(folder));
  std::error_code ignored;  // files come and go while they are counted
  for (auto at = fs::recursive_directory_iterator(folder, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (ignored) break;
    const std::uint64_t size = at->is_regular_file(ignored) ? at->file_size(ignored) : 0;
    if (!ignored) bytes += size;
  }
  return bytes;
}

// Samples the memory of the process and the size of a folder while it lives.
class Watch {
 public:
  Watch(const Progress& progress, const fs::path& folder, Clock& clock, Trial& trial)
      : thread_([this, &progress, &clock, &trial, folder](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            look(progress, folder, trial);
            clock.sleep_for(std::chrono::milliseconds(3));
          }
        }) {}

 private:
  void look(const Progress& progress, const fs::path& folder, Trial& trial) const {
    const std::uint64_t resident = resident_bytes();
    std::uint64_t& most = trial.memory[progress.stage.load()];
    most = std::max(most, resident > before_ ? resident - before_ : 0);
    trial.disk_bytes = std::max(trial.disk_bytes, bytes_in(folder));
  }

  const std::uint64_t before_ = resident_bytes();
  std::jthread thread_;
};

Status write_records(const TrialInput& input, const fs::path& path) {
  const std::string filler(input.filler, 'x');
  return write_json_lines(path, input.records.size(), [&](std::size_t row, JsonWriter& json) {
    const TrialRecord& record = input.records[row];
    for (std::size_t i = 0; i < input.columns.size(); ++i) {
      json.key(input.columns[i]);
      record[i] ? json.value(*record[i]) : json.null();
    }
    if (!filler.empty()) json.field("filler", filler);
  });
}

// Turns a JSONL file into one of another type.
Status convert(const fs::path& from, const fs::path& to, std::size_t records, int threads) {
  KIN_TRY(std::vector<data::Input> inputs,
          data::find_inputs(std::vector<std::string>{from.string()}, from.parent_path()));
  data::DatasetOptions options;
  options.threads = threads;
  options.temporary_folder = from.parent_path();
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(inputs), options));
  KIN_RETURN_IF_ERROR(dataset->write(RecordSet(records, true), to, threads));
  return Done{};
}

Result<fs::path> make_input(const TrialInput& input, data::FileType type, int threads,
                            const fs::path& folder) {
  const fs::path lines = folder / "lines.jsonl";
  KIN_RETURN_IF_ERROR(write_records(input, lines));
  if (type == data::FileType{}) return lines;
  const fs::path path = folder / file_name("trial", type);
  KIN_RETURN_IF_ERROR(convert(lines, path, input.records.size(), threads));
  fs::remove(lines);
  return path;
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code missing;
  const std::uint64_t size = fs::file_size(path, missing);
  return missing ? 0 : size;
}

}  // namespace

double Trial::seconds(const std::string& stage) const {
  double sum = 0;
  for (const auto& [name, seconds] : report.stage_seconds) sum += name == stage ? seconds : 0;
  return sum;
}

std::string file_name(std::string_view stem, data::FileType type) {
  std::string name(stem);
  switch (type.format) {
    case data::Format::kJsonl: name += ".jsonl"; break;
    case data::Format::kParquet: name += ".parquet"; break;
    case data::Format::kCsv: name += ".csv"; break;
    case data::Format::kTsv: name += ".tsv"; break;
  }
  switch (type.compression) {
    case data::Compression::kNone: break;
    case data::Compression::kGzip: name += ".gz"; break;
    case data::Compression::kZstd: name += ".zst"; break;
    case data::Compression::kBzip2: name += ".bz2"; break;
    case data::Compression::kXz: name += ".xz"; break;
  }
  return name;
}

Result<Trial> run_trial(const TrialInput& input, const TrialPlace& place,
                        const DedupOptions& options, Clock& clock) {
  KIN_TRY(const TemporaryFolder source, TemporaryFolder::create(place.folder));
  KIN_TRY(const TemporaryFolder work, TemporaryFolder::create(place.folder));
  KIN_TRY(const fs::path path, make_input(input, place.from, options.threads, source.path()));
  DedupJob job;
  job.inputs = {path.string()};
  job.output = work.path() / file_name("clean", place.to);
  job.options = options;
  job.options.temporary_folder = work.path();
  job.options.signature_store.reset();
  job.options.append = false;
  job.options.dry_run = false;
  job.options.resume = false;

  Trial trial;
  trial.input_bytes = size_of(path);
  ::malloc_trim(0);
  Progress progress;
  {
    const Watch watch(progress, work.path(), clock, trial);
    KIN_TRY(trial.report, run_dedup(job, progress, clock));
  }
  const fs::path log = removed_path(job.output);
  trial.output_bytes = size_of(job.output);
  trial.log_bytes = size_of(log);
  trial.disk_bytes = std::max(trial.disk_bytes, trial.output_bytes + trial.log_bytes);
  KIN_TRY(trial.fates, read_fates(log, input.records.size(), source.path()));
  return trial;
}

}  // namespace kin::dedup
