#include "dedup/stages/scan_stage.h"

#include <malloc.h>

#include "dedup/output/run_checks.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/scan/columns.h"

namespace kin::dedup {
namespace {

// The stage reads all inputs; an earlier run has read `done` bytes of them.
void begin_bytes(RunState& run, std::uint64_t done) {
  std::uint64_t bytes = 0;
  for (const data::Input& input : run.inputs->files()) bytes += input.bytes;
  run.progress.work.phase(bytes);
  run.progress.work.add(done);
}

Status begin_scan(RunState& run) {
  if (!run.report.resumed && !run.options.append)
    KIN_RETURN_IF_ERROR(check_signature_store(run.options));
  KIN_TRY(run.scan,
          Scan::create(run.options,
                       {.spills = run.budget().spills, .signatures = run.budget().signatures},
                       run.folder->path(), run.sources));
  if (run.report.resumed) {
    KIN_RETURN_IF_ERROR(restore_scan(run.folder->path(), run.checkpoint, *run.scan));
  } else if (run.scan->signatures) {
    KIN_RETURN_IF_ERROR(run.scan->signatures->clear());
  }
  run.checkpoint.run = run.scan_hash();
  run.scan->work = &run.progress.work;
  if (run.known) run.progress.work.plan({9, 1});
  begin_bytes(run, run.scan->counts.input_bytes);
  return Done{};
}

Status save_progress(RunState& run) {
  if (!is_resumable(run.job)) return Done{};
  run.checkpoint.dataset = run.dataset().memory();
  KIN_RETURN_IF_ERROR(run.note_inputs());
  KIN_RETURN_IF_ERROR(save_scan(run.folder->path(), run.checkpoint, *run.scan));
  run.folder->keep_for_resume();
  return Done{};
}

// Reads until a checkpoint is due.
Status scan_part(RunState& run) {
  const SteadyTime begun = run.clock.steady_now();
  const std::uint64_t documents = run.scan->counts.documents;
  const auto is_due = [&] {
    return run.clock.seconds_since(begun) >= run.options.checkpoint_seconds;
  };
  // Only after some records, so that every part makes progress.
  const auto pause = [&] {
    if (run.progress.stop) return true;
    return is_resumable(run.job) && run.scan->counts.documents > documents && is_due();
  };
  const auto scanned = scan_records(run.dataset(), run.options,
                                    {.start = run.checkpoint.position,
                                     .pause = pause,
                                     .seen = run.seen.get(),
                                     .contains = run.contains.get(),
                                     .reference_files = run.inputs->reference_files(),
                                     .records = &run.progress.records,
                                     .text_room = run.text_room()},
                                    *run.scan);
  if (!scanned) return run.explain(scanned.error());
  run.checkpoint.position = scanned->position;
  run.checkpoint.scanned = scanned->finished;
  merge_found(scanned->found, run.checkpoint.found);
  if (is_due()) KIN_RETURN_IF_ERROR(save_progress(run));
  return run.progress.stop ? Status(StageTimes::stopped()) : Status(Done{});
}

Status make_room(RunState& run) {
  KIN_RETURN_IF_ERROR(run.check_rows(run.records));
  KIN_RETURN_IF_ERROR(run.settle_threads(run.scan->counts.longest_text));
  if (run.tables() < run.own_memory() / 4) return Done{};
  // The tables take the memory of the keys that the scan left.
  Scan& scan = *run.scan;
  for (Spill* spill : {&scan.exact, &scan.words, &scan.bands, &scan.chunks}) {
    KIN_RETURN_IF_ERROR(spill->move_to_disk());
  }
  ::malloc_trim(0);
  return Done{};
}

}  // namespace

Status resume_run(RunState& run) {
  // Decisions no longer depend on the set, to which this run may have begun to add.
  auto found = load_checkpoint(run.folder->path(), run.run_hash);
  if (!found) found = load_checkpoint(run.folder->path(), run.scan_hash());
  if (!found) return found.error();
  if (!*found) return Done{};
  run.checkpoint = std::move(**found);
  KIN_RETURN_IF_ERROR(verify_digests(run.inputs->files(), run.checkpoint.digests));
  run.report.resumed = true;
  run.dataset().restore(run.checkpoint.dataset);
  if (run.checkpoint.stage != Checkpoint::Stage::kDecided) return Done{};
  KIN_TRY(run.removals, restore_decisions(run.folder->path(), run.checkpoint, run.sources));
  run.records = run.checkpoint.position.row;
  run.classes.emplace(Classes::distinct(run.records));
  run.decided = true;
  restore_counts(run.checkpoint.decided, run.report);
  note_scan(run.checkpoint.counts, run.report);
  return run.settle_threads(run.checkpoint.counts[6]);
}

Status scan_inputs(RunState& run) {
  KIN_RETURN_IF_ERROR(run.times.enter("scan"));
  KIN_RETURN_IF_ERROR(begin_scan(run));
  while (!run.checkpoint.scanned) KIN_RETURN_IF_ERROR(scan_part(run));
  run.records = run.checkpoint.position.row;
  run.scan->order.set_references(run.inputs->references());
  if (run.known)
    KIN_RETURN_IF_ERROR(run.known->add_keys(run.options, run.budget().stage, *run.scan));
  note_scan(run.scan->counts.values(), run.report);
  run.progress.records = run.records;
  KIN_RETURN_IF_ERROR(check_records(run.inputs->own(), run.records - run.inputs->references()));
  KIN_RETURN_IF_ERROR(check_found(run.inputs->own(), run.options, run.checkpoint.found));
  KIN_RETURN_IF_ERROR(make_room(run));
  run.dataset().limit_memory(run.memory.beside_keys(run.records));
  return Done{};
}

}  // namespace kin::dedup
