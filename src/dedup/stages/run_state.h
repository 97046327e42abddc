// The state that the stages of a run share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "data/dataset.h"
#include "dedup/against/run_inputs.h"
#include "dedup/cut/stage.h"
#include "dedup/groups/grouping.h"
#include "dedup/known/records.h"
#include "dedup/output/checkpoint.h"
#include "dedup/output/record_outputs.h"
#include "dedup/output/stage_times.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/pairs/texts.h"
#include "dedup/progress.h"
#include "dedup/report.h"
#include "dedup/run.h"
#include "dedup/scan/contains.h"
#include "dedup/scan/scan.h"
#include "dedup/scan/seen_ids.h"
#include "dedup/scan/sources.h"
#include "dedup/spill/budget.h"
#include "dedup/spill/run_memory.h"
#include "dedup/work_folder.h"

namespace kin::dedup {

// One run. Each stage keeps here what the next one needs, and frees the rest. One thread only,
// except for members that say otherwise.
struct RunState {
  RunState(const DedupJob& job_to_do, Progress& shown, Clock& clock_to_use);
  RunState(const RunState&) = delete;

  data::Dataset& dataset() { return inputs->dataset(); }
  const data::Dataset& dataset() const { return inputs->dataset(); }
  data::DatasetOptions dataset_options(std::uint64_t memory_bytes) const;
  // Identifies the scan for a resume: it changes with the inputs and with the seen set. The scan
  // depends on the set, the decisions do not.
  std::uint64_t scan_hash() const;
  Status note_inputs() {
    return extend_digests(inputs->files(), checkpoint.position, checkpoint.digests);
  }

  // Whether an output contains the texts or the ids of removed records.
  bool names_removed() const;
  std::uint64_t mean_text_bytes() const;
  // Open the storage of the texts to keep before they are read; free it after their last use.
  Status open_texts();
  Status close_texts();

  const Budget& budget() const { return memory.shares(); }
  std::uint64_t own_memory() const { return memory.own(); }
  std::uint64_t text_room() const {
    return scan_room(options, needs, own_memory(), options.threads);
  }
  // Memory that grows with the records, and memory that does not.
  std::uint64_t tables() const { return memory.tables(records); }
  std::uint64_t fixed() const { return kFixedBytes + memory.held(); }
  // Notes the memory of readers and the writer, as far as it is known.
  Status note_io_needs() { return measure_io(job, options, dataset(), inputs->own(), needs); }
  // An error if the budget is too small; it names a sufficient budget. Frees the scan then.
  Status check_memory();
  // The same for this many records.
  Status check_rows(std::uint64_t rows);
  // The same for texts of this weight. Later stages hold several copies of long texts, so fewer
  // threads work on them.
  Status settle_threads(std::uint64_t heaviest);
  // The error of a scan; if a record was too long, with a sufficient budget.
  Error explain(Error error);
  Status check_read_errors() const;

  const DedupJob& job;
  DedupOptions options;
  Progress& progress;
  Clock& clock;
  StageTimes times;
  RunMemory memory;
  DedupReport report;
  MemoryNeeds needs;
  std::optional<WorkFolder> folder;
  std::optional<RecordOutputs> outputs;
  std::unique_ptr<KnownRecords> known;
  std::optional<RunInputs> inputs;
  std::shared_ptr<data::KeptPages> kept_pages = std::make_shared<data::KeptPages>();
  std::unique_ptr<ContainIndex> contains;
  std::uint64_t run_hash = 0;
  int threads_asked = 0;
  Checkpoint checkpoint;
  bool decided = false;  // an earlier run has made the decisions
  std::unique_ptr<SeenIds> seen;
  Sources sources;
  std::unique_ptr<Scan> scan;
  std::size_t records = 0;
  std::optional<Classes> classes;
  std::optional<KeptTexts> kept;
  std::uint64_t texts_memory = 0;  // limit of the memory of `kept`
  std::vector<Removal> removals;
  std::unique_ptr<store::KeptValues> evidence;
  std::unique_ptr<CutStage> cut;
  std::atomic<bool> met_too_long_text{false};  // the reason why cutting failed

 private:
  std::uint64_t longest_record() const;
  void free_scan();
};

}  // namespace kin::dedup
