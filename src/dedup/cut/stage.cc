#include "dedup/cut/stage.h"

namespace kin::dedup {

Result<std::unique_ptr<CutStage>> CutStage::run(const CutInput& input) {
  KIN_TRY(CutOutcome outcome, find_cuts(input));
  return std::unique_ptr<CutStage>(new CutStage(std::move(outcome)));
}

void CutStage::count(DedupReport& report) const {
  const CutCounts& counts = outcome_.cuts->counts();
  report.cut.records = counts.records;
  report.cut.emptied = counts.emptied;
  report.cut.passages = counts.passages;
  report.cut.bytes = counts.bytes;
  report.cut.unverified = counts.unverified;
  report.bytes_spilled += outcome_.bytes_spilled;
  if (report.text_bytes > 0) return;  // an earlier stage read all texts
  report.text_bytes = outcome_.text_bytes;
  report.without_text = outcome_.without_text;
}

Status CutStage::open_log(const std::filesystem::path& path) {
  KIN_TRY(AtomicFile file, AtomicFile::create(path));
  log_.emplace(std::move(file));
  return Done{};
}

Status CutStage::work() {
  if (!log_ || begun_.exchange(true)) return Done{};
  return outcome_.cuts->write_log(*log_);
}

Status CutStage::commit() {
  return log_ ? log_->commit() : Status(Done{});
}

}  // namespace kin::dedup
