#include "dedup/run.h"

#include <malloc.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/workers.h"
#include "dedup/groups/chunk_stage.h"
#include "dedup/groups/grouping.h"
#include "dedup/output/audit.h"
#include "dedup/output/checkpoint.h"
#include "dedup/output/record_outputs.h"
#include "dedup/output/run_checks.h"
#include "dedup/output/stage_times.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/pairs/texts.h"
#include "dedup/scan/columns.h"
#include "dedup/scan/scan.h"
#include "dedup/scan/seen_ids.h"
#include "dedup/spill/budget.h"
#include "dedup/work_folder.h"

namespace kin::dedup {
namespace {

// One run, stage by stage. Each stage keeps what the next one needs, and frees the rest.
class Run {
 public:
  Run(const DedupJob& job, Progress& progress, Clock& clock)
      : job_(job),
        options_(job.options),
        progress_(progress),
        clock_(clock),
        times_(progress, clock),
        budget_(own_memory()) {}

  Result<DedupReport> run() {
    KIN_RETURN_IF_ERROR(open());
    if (!decided_) {
      KIN_RETURN_IF_ERROR(scan());
      KIN_RETURN_IF_ERROR(decide());
    }
    KIN_RETURN_IF_ERROR(write());
    KIN_RETURN_IF_ERROR(record_ids());
    folder_->done();
    finish_report();
    return std::move(report_);
  }

 private:
  // Opens the inputs, completes the options that depend on them, and resumes an earlier run.
  Status open() {
    if (options_.threads <= 0) options_.threads = available_cores();
    // A thread needs some memory of its own; the result is the same with fewer of them.
    options_.threads = threads_for_memory(options_.threads, options_.max_memory);
    KIN_RETURN_IF_ERROR(validate(options_));
    const WorkFolder::Options folder_options = work_folder_of(job_);
    KIN_RETURN_IF_ERROR(check_outputs(job_));
    KIN_TRY(WorkFolder folder, WorkFolder::open(folder_options));
    folder_.emplace(std::move(folder));

    remove_leftovers(job_);
    KIN_TRY(std::vector<data::Input> inputs,
            data::find_inputs(job_.inputs, folder_->path(), &report_.notes));
    KIN_RETURN_IF_ERROR(check_outputs_against(job_, inputs));
    for (const data::Input& input : inputs) progress_.bytes_total += input.bytes;
    run_hash_ = inputs_hash(inputs) ^ options_hash(options_);
    for (const data::Input& input : inputs) report_.inputs.push_back(input.shown_as);
    KIN_RETURN_IF_ERROR(open_dataset(std::move(inputs), budget_.reader));
    KIN_TRY(RecordOutputs outputs, RecordOutputs::open(job_, *dataset_));
    outputs_.emplace(std::move(outputs));
    KIN_RETURN_IF_ERROR(settle_columns(*dataset_, options_));
    if (options_.skip_seen) {
      KIN_TRY(seen_, SeenIds::open(options_, clock_));
    }
    if (const auto rows = dataset_->rows())
      dataset_->limit_memory(budget_.scanner(options_, *rows));
    return folder_options.resume ? take_up() : Status(Done{});
  }

  // Opens the inputs with this much memory. Opened again, the dataset keeps what it learnt.
  Status open_dataset(std::vector<data::Input> inputs, std::uint64_t memory) {
    std::optional<data::ScanMemory> learnt;
    if (dataset_) learnt = dataset_->memory();
    dataset_.reset();
    KIN_TRY(dataset_, data::Dataset::open(std::move(inputs), dataset_options(memory)));
    if (learnt) dataset_->restore(std::move(*learnt));
    return Done{};
  }

  data::DatasetOptions dataset_options(std::uint64_t memory) const {
    data::DatasetOptions how;
    how.threads = options_.threads;
    how.memory_bytes = memory;
    how.temporary_folder = folder_->path();
    how.longest_record = long_texts().longest_record();
    return how;
  }

