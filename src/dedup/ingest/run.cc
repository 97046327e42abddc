#include <fmt/format.h>

#include <algorithm>

#include "base/json_writer.h"
#include "base/workers.h"
#include "data/line_output.h"
#include "dedup/against/run_inputs.h"
#include "dedup/ingest.h"
#include "dedup/ingest/decider.h"
#include "dedup/ingest/handoff.h"
#include "dedup/ingest/run_checkpoint.h"
#include "dedup/ingest/taker.h"
#include "dedup/output/record_outputs.h"
#include "dedup/outputs.h"
#include "dedup/scan/columns.h"
#include "dedup/uploads.h"
#include "dedup/work_folder.h"

namespace kin::dedup {
namespace {

// Records that are decided together: enough for remote stores, and little memory.
constexpr std::size_t kBatchRecords = 4'096;
constexpr std::uint64_t kBatchBytes = std::uint64_t{32} << 20;

std::string log_line(const Taken& taken, const Decision& decision) {
  const auto write_existing = [](JsonWriter& json, const Existing& existing) {
    json.begin_object()
        .field("doc", to_string(existing.doc))
        .field("id", existing.key)
        .field("source", existing.source)
        .field("method", name_of(existing.method))
        .field("similarity", existing.similarity)
        .end();
  };
  JsonWriter json;
  json.begin_object()
      .field("row_id", row_number(taken.row))
      .field("where", taken.where)
      .field("id", taken.fingerprint.key)
      .field("source", taken.fingerprint.source)
      .field("doc", to_string(taken.fingerprint.doc))
      .field("action", name_of(decision.action))
      .field("reason", decision.reason);
  json.key("existing").begin_array();
  for (const Existing& existing : decision.existing) write_existing(json, existing);
  json.end();
  json.field("chunks", decision.chunks);
  return json.end().take() + "\n";
}

// A line in which every field has a value, for formats with columns.
std::string example_line() {
  Taken taken;
  taken.row = record_id(0);
  Decision decision;
  decision.existing.push_back({});
  decision.existing.back().similarity = 0.5;
  decision.chunks = {0};
  return log_line(taken, decision);
}

class Ingest {
 public:
  Ingest(const IngestJob& job, const IngestStores& stores, Progress& progress, Clock& clock)
      : job_(job),
        options_(job.dedup.options),
        meter_(clock),
        fingerprints_(store::measured(stores.fingerprints, meter_)),
        ledger_(store::measured(stores.ledger, meter_)),
        progress_(progress),
        clock_(clock),
        started_(clock.steady_now()) {}

  Result<IngestReport> run() {
    KIN_RETURN_IF_ERROR(open());
    KIN_RETURN_IF_ERROR(decide_all());
    KIN_RETURN_IF_ERROR(write());
    folder_->done();
    report_.stores = meter_.figures();
    report_.seconds = clock_.seconds_since(started_);
    return std::move(report_);
  }

 private:
  Status open() {
    if (options_.threads <= 0) options_.threads = available_cores();
    KIN_RETURN_IF_ERROR(validate(options_));
    KIN_RETURN_IF_ERROR(check_columns(fingerprints_->parameters(), options_));
    KIN_RETURN_IF_ERROR(check_outputs(job_.dedup));
    KIN_TRY(WorkFolder folder, WorkFolder::open(work_folder_of(job_.dedup)));
    folder_.emplace(std::move(folder));
    remove_leftovers(job_.dedup);
    KIN_TRY(RunInputs inputs,
            RunInputs::find(job_.dedup.inputs, options_, folder_->path(), report_.notes));
    inputs_.emplace(std::move(inputs));
    KIN_RETURN_IF_ERROR(check_outputs_against(job_.dedup, inputs_->files()));
    KIN_RETURN_IF_ERROR(open_checkpoint());
    KIN_RETURN_IF_ERROR(inputs_->open(dataset_options()));
    KIN_TRY(RecordOutputs outputs, RecordOutputs::open(job_.dedup, inputs_->own()));
    outputs_.emplace(std::move(outputs));
    KIN_RETURN_IF_ERROR(settle_columns(inputs_->dataset(), options_));
    if (job_.source_name) options_.source_column.reset();
    report_.run = job_.run;
    for (const data::Input& input : inputs_->files()) report_.inputs.push_back(input.shown_as);
    log_path_ = removed_output_of(job_.dedup);
    if (!log_path_) return Done{};
    data::LineOutputOptions log;
    log.target = *log_path_;
    log.temporary_folder = folder_->path();
    log.example = example_line();
    KIN_TRY(log_, data::LineOutput::create(std::move(log)));
    report_.log = shown_name(job_.dedup, *log_path_);
    return Done{};
  }

