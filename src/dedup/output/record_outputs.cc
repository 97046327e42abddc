#include "dedup/output/record_outputs.h"

#include <algorithm>

#include "dedup/outputs.h"
#include "dedup/scan/scan.h"
#include "dedup/uploads.h"

namespace kin::dedup {

namespace {

// Reports what an output will not keep.
Status foretell(const DedupJob& job, data::Dataset& dataset, const std::filesystem::path& output) {
  if (!job.foretell) return Done{};
  KIN_TRY(const std::vector<std::string> losses,
          dataset.foreseen_losses(output, {.format = job.format}));
  for (const std::string& loss : losses) job.foretell(loss);
  return Done{};
}

// The memory of the writer of a job's records.
Result<data::WriteMemory> least_output_memory(const DedupJob& job, data::Dataset& dataset) {
  data::WriteMemory least;
  if (job.options.dry_run) return least;
  const data::WriteOptions how{.format = job.format};
  if (!job.output.empty() && !writes_folder(job))
    return dataset.least_write_memory(job.output, how);
  // Every input is written in its own format.
  for (const data::Input& input : dataset.inputs()) {
    KIN_TRY(const auto one, data::Dataset::open({input}, {}));
    const std::filesystem::path name = "written." + input.path.filename().string();
    KIN_TRY(const data::WriteMemory mine, one->least_write_memory(name, how));
    least.bytes = std::max(least.bytes, mine.bytes);
    least.copies = std::max(least.copies, mine.copies);
  }
  return least;
}

}  // namespace

Result<RecordOutputs> RecordOutputs::open(const DedupJob& job, data::Dataset& dataset) {
  RecordOutputs outputs(job);
  if (job.options.dry_run) return outputs;
  if (writes_folder(job)) {
    // Every output has the format of its input, and keeps everything.
    for (const data::Input& input : dataset.inputs())
      KIN_RETURN_IF_ERROR(data::check_format(job.format, input.type));
    if (job.uploads != nullptr)
      KIN_RETURN_IF_ERROR(job.uploads->check_folder(job.output, dataset.inputs()));
    KIN_TRY(Shards shards, Shards::open(job.output, dataset.inputs()));
    outputs.shards_.emplace(std::move(shards));
    return outputs;
  }
  KIN_RETURN_IF_ERROR(dataset.check_output(job.output));
  KIN_TRY(const data::FileType type, data::output_type(job.output, dataset.inputs()));
  KIN_RETURN_IF_ERROR(data::check_format(job.format, type));
  KIN_RETURN_IF_ERROR(foretell(job, dataset, job.output));
  return outputs;
}

Status measure_io(const DedupJob& job, const DedupOptions& settled, data::Dataset& read,
                  data::Dataset& own, MemoryNeeds& needs) {
  std::vector<std::string> columns = columns_read(settled);
  if (settled.source_column) columns.push_back(*settled.source_column);
  if (settled.id_column) columns.push_back(*settled.id_column);
  KIN_TRY(needs.scan, read.least_scan_memory(columns));
  KIN_TRY(needs.write, least_output_memory(job, own));
  return Done{};
}

Status RecordOutputs::write(data::Dataset& dataset, const RecordSet& keep,
                            const data::WriteOptions& how, const data::DatasetOptions& options,
                            std::vector<std::string>& notes) {
  data::WriteReport report;
  if (shards_) {
    KIN_TRY(report, shards_->write(dataset, keep, how, options));
  } else {
    KIN_TRY(auto written, dataset.write_staged(keep, job_->output, how));
    records_.emplace(std::move(written.first));
    report = std::move(written.second);
  }
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  return write_skipped(dataset);
}

Status RecordOutputs::write_skipped(const data::Dataset& dataset) {
  const auto path = quarantine_output_of(*job_);
  if (!path) return Done{};
  if (dataset.skipped().count == 0 && !job_->quarantine_output) {
    // A file that an earlier run left under this name would be taken for this run's.
    std::error_code ignored;  // usually there is none
    std::filesystem::remove(*path, ignored);
    return Done{};
  }
  KIN_TRY(data::StagedOutput written, dataset.write_skipped(*path));
  skipped_.emplace(std::move(written));
  return Done{};
}

Status RecordOutputs::sync() {
  return records_ ? records_->sync() : Status(Done{});
}

std::string RecordOutputs::quarantine() const {
  return skipped_ ? skipped_->target().string() : std::string();
}

Status RecordOutputs::commit_quarantine() {
  return skipped_ ? skipped_->commit() : Status(Done{});
}

Status RecordOutputs::commit() {
  return shards_ ? shards_->commit() : records_->commit();
}

}  // namespace kin::dedup
