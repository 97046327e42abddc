#include "dedup/stages/decide_stage.h"

#include <malloc.h>

#include <algorithm>

#include "dedup/groups/chunk_stage.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"

namespace kin::dedup {
namespace {

void release(Spill& spill) {
  for (std::size_t bin = 0; bin < Spill::kBins; ++bin) spill.release(bin);
  ::malloc_trim(0);
}

Status find_identical(RunState& run) {
  KIN_RETURN_IF_ERROR(run.times.enter("identical"));
  KIN_TRY(Classes classes, Classes::find(*run.scan, run.options, run.records, run.budget().stage));
  run.classes.emplace(std::move(classes));
  release(run.scan->exact);
  release(run.scan->words);
  return Done{};
}

Result<std::unique_ptr<Candidates>> look_for_candidates(RunState& run) {
  KIN_RETURN_IF_ERROR(run.times.enter("candidates"));
  KIN_RETURN_IF_ERROR(share_sketches(*run.scan, *run.classes));
  KIN_TRY(auto candidates, find_candidates(*run.scan, *run.classes, run.options, run.budget().stage,
                                           run.folder->path()));
  release(run.scan->bands);
  if (run.scan->signatures) {
    const store::SignatureStoreStats stats = run.scan->signatures->stats();
    run.report.cold_reads = stats.cold_reads;
    run.report.cold_read_errors = stats.cold_read_errors;
  }
  KIN_RETURN_IF_ERROR(run.check_read_errors());
  return candidates;
}

// The memory that this many texts may take before they go to disk.
std::uint64_t memory_of_texts(const RunState& run, const Candidates& candidates,
                              std::uint64_t texts) {
  const ScanCounts& counts = run.scan->counts;
  const std::uint64_t mean = counts.text_bytes / std::max<std::uint64_t>(counts.documents, 1);
  constexpr std::uint64_t kFrame = 32;
  return run.memory.of_texts(
      run.records, texts * (mean + mean / 4 + kFrame), run.kept_pages->bytes(),
      run.memory.beside_pairs(run.records, candidates.pair_bytes(), run.fixed()));
}

// Reads the texts for verification and for the outputs. Returns their records.
Result<RecordSet> read_texts(RunState& run, const Candidates& candidates) {
  KIN_RETURN_IF_ERROR(run.times.enter("texts"));
  KIN_TRY(RecordSet wanted, texts_wanted(*run.scan, *run.classes, candidates, run.names_removed()));
  run.texts_memory = memory_of_texts(run, candidates, wanted.count());
  KIN_RETURN_IF_ERROR(run.open_texts());
  run.dataset().limit_memory(run.memory.for_texts(run.records) - run.texts_memory);
  run.progress.work.phase(0);  // unless there are texts to read
  if (wanted.count() > 0) {
    KIN_RETURN_IF_ERROR(collect_texts(run.dataset(), run.options, *run.classes, wanted, *run.kept));
  }
  return wanted;
}

// Drops kept pages if pairs need their memory. Returns the memory of the remaining pages.
std::uint64_t make_room_for_pairs(RunState& run, const Candidates& candidates) {
  run.kept_pages->limit(run.memory.beside_pairs(run.records, candidates.pair_bytes(),
                                                run.fixed() + run.texts_memory));
  return run.kept_pages->bytes();
}

Result<std::vector<Removal>> verify(RunState& run, Candidates& candidates) {
  KIN_RETURN_IF_ERROR(run.times.enter("verify"));
  GroupCounts counts;
  const std::uint64_t pages = make_room_for_pairs(run, candidates);
  KIN_TRY(std::vector<Removal> removals,
          group_candidates({.candidates = candidates,
                            .classes = *run.classes,
                            .scan = *run.scan,
                            .texts = *run.kept->texts,
                            .fixed_memory = run.fixed() + run.texts_memory + pages},
                           run.options, run.budget().stage, counts));
  note_pairs(candidates.counts, counts, run.report);
  return removals;
}

Status add_chunk_duplicates(RunState& run, std::vector<Removal>& removals, const RecordSet& have) {
  KIN_RETURN_IF_ERROR(run.times.enter("chunks"));
  run.progress.work.plan({2, 1});
  KIN_TRY(ChunkOutcome outcome,
          find_chunk_duplicates({*run.scan, *run.classes, removals, run.folder->path()},
                                run.options, run.budget().stage));
  run.report.linked = outcome.linked;
  run.progress.work.phase(0);
  const RecordSet missing = texts_missing(outcome.removals, *run.classes, have);
  if (run.names_removed() && missing.count() > 0) {
    KIN_RETURN_IF_ERROR(
        collect_texts(run.dataset(), run.options, *run.classes, missing, *run.kept));
  }
  removals.insert(removals.end(), outcome.removals.begin(), outcome.removals.end());
  std::sort(removals.begin(), removals.end(),
            [](const Removal& a, const Removal& b) { return a.record < b.record; });
  return Done{};
}

Status save_decided(RunState& run) {
  // Ids are added to the set after the outputs are in place: a run that is killed then must find
  // its decisions, which it made before the ids were known.
  const bool worth_saving = run.seen || run.times.seconds() >= run.options.checkpoint_seconds;
  if (!worth_saving || !is_resumable(run.job)) return Done{};
  run.checkpoint.run = run.run_hash;
  run.checkpoint.dataset = run.dataset().memory();
  run.checkpoint.decided = decided_counts(run.report);
  KIN_RETURN_IF_ERROR(run.note_inputs());
  KIN_RETURN_IF_ERROR(
      save_decisions(run.folder->path(), run.checkpoint, run.removals, run.sources));
  run.folder->keep_for_resume();
  return Done{};
}

// Notes the figures of the scan for the report, and frees it.
void end_scan(RunState& run) {
  const Scan& scan = *run.scan;
  run.report.bytes_spilled = scan.exact.bytes_on_disk() + scan.words.bytes_on_disk() +
                             scan.bands.bytes_on_disk() + scan.chunks.bytes_on_disk();
  run.checkpoint.counts = scan.counts.values();
  run.evidence = std::move(run.scan->evidence);
  run.scan.reset();
  ::malloc_trim(0);
}

}  // namespace

Status decide(RunState& run) {
  KIN_RETURN_IF_ERROR(find_identical(run));
  KIN_TRY(auto candidates, look_for_candidates(run));
  KIN_TRY(const RecordSet wanted, read_texts(run, *candidates));
  KIN_TRY(std::vector<Removal> removals, verify(run, *candidates));
  // Removed here, so that references keep their chunks and copies are removed for them; and again
  // below, for references that are copies.
  drop_references(run.scan->order, removals);
  if (run.options.detectors.chunk) KIN_RETURN_IF_ERROR(add_chunk_duplicates(run, removals, wanted));
  run.removals = expand_classes(*run.classes, removals);
  drop_references(run.scan->order, run.removals);
  KIN_RETURN_IF_ERROR(add_left_out(*run.scan, run.records, run.removals));
  run.progress.duplicates = run.removals.size();
  candidates.reset();
  end_scan(run);
  return save_decided(run);
}

}  // namespace kin::dedup
