#include "dedup/output/record_outputs.h"

#include "dedup/outputs.h"

namespace kin::dedup {

Result<RecordOutputs> RecordOutputs::open(const DedupJob& job, const data::Dataset& dataset) {
  RecordOutputs outputs(job);
  if (job.options.dry_run) return outputs;
  if (writes_folder(job)) {
    KIN_TRY(Shards shards, Shards::open(job.output, dataset.inputs()));
    outputs.shards_.emplace(std::move(shards));
  } else {
    KIN_RETURN_IF_ERROR(dataset.check_output(job.output));
  }
  return outputs;
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
    // A file that an earlier run left under this name would pass for that of this run.
    std::error_code ignored;  // there is none most of the time
    std::filesystem::remove(*path, ignored);
    return Done{};
  }
  KIN_TRY(data::StagedOutput written, dataset.write_skipped(*path));
  skipped_.emplace(std::move(written));
  return Done{};
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
