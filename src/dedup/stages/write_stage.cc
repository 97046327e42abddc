#include "dedup/stages/write_stage.h"

#include <algorithm>

#include "base/workers.h"
#include "dedup/output/audit.h"
#include "dedup/output/tags.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/uploads.h"

namespace kin::dedup {
namespace {

class Writer {
 public:
  explicit Writer(RunState& run)
      : run_(run), keep_(kept_records(run.removals, run.dataset(), run.records)) {}

  Status write() {
    count();
    if (run_.options.dry_run) return Done{};
    if (run_.options.tag) {
      tags_.emplace(*run_.options.tag, run_.removals, run_.inputs->references());
      for (const Removal& removal : run_.removals) keep_.insert(removal.record);
    }
    KIN_RETURN_IF_ERROR(open_logs());
    KIN_RETURN_IF_ERROR(write_records());
    run_.kept_pages->limit(0);
    if (run_.kept) KIN_RETURN_IF_ERROR(run_.close_texts());
    return commit();
  }

 private:
  void count() {
    if (run_.cut) drop_emptied(run_.cut->emptied(), keep_, run_.sources);
    count_removals(run_.removals, run_.dataset(), run_.records,
                   {.rows = run_.inputs->references(), .files = run_.inputs->reference_files()},
                   run_.sources, run_.report);
    if (run_.cut) count_emptied(run_.cut->emptied(), run_.dataset(), run_.report);
  }

  // A run that resumed from decisions has to read the texts for its log again.
  Status read_texts_again() {
    if (run_.names_removed()) run_.progress.work.plan({1, 2});
    KIN_RETURN_IF_ERROR(run_.open_texts());
    if (!run_.names_removed()) return Done{};
    return collect_texts(run_.dataset(), run_.options, *run_.classes,
                         named_records(run_.removals, run_.records), *run_.kept);
  }

  Status open_logs() {
    if (run_.decided) KIN_RETURN_IF_ERROR(read_texts_again());
    const AuditInput input{.removals = run_.removals,
                           .classes = *run_.classes,
                           .kept = *run_.kept,
                           .dataset = run_.dataset(),
                           .options = run_.options,
                           .mean_text_bytes = run_.mean_text_bytes(),
                           .with_texts = run_.job.audit == Audit::kFull,
                           .references = run_.inputs->references(),
                           .contains = run_.contains.get(),
                           .evidence = run_.evidence.get(),
                           .work = &run_.progress.work};
    KIN_TRY(audit_, AuditFiles::create(input, {.removed = removed_output_of(run_.job),
                                               .groups = run_.job.groups_output,
                                               .temporary_folder = run_.folder->path(),
                                               .memory_bytes = run_.budget().reader}));
    const auto cut_log = cut_output_of(run_.job);
    return cut_log ? run_.cut->open_log(*cut_log) : Status(Done{});
  }

  Status write_logs() {
    if (run_.cut) KIN_RETURN_IF_ERROR(run_.cut->work());
    return audit_->work();
  }

  std::uint64_t for_writer() const {
    return run_.memory.for_writer(run_.records, run_.kept_pages->bytes(), run_.texts_memory);
  }

  Status write_records() {
    const std::uint64_t references = run_.inputs->references();
    data::WriteOptions how{.threads = run_.options.threads,
                           .format = run_.job.format,
                           .beside = [&] { return write_logs(); }};
    how.written = [&](std::uint64_t records) { run_.progress.work.add(records); };
    run_.progress.work.phase(keep_.count() - references +
                             (removed_output_of(run_.job) ? run_.removals.size() : 0));
    std::optional<data::ShiftedEdits> edits;
    if (run_.cut) how.edits = run_.cut->edits();
    if (tags_) how.edits = &edits.emplace(*tags_, references);
    KIN_RETURN_IF_ERROR(run_.note_io_needs());
    // If the tables take much of the memory, they are freed before the output is written.
    if (run_.tables() >= run_.own_memory() / 4 || for_writer() < writer_bytes(run_.needs)) {
      KIN_RETURN_IF_ERROR(run_workers(run_.options.threads, [&](int) { return write_logs(); }));
      KIN_RETURN_IF_ERROR(run_.close_texts());
      how.beside = nullptr;
    }
    const data::DatasetOptions writer =
        run_.dataset_options(std::max(for_writer(), writer_bytes(run_.needs)));
    KIN_RETURN_IF_ERROR(run_.inputs->open(writer));
    return run_.outputs->write(run_.inputs->own(), run_.inputs->own_rows(keep_), how, writer,
                               run_.report.notes);
  }

  Status commit() {
    // Both wait for the device.
    KIN_RETURN_IF_ERROR(run_workers(
        2, [&](int which) { return which == 0 ? audit_->finish() : run_.outputs->sync(); }));
    run_.report.quarantine = shown_name(run_.job, run_.outputs->quarantine());
    KIN_RETURN_IF_ERROR(data::check_unchanged(run_.inputs->files()));
    KIN_RETURN_IF_ERROR(run_.outputs->commit_quarantine());
    KIN_RETURN_IF_ERROR(audit_->commit());
    if (run_.cut) KIN_RETURN_IF_ERROR(run_.cut->commit());
    KIN_RETURN_IF_ERROR(run_.outputs->commit());
    return run_.job.uploads != nullptr ? run_.job.uploads->publish() : Status(Done{});
  }

  RunState& run_;
  RecordSet keep_;
  std::optional<Tags> tags_;
  std::unique_ptr<AuditFiles> audit_;
};

}  // namespace

Status write_outputs(RunState& run) {
  KIN_RETURN_IF_ERROR(run.times.enter("write"));
  return Writer(run).write();
}

}  // namespace kin::dedup
