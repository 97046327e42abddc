#include "dedup/stages/run_state.h"

#include <malloc.h>

#include <algorithm>

#include "base/hash.h"
#include "dedup/output/run_checks.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/scan/long_records.h"
#include "dedup/spill/long_texts.h"

namespace kin::dedup {

RunState::RunState(const DedupJob& job_to_do, Progress& shown, Clock& clock_to_use)
    : job(job_to_do),
      options(job_to_do.options),
      progress(shown),
      clock(clock_to_use),
      times(shown, clock_to_use),
      memory(options) {}

data::DatasetOptions RunState::dataset_options(std::uint64_t memory_bytes) const {
  data::DatasetOptions how;
  how.threads = options.threads;
  how.memory_bytes = memory_bytes;
  how.temporary_folder = folder->path();
  how.longest_record = longest_record();
  how.long_records = text_room() / sketch_copies(options);
  // With references, pages would be shared but not the memory for them.
  if (inputs->reference_files() == 0) how.kept_pages = kept_pages;
  return how;
}

std::uint64_t RunState::scan_hash() const {
  return seen ? run_hash ^ mix64(seen->len() + 1) : run_hash;
}

bool RunState::names_removed() const {
  if (options.dry_run) return false;
  const bool ids = removed_output_of(job) || job.groups_output;
  return (job.audit == Audit::kFull && removed_output_of(job)) ||
         (ids && options.id_column.has_value());
}

std::uint64_t RunState::mean_text_bytes() const {
  return report.text_bytes / std::max<std::uint64_t>(records, 1);
}

Status RunState::open_texts() {
  const bool with_ids = options.id_column.has_value();
  KIN_TRY(KeptTexts texts, make_kept_texts({.folder = folder->path(),
                                            .with_ids = with_ids,
                                            .memory = texts_memory,
                                            .mean_bytes = mean_text_bytes()}));
  texts.work = &progress.work;
  kept.emplace(std::move(texts));
  return Done{};
}

Status RunState::close_texts() {
  KIN_RETURN_IF_ERROR(name_largest_groups(*kept, report));
  report.cold_read_errors += kept->texts->stats().read_errors;
  if (kept->ids) report.cold_read_errors += kept->ids->stats().read_errors;
  KIN_RETURN_IF_ERROR(check_read_errors());
  kept.reset();
  texts_memory = 0;
  classes.reset();
  ::malloc_trim(0);
  return Done{};
}

Status RunState::check_memory() {
  if (check_needs(options, needs)) return Done{};
  free_scan();
  KIN_RETURN_IF_ERROR(measure_records(inputs->files(), options, folder->path(), needs));
  if (options.contains && needs.references == 0) {
    KIN_TRY(needs.references, ContainIndex::measure(options, folder->path()));
  }
  return check_needs(options, needs);
}

Status RunState::check_rows(std::uint64_t rows) {
  records = rows;
  needs.records = rows;
  KIN_RETURN_IF_ERROR(check_records(dataset(), rows));
  return check_memory();
}

Status RunState::settle_threads(std::uint64_t heaviest) {
  needs.heaviest_text = heaviest;
  needs.longest_record = dataset().longest_record();
  KIN_RETURN_IF_ERROR(note_io_needs());
  KIN_RETURN_IF_ERROR(check_memory());
  threads_asked = options.threads;
  options.threads = threads_for_text(options.threads, own_memory(), heaviest, tables());
  return Done{};
}

// If a record was too long, measures the longest one, so that the error names a sufficient budget.
Error RunState::explain(Error error) {
  const bool text = met_too_long_text || (scan && scan->met_too_long_text);
  if (!text && dataset().longest_record() <= longest_record()) return error;
  free_scan();
  const Status measured = measure_records(inputs->files(), options, folder->path(), needs);
  return measured ? explain_too_long(options, needs, std::move(error)) : error;
}

Status RunState::check_read_errors() const {
  return dedup::check_read_errors(options, records, report.cold_read_errors, folder->path());
}

std::uint64_t RunState::longest_record() const {
  return text_room() / kRecordCopies;
}

// The allocator would keep the freed memory, which counts as resident.
void RunState::free_scan() {
  scan.reset();
  ::malloc_trim(0);
}

}  // namespace kin::dedup