  Status take_up() {
    // What is decided no longer depends on the set, to which this run may have begun to add.
    auto found = load_checkpoint(folder_->path(), run_hash_);
    if (!found) found = load_checkpoint(folder_->path(), scan_hash());
    if (!found) return found.error();
    if (!*found) return Done{};
    checkpoint_ = std::move(**found);
    KIN_RETURN_IF_ERROR(verify_digests(dataset_->inputs(), checkpoint_.digests));
    report_.resumed = true;
    dataset_->restore(checkpoint_.dataset);
    if (checkpoint_.stage != Checkpoint::Stage::kDecided) return Done{};
    KIN_TRY(removals_, restore_decisions(folder_->path(), checkpoint_, sources_));
    records_ = checkpoint_.position.row;
    classes_.emplace(Classes::distinct(records_));
    decided_ = true;
    restore_counts(checkpoint_.decided, report_);
    report_.text_bytes = checkpoint_.counts[1];
    report_.without_text = checkpoint_.counts[3];
    report_.without_words = checkpoint_.counts[4];
    report_.without_order = checkpoint_.counts[5];
    return settle_threads(checkpoint_.counts[6]);
  }

  // The scan depends on the seen set, so a set that has grown makes another run.
  std::uint64_t scan_hash() const {
    return seen_ ? run_hash_ ^ mix64(seen_->len() + 1) : run_hash_;
  }

  Status scan() {
    KIN_RETURN_IF_ERROR(times_.enter("scan"));
    if (!report_.resumed) KIN_RETURN_IF_ERROR(check_signature_store(options_));
    KIN_TRY(scan_,
            Scan::create(options_, {.spills = budget_.spills, .signatures = budget_.signatures},
                         folder_->path(), sources_));
    if (report_.resumed) {
      KIN_RETURN_IF_ERROR(restore_scan(folder_->path(), checkpoint_, *scan_));
    } else if (scan_->signatures) {
      KIN_RETURN_IF_ERROR(scan_->signatures->clear());
    }
    checkpoint_.run = scan_hash();
    while (!checkpoint_.scanned) {
      const SteadyTime begun = clock_.steady_now();
      const std::uint64_t documents = scan_->counts.documents;
      // Only after some records, so that every round gets on.
      const auto pause = [&] {
        if (progress_.stop) return true;
        return watch_scan() && scan_->counts.documents > documents &&
               clock_.seconds_since(begun) >= options_.checkpoint_seconds;
      };
      const auto scanned = scan_records(
          *dataset_, options_, {.start = checkpoint_.position, .pause = pause, .seen = seen_.get()},
          *scan_);
      if (!scanned) return explain_scan(options_, *dataset_, long_texts(), scanned.error());
      const data::ScanEnd& end = *scanned;
      checkpoint_.position = end.position;
      checkpoint_.scanned = end.finished;
      checkpoint_.found.resize(end.found.size());
      for (std::size_t i = 0; i < end.found.size(); ++i)
        checkpoint_.found[i] = checkpoint_.found[i] || end.found[i];
      if (clock_.seconds_since(begun) >= options_.checkpoint_seconds) {
        KIN_RETURN_IF_ERROR(save_progress());
      }
      if (progress_.stop) return StageTimes::stopped();
    }
    records_ = checkpoint_.position.row;
    report_.without_text = scan_->counts.without_text;
    report_.without_words = scan_->counts.without_words;
    report_.without_order = scan_->counts.without_order;
    report_.text_bytes = scan_->counts.text_bytes;
    progress_.records = records_;
    KIN_RETURN_IF_ERROR(check_records(*dataset_, records_));
    KIN_RETURN_IF_ERROR(check_found(*dataset_, options_, checkpoint_.found));
    return make_room();
  }

  // Later stages hold long texts several times, so that fewer threads work on them.
  Status settle_threads(std::uint64_t longest) {
    KIN_RETURN_IF_ERROR(check_longest_text(options_, longest, long_texts()));
    threads_asked_ = options_.threads;
    options_.threads = threads_for_text(options_.threads, own_memory(), longest, tables());
    return Done{};
  }

  bool watch_scan() {
    progress_.bytes_done = scan_->counts.input_bytes.load();
    progress_.records = scan_->counts.documents.load();
    return is_resumable(job_);
  }