  Status open_checkpoint() {
    if (job_.checkpoints.empty()) return Done{};
    KIN_TRY(checkpoint_, RunCheckpoint::open(job_, inputs_->files(), clock_));
    // Records have the names that the first attempt gave them, in logs and as documents.
    job_.worker = checkpoint_->state().worker;
    inputs_->rename(checkpoint_->names());
    report_.attempt = checkpoint_->state().attempt;
    return Done{};
  }

  data::DatasetOptions dataset_options() const {
    data::DatasetOptions how;
    how.threads = options_.threads;
    how.memory_bytes = options_.max_memory / 2;
    how.temporary_folder = folder_->path();
    return how;
  }

  // One thread reads and sketches while another queries the stores.
  Status decide_all() {
    progress_.stage = "compare";
    std::uint64_t bytes = 0;
    for (const data::Input& input : inputs_->files()) bytes += input.bytes;
    progress_.work.begin();
    progress_.work.phase(bytes);
    Handoff<std::vector<Taken>> batches;
    const Status done = run_workers(2, [&](int worker) -> Status {
      // If both fail, the error of worker 0 is returned: that of the stores.
      if (worker == 1) {
        Status read = read_all(batches);
        batches.finish();
        return read;
      }
      Status decided = decide_each(batches);
      batches.stop();
      return decided;
    });
    report_.skipped = inputs_->dataset().skipped().count;
    return done;
  }

  Status read_all(Handoff<std::vector<Taken>>& batches) {
    RecordTaker taker(job_, options_);
    std::vector<Taken> pending;
    std::uint64_t pending_bytes = 0;
    data::ScanOptions scan;
    scan.columns = columns_of(job_, options_);
    scan.optional_columns = scan.columns.size();
    scan.threads = 1;  // records are decided in their order
    scan.on_error = options_.on_error;
    const auto visit = [&](const data::Batch& batch, int) -> Status {
      if (progress_.stop) return Error{Code::kCancelled, "stopped"};
      KIN_RETURN_IF_ERROR(taker.take(batch, clock_.now(), pending));
      pending_bytes += batch.bytes();
      progress_.work.add(batch.bytes());
      if (pending.size() < kBatchRecords && pending_bytes < kBatchBytes) return Done{};
      pending_bytes = 0;
      if (batches.put(std::exchange(pending, {}))) return Done{};
      return Error{Code::kCancelled, "stopped"};  // the other thread's error is the reason
    };
    KIN_RETURN_IF_ERROR(inputs_->dataset().scan(scan, visit));
    if (!pending.empty()) batches.put(std::move(pending));
    return Done{};
  }

  Status decide_each(Handoff<std::vector<Taken>>& batches) {
    Decider decider(job_, options_, {*fingerprints_, *ledger_}, clock_);
    while (const auto batch = batches.take()) {
      KIN_TRY(const auto decisions, decider.decide_batch(*batch, report_));
      KIN_RETURN_IF_ERROR(note(*batch, decisions));
      if (checkpoint_) KIN_RETURN_IF_ERROR(checkpoint_->add(*batch, report_));
    }
    return Done{};
  }

  Status note(const std::vector<Taken>& batch, const std::vector<Decision>& decisions) {
    std::string lines;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const bool kept =
          decisions[i].action == Action::kKeep || decisions[i].action == Action::kKeepLink;
      const std::size_t row = row_number(batch[i].row);
      if (kept_.size() <= row) kept_.resize(row + 1);
      kept_[row] = kept;
      const bool plain = decisions[i].action == Action::kKeep && decisions[i].reason.empty();
      if (log_ && !plain) lines += log_line(batch[i], decisions[i]);
      if (!kept) ++progress_.duplicates;
    }
    progress_.records += batch.size();
    return log_ && !lines.empty() ? log_->append(pieces_++, lines) : Status(Done{});
  }

  Status write() {
    progress_.stage = "write";
    progress_.work.begin();
    RecordSet keep(inputs_->dataset().rows().value_or(kept_.size()));
    for (std::size_t row = 0; row < kept_.size(); ++row) {
      if (kept_[row]) keep.insert(record_id(row));
    }
    data::WriteOptions how;
    how.threads = options_.threads;
    how.format = job_.dedup.format;
    how.written = [&](std::uint64_t records) { progress_.work.add(records); };
    progress_.work.phase(keep.count());
    KIN_RETURN_IF_ERROR(
        outputs_->write(inputs_->own(), keep, how, dataset_options(), report_.notes));
    if (log_) {
      KIN_RETURN_IF_ERROR(log_->finish());
      KIN_RETURN_IF_ERROR(log_->commit());
    }
    report_.quarantine = shown_name(job_.dedup, outputs_->quarantine());
    KIN_RETURN_IF_ERROR(data::check_unchanged(inputs_->files()));
    KIN_RETURN_IF_ERROR(outputs_->commit_quarantine());
    report_.output = shown_name(job_.dedup, job_.dedup.output);
    // Nobody else may have taken the run over when its outputs appear.
    if (checkpoint_) KIN_RETURN_IF_ERROR(checkpoint_->save(report_));
    KIN_RETURN_IF_ERROR(outputs_->commit());
    if (job_.dedup.uploads != nullptr) KIN_RETURN_IF_ERROR(job_.dedup.uploads->publish());
    return checkpoint_ ? checkpoint_->finish(report_) : Status(Done{});
  }

