#include "dedup/run.h"

#include <algorithm>

#include "base/memory.h"
#include "base/workers.h"
#include "data/line_output.h"
#include "dedup/output/run_checks.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/scan/columns.h"
#include "dedup/scan/long_records.h"
#include "dedup/stages/decide_stage.h"
#include "dedup/stages/run_state.h"
#include "dedup/stages/scan_stage.h"
#include "dedup/stages/write_stage.h"
#include "dedup/uploads.h"

namespace kin::dedup {
namespace {

// Finds the inputs and opens them.
Status open_inputs(RunState& run) {
  KIN_TRY(RunInputs inputs,
          RunInputs::find(run.job.inputs, run.options, run.folder->path(), run.report.notes));
  run.inputs.emplace(std::move(inputs));
  KIN_RETURN_IF_ERROR(check_outputs_against(run.job, run.inputs->files()));
  run.needs.pages = hold_pages(run.inputs->files());
  run.run_hash = inputs_hash(run.inputs->files()) ^ options_hash(run.options);
  if (run.options.append) {
    KIN_TRY(run.known, KnownRecords::open(run.options));
    run.inputs->set_known(run.known.get());
  }
  return run.inputs->open(run.dataset_options(run.budget().reader));
}

// Reads the references that texts may contain.
Status open_references(RunState& run) {
  KIN_RETURN_IF_ERROR(run.times.enter("references"));
  const auto check = [&](std::uint64_t bytes) {
    run.needs.references = bytes;
    return run.check_memory();
  };
  KIN_TRY(run.contains,
          ContainIndex::open(run.options, run.folder->path(), check, &run.progress.work));
  run.memory.hold(run.needs.references);
  run.options.threads = std::min(threads_for_memory(run.options.threads, run.own_memory()),
                                 run.contains->most_matchers());
  run.report.against.records = run.contains->size();
  run.report.against.short_ones = run.contains->short_ones();
  return Done{};
}

std::uint64_t scanner_memory(RunState& run) {
  const auto rows = run.dataset().rows();
  return rows ? run.budget().scanner(run.options, *rows) : run.budget().reader;
}

// Opens the inputs, completes the options that depend on them, and resumes an
// earlier run.
Status open(RunState& run) {
  DedupOptions& options = run.options;
  if (options.threads <= 0) options.threads = available_cores();
  // Each thread needs some memory of its own; the result does not depend on their
  // number.
  run.needs.threads = options.threads;
  options.threads = threads_for_memory(options.threads, options.max_memory);
  KIN_RETURN_IF_ERROR(validate(options));
  if (options.dry_run && !options.append) options.signature_store.reset();  // stores nothing
  const WorkFolder::Options folder_options = work_folder_of(run.job);
  KIN_RETURN_IF_ERROR(check_outputs(run.job));
  KIN_TRY(WorkFolder folder, WorkFolder::open(folder_options));
  run.folder.emplace(std::move(folder));
  remove_leftovers(run.job);
  KIN_RETURN_IF_ERROR(open_inputs(run));
  KIN_TRY(RecordOutputs outputs, RecordOutputs::open(run.job, run.inputs->own()));
  run.outputs.emplace(std::move(outputs));
  KIN_RETURN_IF_ERROR(settle_columns(run.dataset(), options));
  if (options.skip_seen) {
    KIN_TRY(run.seen, SeenIds::open(options, run.clock));
  }
  run.needs.records = run.dataset().rows().value_or(0);
  KIN_RETURN_IF_ERROR(run.note_io_needs());
  KIN_RETURN_IF_ERROR(run.check_memory());
  if (options.contains) KIN_RETURN_IF_ERROR(open_references(run));
  run.dataset().limit_memory(std::max(run.needs.scan, scanner_memory(run)));
  return folder_options.resume ? resume_run(run) : Status(Done{});
}

// Finds the text to cut from the records that stay. A resumed run starts this
// stage over.
Status cut(RunState& run) {
  std::optional<RecordSet> keep;
  if (removes_records(run.options)) keep = kept_records(run.removals, run.dataset(), run.records);
  run.dataset().limit_memory(std::max(run.needs.scan, run.budget().reader));
  auto cut =
      CutStage::run({.dataset = run.dataset(),
                     .options = run.options,
                     .keep = keep ? &*keep : nullptr,
                     .folder = run.folder->path(),
                     .spill_memory = run.budget().spills,
                     .stage_memory = run.budget().stage,
                     .text_room = run.text_room(),
                     .work = &run.progress.work,
                     .enter = [&](const char* stage) { return run.times.enter(stage); },
                     .check_rows = [&](std::uint64_t rows) { return run.check_rows(rows); },
                     .check_text = [&](std::uint64_t weight) { return run.settle_threads(weight); },
                     .met_too_long_text = &run.met_too_long_text,
                     .sources = &run.sources,
                     .stop = &run.progress.stop});
  if (!cut) return run.explain(cut.error());
  run.cut = std::move(*cut);
  run.cut->count(run.report);
  if (keep) return Done{};
  run.classes.emplace(Classes::distinct(run.records));
  return run.open_texts();
}

// Adds the records that stay to those of earlier runs. They count when the
// outputs are in place: a run that is killed in between is run again with the
// same result.
Status add_known(RunState& run) {
  if (run.options.dry_run) return Done{};
  KIN_RETURN_IF_ERROR(run.times.enter("append"));
  run.dataset().limit_memory(run.budget().reader);
  const RecordSet keep = kept_records(run.removals, run.dataset(), run.records);
  const RecordSet own = run.inputs->own_rows(keep);
  return run.known->add({.inputs = run.inputs->own(),
                         .keep = own,
                         .options = run.options,
                         .now = run.clock.now(),
                         .work = &run.progress.work});
}

// Ids are added only when the outputs are in place: a run that is killed
// earlier adds none.
Status record_ids(RunState& run) {
  if (!run.seen || run.options.dry_run) return Done{};
  KIN_RETURN_IF_ERROR(run.times.enter("record"));
  return run.seen->record(run.dataset(), run.progress);
}

void finish_report(RunState& run) {
  DedupReport& report = run.report;
  report.stage_seconds = run.times.finish();
  report.options = run.options;
  report.options.threads = run.threads_asked;
  report.dry_run = run.options.dry_run;
  if (!run.options.dry_run) report.output = shown_name(run.job, run.job.output);
  if (const auto removed = removed_output_of(run.job))
    report.removed_output = shown_name(run.job, *removed);
  if (const auto log = cut_output_of(run.job)) report.cut.log = shown_name(run.job, *log);
  describe_inputs(*run.inputs, report);
  if (run.known) report.against.files = {run.options.signature_store->string()};
  report.seconds = run.times.seconds();
  report.peak_memory = peak_resident_bytes();
  add_warnings(report);
}

Status do_stages(RunState& run) {
  KIN_RETURN_IF_ERROR(open(run));
  if (!run.decided && removes_records(run.options)) {
    KIN_RETURN_IF_ERROR(scan_inputs(run));
    KIN_RETURN_IF_ERROR(decide(run));
  }
  if (run.options.cut) KIN_RETURN_IF_ERROR(cut(run));
  if (run.known) KIN_RETURN_IF_ERROR(add_known(run));
  KIN_RETURN_IF_ERROR(write_outputs(run));
  KIN_RETURN_IF_ERROR(record_ids(run));
  if (run.known && !run.options.dry_run) KIN_RETURN_IF_ERROR(run.known->commit());
  run.folder->done();
  return Done{};
}

}  // namespace

Result<DedupReport> run_dedup(const DedupJob& job, Progress& progress, Clock& clock) {
  RunState run(job, progress, clock);
  KIN_RETURN_IF_ERROR(do_stages(run));
  finish_report(run);
  if (job.report_output) {
    KIN_RETURN_IF_ERROR(data::write_json(*job.report_output, to_json(run.report, 2) + "\n"));
    if (job.uploads != nullptr) KIN_RETURN_IF_ERROR(job.uploads->publish());
  }
  return std::move(run.report);
}

}  // namespace kin::dedup