  Status save_progress() {
    if (!is_resumable(job_)) return Done{};
    checkpoint_.dataset = dataset_->memory();
    KIN_RETURN_IF_ERROR(note_inputs());
    KIN_RETURN_IF_ERROR(save_scan(folder_->path(), checkpoint_, *scan_));
    folder_->keep_for_resume();
    return Done{};
  }

  Status note_inputs() {
    return extend_digests(dataset_->inputs(), checkpoint_.position, checkpoint_.digests);
  }

  LongTexts long_texts() const { return {own_memory(), tables(), options_.threads}; }

  // Memory for every record, whatever the budget.
  std::uint64_t tables() const { return records_ * bytes_a_record(options_); }

  std::uint64_t fixed() const {
    return fixed_bytes(dataset_->inputs().front().type.format == data::Format::kParquet);
  }

  Status make_room() {
    const std::uint64_t least = total_memory(options_, fixed() + tables());
    KIN_RETURN_IF_ERROR(check_memory(options_, records_, least));
    KIN_RETURN_IF_ERROR(settle_threads(scan_->counts.longest_text));
    if (tables() < own_memory() / 4) return Done{};
    // The tables take the place of what the scan left in memory.
    for (Spill* spill : {&scan_->exact, &scan_->words, &scan_->bands, &scan_->chunks}) {
      KIN_RETURN_IF_ERROR(spill->move_to_disk());
    }
    ::malloc_trim(0);
    return Done{};
  }

  Status decide() {
    KIN_RETURN_IF_ERROR(times_.enter("identical"));
    KIN_TRY(Classes classes, Classes::find(*scan_, options_, records_, budget_.stage));
    classes_.emplace(std::move(classes));
    release(scan_->exact);
    release(scan_->words);

    KIN_RETURN_IF_ERROR(times_.enter("candidates"));
    KIN_RETURN_IF_ERROR(share_sketches(*scan_, *classes_));
    KIN_TRY(candidates_,
            find_candidates(*scan_, *classes_, options_, budget_.stage, folder_->path()));
    release(scan_->bands);
    note_cold_reads();
    KIN_RETURN_IF_ERROR(check_read_errors());

    KIN_RETURN_IF_ERROR(times_.enter("texts"));
    KIN_TRY(const RecordSet wanted, texts_wanted(*scan_, *classes_, *candidates_, options_));
    KIN_RETURN_IF_ERROR(open_texts());
    dataset_->limit_memory(memory_for_texts());
    if (wanted.count() > 0)
      KIN_RETURN_IF_ERROR(collect_texts(*dataset_, options_, *classes_, wanted, *kept_));

    KIN_RETURN_IF_ERROR(times_.enter("verify"));
    KIN_TRY(std::vector<Removal> removals,
            group_candidates({.candidates = *candidates_,
                              .classes = *classes_,
                              .scan = *scan_,
                              .texts = *kept_->texts,
                              .fixed_memory = fixed()},
                             options_, budget_.stage, group_counts_));
    note_candidates();
    if (options_.detectors.chunk) KIN_RETURN_IF_ERROR(add_chunk_duplicates(removals, wanted));
    removals_ = expand_classes(*classes_, removals);
    add_seen(scan_->seen, records_, removals_);
    progress_.duplicates = removals_.size();
    report_.bytes_spilled = scan_->exact.bytes_on_disk() + scan_->words.bytes_on_disk() +
                            scan_->bands.bytes_on_disk() + scan_->chunks.bytes_on_disk();
    checkpoint_.counts = scan_->counts.values();
    candidates_.reset();
    scan_.reset();
    ::malloc_trim(0);
    // Ids are added to the set while the outputs are there already: a run that is killed then has
    // to find what it decided before it knew them.
    const bool worth_saving = seen_ || times_.seconds() >= options_.checkpoint_seconds;
    if (!worth_saving || !is_resumable(job_)) return Done{};
    checkpoint_.run = run_hash_;
    checkpoint_.dataset = dataset_->memory();
    checkpoint_.decided = decided_counts(report_);
    KIN_RETURN_IF_ERROR(note_inputs());
    KIN_RETURN_IF_ERROR(save_decisions(folder_->path(), checkpoint_, removals_, sources_));
    folder_->keep_for_resume();
    return Done{};
  }