  IngestJob job_;
  DedupOptions options_;
  store::StoreMeter meter_;
  const std::unique_ptr<store::FingerprintStore> fingerprints_;
  const std::unique_ptr<store::Ledger> ledger_;
  Progress& progress_;
  Clock& clock_;
  SteadyTime started_;
  std::optional<WorkFolder> folder_;
  std::optional<RunInputs> inputs_;
  std::optional<RecordOutputs> outputs_;
  std::optional<std::filesystem::path> log_path_;
  std::unique_ptr<data::LineOutput> log_;
  std::unique_ptr<RunCheckpoint> checkpoint_;
  std::uint64_t pieces_ = 0;
  std::vector<bool> kept_;
  IngestReport report_;
};

}  // namespace

namespace {

void write_stores(JsonWriter& json, const store::StoreFigures& stores) {
  json.key("stores").begin_object().key("calls").begin_object();
  for (const auto& [name, figures] : stores.calls) {
    json.key(name)
        .begin_object()
        .field("calls", figures.calls)
        .field("failures", figures.failures)
        .field("items", figures.items)
        .field("seconds", figures.seconds);
    json.key("by_seconds").begin_object();
    for (std::size_t i = 0; i < figures.by_seconds.size(); ++i) {
      const bool last = i == store::kCallSeconds.size();
      json.field(last ? "longer" : fmt::format("{}", store::kCallSeconds[i]),
                 figures.by_seconds[i]);
    }
    json.end().end();
  }
  json.end()
      .field("documents_with_candidates", stores.documents_with_candidates)
      .key("hits")
      .begin_object()
      .field("content", stores.hits.content)
      .field("minhash", stores.hits.minhash)
      .field("simhash", stores.hits.simhash)
      .field("chunk", stores.hits.chunk)
      .end()
      .field("requests", stores.requests.requests)
      .field("retries", stores.requests.retries)
      .field("throttles", stores.requests.throttles)
      .field("in_flight_seconds", stores.requests.in_flight_seconds)
      .field("cache_hits", stores.cache.hits)
      .field("cache_misses", stores.cache.misses)
      .field("cache_failures", stores.cache.failures)
      .end();
}

}  // namespace

std::string to_json(const IngestReport& report, int indent) {
  JsonWriter json(indent);
  json.begin_object()
      .field("run", report.run)
      .field("inputs", report.inputs)
      .field("output", report.output)
      .field("log", report.log)
      .field("quarantine", report.quarantine)
      .field("documents", report.documents);
  for (const Action action : {Action::kKeep, Action::kDrop, Action::kKeepLink, Action::kSkip})
    json.field(name_of(action), report.count(action));
  json.key("dropped_by").begin_object();
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash})
    json.field(name_of(method), report.dropped_by[static_cast<std::size_t>(method)]);
  json.end();
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const std::uint64_t decided = report.documents - report.count(Action::kSkip);
  json.field("duplication_rate", share(report.count(Action::kDrop), decided))
      .field("cross_source_rate", share(report.cross_source, decided))
      .field("chunk_reuse_rate", share(report.reused_chunks, report.chunks))
      .field("cross_source", report.cross_source)
      .field("preferred", report.preferred)
      .field("repeated", report.repeated)
      .field("attempt", report.attempt)
      .field("lost_races", report.lost_races)
      .field("without_text", report.without_text)
      .field("skipped_unreadable", report.skipped)
      .field("chunks", report.chunks)
      .field("reused_chunks", report.reused_chunks)
      .field("candidates", report.candidates)
      .field("verified", report.verified)
      .field("seconds", report.seconds)
      .field("notes", report.notes);
  write_stores(json, report.stores);
  return json.end().take();
}

Result<IngestReport> run_ingest(const IngestJob& job, const IngestStores& stores,
                                Progress& progress, Clock& clock) {
  return Ingest(job, stores, progress, clock).run();
}

}  // namespace kin::dedup
