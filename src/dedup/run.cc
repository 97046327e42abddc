#include "dedup/run.h"

#include <malloc.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/workers.h"
#include "data/line_output.h"
#include "dedup/against/run_inputs.h"
#include "dedup/cut/stage.h"
#include "dedup/groups/chunk_stage.h"
#include "dedup/groups/grouping.h"
#include "dedup/output/audit.h"
#include "dedup/output/checkpoint.h"
#include "dedup/output/record_outputs.h"
#include "dedup/output/run_checks.h"
#include "dedup/output/stage_times.h"
#include "dedup/output/tags.h"
#include "dedup/output/tally.h"
#include "dedup/outputs.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/pairs/texts.h"
#include "dedup/scan/columns.h"
#include "dedup/scan/long_records.h"
#include "dedup/scan/scan.h"
#include "dedup/scan/seen_ids.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/long_texts.h"
#include "dedup/spill/run_memory.h"
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
        memory_(options_) {}

  Result<DedupReport> run() {
    KIN_RETURN_IF_ERROR(open());
    if (!decided_ && removes_records(options_)) {
      KIN_RETURN_IF_ERROR(scan());
      KIN_RETURN_IF_ERROR(decide());
    }
    if (options_.cut) KIN_RETURN_IF_ERROR(cut());
    if (known_) KIN_RETURN_IF_ERROR(add_known());
    KIN_RETURN_IF_ERROR(write());
    KIN_RETURN_IF_ERROR(record_ids());
    if (known_ && !options_.dry_run) KIN_RETURN_IF_ERROR(known_->commit());
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
    if (options_.dry_run && !options_.append) options_.signature_store.reset();  // keeps nothing
    const WorkFolder::Options folder_options = work_folder_of(job_);
    KIN_RETURN_IF_ERROR(check_outputs(job_));
    KIN_TRY(WorkFolder folder, WorkFolder::open(folder_options));
    folder_.emplace(std::move(folder));

    remove_leftovers(job_);
    KIN_TRY(RunInputs inputs,
            RunInputs::find(job_.inputs, options_, folder_->path(), report_.notes));
    inputs_.emplace(std::move(inputs));
    KIN_RETURN_IF_ERROR(check_outputs_against(job_, inputs_->files()));
    run_hash_ = inputs_hash(inputs_->files()) ^ options_hash(options_);
    if (options_.append) {
      KIN_TRY(known_, KnownRecords::open(options_));
      inputs_->set_known(known_.get());
    }
    KIN_RETURN_IF_ERROR(inputs_->open(dataset_options(budget_.reader)));
    KIN_TRY(RecordOutputs outputs, RecordOutputs::open(job_, inputs_->own()));
    outputs_.emplace(std::move(outputs));
    KIN_RETURN_IF_ERROR(settle_columns(dataset(), options_));
    if (options_.skip_seen) {
      KIN_TRY(seen_, SeenIds::open(options_, clock_));
    }
    needs_.records = dataset().rows().value_or(0);
    KIN_RETURN_IF_ERROR(note_io_needs());
    KIN_RETURN_IF_ERROR(check_memory());
    if (options_.contains) {
      KIN_RETURN_IF_ERROR(times_.enter("references"));
      const auto check = [&](std::uint64_t bytes) {
        needs_.references = bytes;
        return check_memory();
      };
      KIN_TRY(contains_, ContainIndex::open(options_, folder_->path(), check, &progress_.work));
      memory_.hold(needs_.references);
      options_.threads = threads_for_memory(options_.threads, own_memory());
      report_.against.records = contains_->size();
      report_.against.short_ones = contains_->short_ones();
    }
    dataset().limit_memory(std::max(needs_.scan, scanner_memory()));
    return folder_options.resume ? take_up() : Status(Done{});
  }

  data::Dataset& dataset() { return inputs_->dataset(); }
  const data::Dataset& dataset() const { return inputs_->dataset(); }

  std::uint64_t scanner_memory() {
    const auto rows = dataset().rows();
    return rows ? budget_.scanner(options_, *rows) : budget_.reader;
  }

  // What readers and the writer need, as far as that is known.
  Status note_io_needs() { return measure_io(job_, options_, dataset(), inputs_->own(), needs_); }

  // An error if the budget is too small. It is found out before what would do.
  Status check_memory() {
    if (check_needs(options_, needs_)) return Done{};
    free_scan();
    KIN_RETURN_IF_ERROR(measure_records(inputs_->files(), options_, folder_->path(), needs_));
    if (options_.contains && needs_.references == 0) {
      KIN_TRY(needs_.references, ContainIndex::measure(options_, folder_->path()));
    }
    return check_needs(options_, needs_);
  }

  void free_scan() {
    scan_.reset();
    ::malloc_trim(0);
  }

  // A run that met what is too long for it looks how long the longest is, to say what would do.
  Error explain(Error error) {
    const bool text = scan_ && scan_->met_too_long_text;
    if (!text && dataset().longest_record() <= longest_record()) return error;
    free_scan();
    const Status measured = measure_records(inputs_->files(), options_, folder_->path(), needs_);
    return measured ? explain_too_long(options_, needs_, std::move(error)) : error;
  }

  std::uint64_t longest_record() const {
    return scan_room(own_memory(), options_.threads) / kRecordCopies;
  }

  data::DatasetOptions dataset_options(std::uint64_t memory) const {
    data::DatasetOptions how;
    how.threads = options_.threads;
    how.memory_bytes = memory;
    how.temporary_folder = folder_->path();
    how.longest_record = longest_record();
    how.long_records = scan_room(own_memory(), options_.threads) / sketch_copies(options_);
    // References and inputs would share the pages, but not the memory for them.
    if (inputs_->reference_files() == 0) how.kept_pages = kept_pages_;
    return how;
  }

  Status take_up() {
    // What is decided no longer depends on the set, to which this run may have begun to add.
    auto found = load_checkpoint(folder_->path(), run_hash_);
    if (!found) found = load_checkpoint(folder_->path(), scan_hash());
    if (!found) return found.error();
    if (!*found) return Done{};
    checkpoint_ = std::move(**found);
    KIN_RETURN_IF_ERROR(verify_digests(inputs_->files(), checkpoint_.digests));
    report_.resumed = true;
    dataset().restore(checkpoint_.dataset);
    if (checkpoint_.stage != Checkpoint::Stage::kDecided) return Done{};
    KIN_TRY(removals_, restore_decisions(folder_->path(), checkpoint_, sources_));
    records_ = checkpoint_.position.row;
    classes_.emplace(Classes::distinct(records_));
    decided_ = true;
    restore_counts(checkpoint_.decided, report_);
    note_scan(checkpoint_.counts, report_);
    return settle_threads(checkpoint_.counts[6]);
  }

  // The scan depends on the seen set, so a set that has grown makes another run.
  std::uint64_t scan_hash() const {
    return seen_ ? run_hash_ ^ mix64(seen_->len() + 1) : run_hash_;
  }

  Status scan() {
    KIN_RETURN_IF_ERROR(times_.enter("scan"));
    if (!report_.resumed && !options_.append) KIN_RETURN_IF_ERROR(check_signature_store(options_));
    KIN_TRY(scan_,
            Scan::create(options_, {.spills = budget_.spills, .signatures = budget_.signatures},
                         folder_->path(), sources_));
    if (report_.resumed) {
      KIN_RETURN_IF_ERROR(restore_scan(folder_->path(), checkpoint_, *scan_));
    } else if (scan_->signatures) {
      KIN_RETURN_IF_ERROR(scan_->signatures->clear());
    }
    checkpoint_.run = scan_hash();
    scan_->work = &progress_.work;
    if (known_) progress_.work.plan({9, 1});
    begin_bytes(scan_->counts.input_bytes);
    while (!checkpoint_.scanned) {
      const SteadyTime begun = clock_.steady_now();
      const std::uint64_t documents = scan_->counts.documents;
      // Only after some records, so that every round gets on.
      const auto pause = [&] {
        if (progress_.stop) return true;
        return is_resumable(job_) && scan_->counts.documents > documents &&
               clock_.seconds_since(begun) >= options_.checkpoint_seconds;
      };
      const auto scanned = scan_records(dataset(), options_,
                                        {.start = checkpoint_.position,
                                         .pause = pause,
                                         .seen = seen_.get(),
                                         .contains = contains_.get(),
                                         .reference_files = inputs_->reference_files(),
                                         .records = &progress_.records,
                                         .text_room = scan_room(own_memory(), options_.threads)},
                                        *scan_);
      if (!scanned) return explain(scanned.error());
      const data::ScanEnd& end = *scanned;
      checkpoint_.position = end.position;
      checkpoint_.scanned = end.finished;
      merge_found(end.found, checkpoint_.found);
      if (clock_.seconds_since(begun) >= options_.checkpoint_seconds) {
        KIN_RETURN_IF_ERROR(save_progress());
      }
      if (progress_.stop) return StageTimes::stopped();
    }
    records_ = checkpoint_.position.row;
    scan_->order.set_references(inputs_->references());
    if (known_) KIN_RETURN_IF_ERROR(known_->add_keys(options_, budget_.stage, *scan_));
    note_scan(scan_->counts.values(), report_);
    progress_.records = records_;
    KIN_RETURN_IF_ERROR(check_records(inputs_->own(), records_ - inputs_->references()));
    KIN_RETURN_IF_ERROR(check_found(inputs_->own(), options_, checkpoint_.found));
    KIN_RETURN_IF_ERROR(make_room());
    dataset().limit_memory(memory_.beside_keys(records_));
    return Done{};
  }

  // Later stages hold long texts several times, so that fewer threads work on them.
  Status settle_threads(std::uint64_t heaviest) {
    needs_.heaviest_text = heaviest;
    needs_.longest_record = dataset().longest_record();
    KIN_RETURN_IF_ERROR(note_io_needs());
    KIN_RETURN_IF_ERROR(check_memory());
    threads_asked_ = options_.threads;
    options_.threads = threads_for_text(options_.threads, own_memory(), heaviest, tables());
    return Done{};
  }

  // The stage reads all inputs, so many bytes of which an earlier run has read.
  void begin_bytes(std::uint64_t done) {
    std::uint64_t bytes = 0;
    for (const data::Input& input : inputs_->files()) bytes += input.bytes;
    progress_.work.phase(bytes);
    progress_.work.add(done);
  }

  Status save_progress() {
    if (!is_resumable(job_)) return Done{};
    checkpoint_.dataset = dataset().memory();
    KIN_RETURN_IF_ERROR(note_inputs());
    KIN_RETURN_IF_ERROR(save_scan(folder_->path(), checkpoint_, *scan_));
    folder_->keep_for_resume();
    return Done{};
  }

  Status note_inputs() {
    return extend_digests(inputs_->files(), checkpoint_.position, checkpoint_.digests);
  }

  std::uint64_t tables() const { return memory_.tables(records_); }

  std::uint64_t fixed() const { return kFixedBytes + memory_.held(); }

  // An error if the budget is too small for this many records.
  Status check_rows(std::uint64_t rows) {
    records_ = rows;
    needs_.records = rows;
    KIN_RETURN_IF_ERROR(check_records(dataset(), rows));
    return check_memory();
  }

  Status make_room() {
    KIN_RETURN_IF_ERROR(check_rows(records_));
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
    KIN_TRY(const RecordSet wanted, texts_wanted(*scan_, *classes_, *candidates_, names_removed()));
    texts_memory_ = memory_of_texts(wanted.count());
    KIN_RETURN_IF_ERROR(open_texts());
    dataset().limit_memory(memory_.for_texts(records_) - texts_memory_);
    progress_.work.phase(0);  // unless there are texts to read
    if (wanted.count() > 0)
      KIN_RETURN_IF_ERROR(collect_texts(dataset(), options_, *classes_, wanted, *kept_));

    KIN_RETURN_IF_ERROR(times_.enter("verify"));
    KIN_TRY(std::vector<Removal> removals,
            group_candidates({.candidates = *candidates_,
                              .classes = *classes_,
                              .scan = *scan_,
                              .texts = *kept_->texts,
                              .fixed_memory = fixed() + texts_memory_ + make_room_for_pairs()},
                             options_, budget_.stage, group_counts_));
    note_pairs(candidates_->counts, group_counts_, report_);
    // Here, so that references have their chunks and copies go for them; below, for references that
    // are copies.
    drop_references(scan_->order, removals);
    if (options_.detectors.chunk) KIN_RETURN_IF_ERROR(add_chunk_duplicates(removals, wanted));
    removals_ = expand_classes(*classes_, removals);
    drop_references(scan_->order, removals_);
    KIN_RETURN_IF_ERROR(add_left_out(*scan_, records_, removals_));
    progress_.duplicates = removals_.size();
    report_.bytes_spilled = scan_->exact.bytes_on_disk() + scan_->words.bytes_on_disk() +
                            scan_->bands.bytes_on_disk() + scan_->chunks.bytes_on_disk();
    checkpoint_.counts = scan_->counts.values();
    candidates_.reset();
    evidence_ = std::move(scan_->evidence);
    scan_.reset();
    ::malloc_trim(0);
    // Ids are added to the set while the outputs are there already: a run that is killed then has
    // to find what it decided before it knew them.
    const bool worth_saving = seen_ || times_.seconds() >= options_.checkpoint_seconds;
    if (!worth_saving || !is_resumable(job_)) return Done{};
    checkpoint_.run = run_hash_;
    checkpoint_.dataset = dataset().memory();
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

  // Pages that are kept go where pairs need their memory. Returns what the rest of them takes.
  std::uint64_t make_room_for_pairs() {
    kept_pages_->limit(
        memory_.beside_pairs(records_, candidates_->pair_bytes(), fixed() + texts_memory_));
    return kept_pages_->bytes();
  }

  // What so many texts may take before they go to the disk.
  std::uint64_t memory_of_texts(std::uint64_t texts) const {
    const ScanCounts& counts = scan_->counts;
    const std::uint64_t mean = counts.text_bytes / std::max<std::uint64_t>(counts.documents, 1);
    constexpr std::uint64_t kFrame = 32;
    return memory_.of_texts(records_, texts * (mean + mean / 4 + kFrame), kept_pages_->bytes(),
                            memory_.beside_pairs(records_, candidates_->pair_bytes(), fixed()));
  }

  // Whether an output has the texts or the ids of removed records.
  bool names_removed() const {
    if (options_.dry_run) return false;
    const bool ids = removed_output_of(job_) || job_.groups_output;
    return (job_.audit == Audit::kFull && removed_output_of(job_)) ||
           (ids && options_.id_column.has_value());
  }

  std::uint64_t mean_text_bytes() const {
    return report_.text_bytes / std::max<std::uint64_t>(records_, 1);
  }

  Status open_texts() {
    const bool with_ids = options_.id_column.has_value();
    KIN_TRY(KeptTexts kept, make_kept_texts({.folder = folder_->path(),
                                             .with_ids = with_ids,
                                             .memory = texts_memory_,
                                             .mean_bytes = mean_text_bytes()}));
    kept.work = &progress_.work;
    kept_.emplace(std::move(kept));
    return Done{};
  }

  Status add_chunk_duplicates(std::vector<Removal>& removals, const RecordSet& have) {
    KIN_RETURN_IF_ERROR(times_.enter("chunks"));
    progress_.work.plan({2, 1});
    KIN_TRY(ChunkOutcome outcome,
            find_chunk_duplicates({*scan_, *classes_, removals, folder_->path()}, options_,
                                  budget_.stage));
    report_.linked = outcome.linked;
    progress_.work.phase(0);
    const RecordSet missing = texts_missing(outcome.removals, *classes_, have);
    if (names_removed() && missing.count() > 0) {
      KIN_RETURN_IF_ERROR(collect_texts(dataset(), options_, *classes_, missing, *kept_));
    }
    removals.insert(removals.end(), outcome.removals.begin(), outcome.removals.end());
    std::sort(removals.begin(), removals.end(),
              [](const Removal& a, const Removal& b) { return a.record < b.record; });
    return Done{};
  }

  // Finds what is to be cut out of the records that stay. Begun again by a run that resumes.
  Status cut() {
    std::optional<RecordSet> keep;
    if (removes_records(options_)) keep = kept_records(removals_, dataset(), records_);
    dataset().limit_memory(std::max(needs_.scan, budget_.reader));
    auto cut = CutStage::run({.dataset = dataset(),
                              .options = options_,
                              .keep = keep ? &*keep : nullptr,
                              .folder = folder_->path(),
                              .spill_memory = budget_.spills,
                              .stage_memory = budget_.stage,
                              .work = &progress_.work,
                              .enter = [&](const char* stage) { return times_.enter(stage); },
                              .check_rows = [&](std::uint64_t rows) { return check_rows(rows); },
                              .sources = &sources_,
                              .stop = &progress_.stop});
    if (!cut) return explain(cut.error());
    cut_ = std::move(*cut);
    cut_->count(report_);
    if (keep) return Done{};
    classes_.emplace(Classes::distinct(records_));
    return open_texts();
  }

  // Adds the records that stay to those of earlier runs. They count when the outputs are in place:
  // a run that is killed between the two is run again with the same result.
  Status add_known() {
    if (options_.dry_run) return Done{};
    KIN_RETURN_IF_ERROR(times_.enter("append"));
    dataset().limit_memory(budget_.reader);
    const RecordSet keep = kept_records(removals_, dataset(), records_);
    return known_->add(inputs_->own(), inputs_->own_rows(keep), options_, &progress_.work);
  }

  // Ids are added only when the outputs are in place: a run that is killed earlier adds none.
  Status record_ids() {
    if (!seen_ || options_.dry_run) return Done{};
    KIN_RETURN_IF_ERROR(times_.enter("record"));
    return seen_->record(dataset(), progress_);
  }

  // Writes every output under a temporary name, then renames all of them.
  Status write() {
    KIN_RETURN_IF_ERROR(times_.enter("write"));
    RecordSet keep = kept_records(removals_, dataset(), records_);
    if (cut_) drop_emptied(cut_->emptied(), keep, sources_);
    count_removals(removals_, dataset(), records_,
                   {.rows = inputs_->references(), .files = inputs_->reference_files()}, sources_,
                   report_);
    if (cut_) count_emptied(cut_->emptied(), dataset(), report_);
    if (options_.dry_run) return Done{};
    std::optional<Tags> tags;
    if (options_.tag) {
      tags.emplace(*options_.tag, removals_, inputs_->references());
      for (const Removal& removal : removals_) keep.insert(removal.record);
    }

    if (decided_ && names_removed()) progress_.work.plan({1, 2});
    if (decided_) KIN_RETURN_IF_ERROR(names_removed() ? read_texts_again() : open_texts());
    const AuditInput input{.removals = removals_,
                           .classes = *classes_,
                           .kept = *kept_,
                           .dataset = dataset(),
                           .options = options_,
                           .mean_text_bytes = mean_text_bytes(),
                           .with_texts = job_.audit == Audit::kFull,
                           .references = inputs_->references(),
                           .contains = contains_.get(),
                           .evidence = evidence_.get(),
                           .work = &progress_.work};
    KIN_TRY(const auto audit, AuditFiles::create(input, {.removed = removed_output_of(job_),
                                                         .groups = job_.groups_output,
                                                         .temporary_folder = folder_->path(),
                                                         .memory_bytes = budget_.reader}));
    const auto cut_log = cut_output_of(job_);
    if (cut_log) KIN_RETURN_IF_ERROR(cut_->open_log(*cut_log));
    const auto write_logs = [&]() -> Status {
      if (cut_) KIN_RETURN_IF_ERROR(cut_->work());
      return audit->work();
    };
    data::WriteOptions how{
        .threads = options_.threads, .format = job_.format, .beside = write_logs};
    how.written = [&](std::uint64_t records) { progress_.work.add(records); };
    progress_.work.phase(keep.count() - inputs_->references() +
                         (removed_output_of(job_) ? removals_.size() : 0));
    std::optional<data::ShiftedEdits> edits;
    if (cut_) how.edits = cut_->edits();
    if (tags) how.edits = &edits.emplace(*tags, inputs_->references());
    // Where the tables take much of the memory, they have to go before the output is written.
    const auto for_writer = [&] {
      return memory_.for_writer(records_, kept_pages_->bytes(), texts_memory_);
    };
    KIN_RETURN_IF_ERROR(note_io_needs());
    if (tables() >= own_memory() / 4 || for_writer() < writer_bytes(needs_)) {
      KIN_RETURN_IF_ERROR(run_workers(options_.threads, [&](int) { return write_logs(); }));
      KIN_RETURN_IF_ERROR(close_texts());
      how.beside = nullptr;
    }
    const data::DatasetOptions writer =
        dataset_options(std::max(for_writer(), writer_bytes(needs_)));
    KIN_RETURN_IF_ERROR(inputs_->open(writer));
    KIN_RETURN_IF_ERROR(
        outputs_->write(inputs_->own(), inputs_->own_rows(keep), how, writer, report_.notes));
    kept_pages_->limit(0);
    if (kept_) KIN_RETURN_IF_ERROR(close_texts());
    // Both wait for the device.
    KIN_RETURN_IF_ERROR(
        run_workers(2, [&](int which) { return which == 0 ? audit->finish() : outputs_->sync(); }));
    report_.quarantine = outputs_->quarantine();
    KIN_RETURN_IF_ERROR(data::check_unchanged(inputs_->files()));
    KIN_RETURN_IF_ERROR(outputs_->commit_quarantine());
    KIN_RETURN_IF_ERROR(audit->commit());
    if (cut_) KIN_RETURN_IF_ERROR(cut_->commit());
    return outputs_->commit();
  }

  // Frees the texts after their last use.
  Status close_texts() {
    KIN_RETURN_IF_ERROR(name_largest_groups(*kept_, report_));
    report_.cold_read_errors += kept_->texts->stats().read_errors;
    if (kept_->ids) report_.cold_read_errors += kept_->ids->stats().read_errors;
    KIN_RETURN_IF_ERROR(check_read_errors());
    kept_.reset();
    texts_memory_ = 0;
    classes_.reset();
    ::malloc_trim(0);
    return Done{};
  }

  Status read_texts_again() {
    KIN_RETURN_IF_ERROR(open_texts());
    return collect_texts(dataset(), options_, *classes_, named_records(removals_, records_),
                         *kept_);
  }

  void finish_report() {
    report_.stage_seconds = times_.finish();
    report_.options = options_;
    report_.options.threads = threads_asked_;
    report_.dry_run = options_.dry_run;
    if (!options_.dry_run) report_.output = job_.output.string();
    if (const auto removed = removed_output_of(job_)) report_.removed_output = removed->string();
    if (const auto log = cut_output_of(job_)) report_.cut.log = log->string();
    describe_inputs(*inputs_, report_);
    if (known_) report_.against.files = {options_.signature_store->string()};
    report_.seconds = times_.seconds();
    report_.peak_memory = peak_resident_bytes();
    add_warnings(report_);
  }

  std::uint64_t own_memory() const { return memory_.own(); }

  const DedupJob& job_;
  DedupOptions options_;
  Progress& progress_;
  Clock& clock_;
  StageTimes times_;
  RunMemory memory_;
  const Budget& budget_ = memory_.shares();
  DedupReport report_;
  MemoryNeeds needs_;
  std::optional<WorkFolder> folder_;
  std::optional<RecordOutputs> outputs_;
  std::unique_ptr<KnownRecords> known_;
  std::optional<RunInputs> inputs_;
  std::shared_ptr<data::KeptPages> kept_pages_ = std::make_shared<data::KeptPages>();
  std::unique_ptr<ContainIndex> contains_;
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
  std::uint64_t texts_memory_ = 0;  // that kept_ may take
  GroupCounts group_counts_;
  std::vector<Removal> removals_;
  std::unique_ptr<store::KeptValues> evidence_;
  std::unique_ptr<CutStage> cut_;
};

}  // namespace

Result<DedupReport> run_dedup(const DedupJob& job, Progress& progress, Clock& clock) {
  Run run(job, progress, clock);
  KIN_TRY(DedupReport report, run.run());
  if (job.report_output)
    KIN_RETURN_IF_ERROR(data::write_json(*job.report_output, to_json(report, 2) + "\n"));
  return report;
}

}  // namespace kin::dedup