  static void release(Spill& spill) {
    for (std::size_t bin = 0; bin < Spill::kBins; ++bin) spill.release(bin);
    ::malloc_trim(0);
  }

  void note_cold_reads() {
    if (!scan_->signatures) return;
    const store::SignatureStoreStats stats = scan_->signatures->stats();
    report_.cold_reads = stats.cold_reads;
    report_.cold_read_errors = stats.cold_read_errors;
  }

  Status check_read_errors() const {
    return dedup::check_read_errors(options_, records_, report_.cold_read_errors, folder_->path());
  }

  // The keys are freed by then; signatures, tables and pairs are still in memory.
  std::uint64_t memory_for_texts() const {
    const std::uint64_t signatures =
        std::min(budget_.signatures, records_ * KeyBytes(options_).signature);
    const std::uint64_t held = signatures + tables() + budget_.stage + own_memory() / 10;
    return std::max(budget_.reader, own_memory() - std::min(own_memory(), held));
  }

  Status open_texts() {
    const bool with_ids = options_.id_column.has_value();
    KIN_TRY(KeptTexts kept, make_kept_texts(folder_->path(), with_ids));
    kept_.emplace(std::move(kept));
    return Done{};
  }

  void note_candidates() {
    const CandidateCounts& counts = candidates_->counts;
    report_.candidates = counts.candidates;
    report_.verified = group_counts_.verified;
    report_.false_candidates = counts.below_estimate + group_counts_.below_threshold;
    report_.not_needed = group_counts_.not_needed;
    report_.large_buckets = counts.large_buckets;
    report_.capped_buckets = counts.capped_buckets;
  }

  Status add_chunk_duplicates(std::vector<Removal>& removals, const RecordSet& have) {
    KIN_RETURN_IF_ERROR(times_.enter("chunks"));
    KIN_TRY(ChunkOutcome outcome,
            find_chunk_duplicates({*scan_, *classes_, removals, folder_->path()}, options_,
                                  budget_.stage));
    report_.linked = outcome.linked;
    RecordSet missing(records_);
    for (const Removal& removal : outcome.removals) {
      for (const RecordId id : {removal.record, removal.kept}) {
        for (const RecordId wanted : {id, classes_->text_owner(id)}) {
          if (!have.contains(wanted)) missing.insert(wanted);
        }
      }
    }
    if (!options_.dry_run && missing.count() > 0) {
      KIN_RETURN_IF_ERROR(collect_texts(*dataset_, options_, *classes_, missing, *kept_));
    }
    removals.insert(removals.end(), outcome.removals.begin(), outcome.removals.end());
    std::sort(removals.begin(), removals.end(),
              [](const Removal& a, const Removal& b) { return a.record < b.record; });
    return Done{};
  }

  // Ids are added only when the outputs are in place: a run that is killed earlier adds none.
  Status record_ids() {
    if (!seen_ || options_.dry_run) return Done{};
    KIN_RETURN_IF_ERROR(times_.enter("record"));
    return seen_->record(*dataset_, progress_.stop);
  }

  // Writes every output under a temporary name, then renames all of them.
  Status write() {
    KIN_RETURN_IF_ERROR(times_.enter("write"));
    progress_.bytes_done = 0;
    const std::vector<RecordId>& skipped = dataset_->skipped().rows;
    RecordSet keep(records_, true);
    for (const Removal& removal : removals_) keep.erase(removal.record);
    for (const RecordId row : skipped) keep.erase(row);
    count_removals(removals_, *dataset_, records_, sources_, report_);
    if (options_.dry_run) return Done{};

    if (decided_) KIN_RETURN_IF_ERROR(read_texts_again());
    const AuditInput input{removals_, *classes_, *kept_,
                           *dataset_, options_,  report_.text_bytes / records_};
    KIN_TRY(const auto audit,
            AuditFiles::create(input, {removed_output_of(job_), job_.groups_output}));
    data::WriteOptions how{.threads = options_.threads, .format = job_.format, .beside = [&] {
                             return audit->work();
                           }};
    // Where the tables take much of the memory, they have to go before the output is written.
    if (tables() >= own_memory() / 4) {
      KIN_RETURN_IF_ERROR(run_workers(options_.threads, [&](int) { return audit->work(); }));
      KIN_RETURN_IF_ERROR(close_texts());
      how.beside = nullptr;
    }
    KIN_RETURN_IF_ERROR(open_dataset(dataset_->inputs(), budget_.writer));
    KIN_RETURN_IF_ERROR(
        outputs_->write(*dataset_, keep, how, dataset_options(budget_.writer), report_.notes));
    if (kept_) KIN_RETURN_IF_ERROR(close_texts());
    report_.quarantine = outputs_->quarantine();
    KIN_RETURN_IF_ERROR(data::check_unchanged(dataset_->inputs()));
    KIN_RETURN_IF_ERROR(outputs_->commit_quarantine());
    KIN_RETURN_IF_ERROR(audit->commit());
    return outputs_->commit();
  }

  // Frees the texts after their last use.
  Status close_texts() {
    KIN_RETURN_IF_ERROR(name_largest_groups());
    report_.cold_read_errors += kept_->texts->stats().read_errors;
    if (kept_->ids) report_.cold_read_errors += kept_->ids->stats().read_errors;
    KIN_RETURN_IF_ERROR(check_read_errors());
    kept_.reset();
    classes_.reset();
    ::malloc_trim(0);
    return Done{};
  }

  Status read_texts_again() {
    RecordSet wanted(records_);
    for (const Removal& removal : removals_) {
      wanted.insert(removal.record);
      wanted.insert(removal.kept);
    }
    KIN_RETURN_IF_ERROR(open_texts());
    return collect_texts(*dataset_, options_, *classes_, wanted, *kept_);
  }

  Status name_largest_groups() {
    if (!kept_->ids) return Done{};
    for (DedupReport::Group& group : report_.largest_groups) {
      KIN_TRY(group.kept_id, kept_->ids->get(record_id(group.kept_row)));
    }
    return Done{};
  }

  void finish_report() {
    report_.stage_seconds = times_.finish();
    report_.options = options_;
    report_.options.threads = threads_asked_;
    report_.dry_run = options_.dry_run;
    if (!options_.dry_run) report_.output = job_.output.string();
    if (const auto removed = removed_output_of(job_)) report_.removed_output = removed->string();
    for (const auto& [row, message] : dataset_->skipped().messages)
      report_.skipped_messages.push_back(message);
    for (const data::Input& input : dataset_->inputs()) report_.input_bytes += input.bytes;
    report_.seconds = times_.seconds();
    report_.peak_memory = peak_resident_bytes();
    add_warnings(report_);
  }

  // The memory that the seen set does not use.
  std::uint64_t own_memory() const {
    return options_.max_memory - seen_memory(options_, options_.max_memory);
  }

  const DedupJob& job_;
  DedupOptions options_;
  Progress& progress_;
  Clock& clock_;
  StageTimes times_;
  Budget budget_;
  DedupReport report_;

  std::optional<WorkFolder> folder_;
  std::optional<RecordOutputs> outputs_;
  std::unique_ptr<data::Dataset> dataset_;
  std::uint64_t run_hash_ = 0;
  int threads_asked_ = 0;
  Checkpoint checkpoint_;
  bool decided_ = false;  // an earlier run got as far as deciding
  std::unique_ptr<SeenIds> seen_;

  Sources sources_;
  std::unique_ptr<Scan> scan_;
  std::size_t records_ = 0;
  std::optional<Classes> classes_;
  std::unique_ptr<Candidates> candidates_;
  std::optional<KeptTexts> kept_;
  GroupCounts group_counts_;
  std::vector<Removal> removals_;
};

}  // namespace

Result<DedupReport> run_dedup(const DedupJob& job, Progress& progress, Clock& clock) {
  Run run(job, progress, clock);
  KIN_TRY(DedupReport report, run.run());
  if (job.report_output)
    KIN_RETURN_IF_ERROR(write_file_atomically(*job.report_output, to_json(report, 2) + "\n"));
  return report;
}

}  // namespace kin::dedup
