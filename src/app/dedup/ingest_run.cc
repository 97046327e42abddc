#include "app/dedup/ingest_run.h"

#include <fmt/format.h>

#include "app/command.h"
#include "app/dedup/metrics.h"
#include "app/fingerprints/stores.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/remote_access.h"
#include "app/words.h"
#include "base/hash.h"
#include "data/line_output.h"
#include "data/remote_files.h"

namespace kin::app {
namespace {

using dedup::Action;
using dedup::IngestReport;

// Local stores get one in so many bytes of --max-memory. Readers and the writer get half of it.
constexpr std::uint64_t kStoresShare = 3;

// The flag that a run against shared stores does not support.
std::optional<std::string_view> refused_flag(const dedup::DedupJob& job) {
  const dedup::DedupOptions& options = job.options;
  if (options.dry_run) return "--dry-run";
  if (options.signature_store) return "--signature-store";
  if (!options.against.empty()) return "--against";
  if (options.tag) return "--tag";
  if (options.cut) return "--by lines, paragraphs or substring";
  if (options.skip_seen) return "--skip-seen";
  if (job.groups_output) return "--groups";
  if (options.keep.kind != dedup::KeepPolicy::Kind::kFirst) return "--keep";
  if (options.grouping != dedup::Grouping::kStar) return "--group";
  return std::nullopt;
}

// Distinguishes the parts of a run, and is the same when a part is run again.
std::string default_worker(const dedup::DedupJob& job) {
  std::string all = job.output.string();
  for (const std::string& input : job.inputs) all += '\n' + input;
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash64(all)));
}

std::string summary(const IngestReport& report) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    add_row(text, name, value);
  };
  line("run", report.run);
  line("records", with_commas(report.documents));
  std::string kept = with_commas(report.count(Action::kKeep) + report.count(Action::kKeepLink));
  if (report.count(Action::kKeepLink) > 0)
    kept +=
        fmt::format(", {} of them linked by chunks", with_commas(report.count(Action::kKeepLink)));
  line("kept", kept);
  std::string dropped = with_commas(report.count(Action::kDrop));
  if (report.cross_source > 0)
    dropped += fmt::format(", {} of them for another source", with_commas(report.cross_source));
  line("dropped", dropped);
  line("skipped", fmt::format("{} that the ledger had", with_commas(report.count(Action::kSkip))));
  if (report.repeated > 0)
    line("again", fmt::format("{} decided by an earlier attempt", with_commas(report.repeated)));
  if (report.lost_races > 0)
    line("races", fmt::format("{} lost to other workers", with_commas(report.lost_races)));
  if (report.skipped > 0)
    line("unreadable", fmt::format("{}, in {}", with_commas(report.skipped), report.quarantine));
  if (!report.log.empty()) line("why", report.log);
  line("time", fmt::format("{:.1f} s", report.seconds));
  for (const std::string& note : report.notes) line("note", note);
  return text;
}

}  // namespace

void add_ingest_flags(Verb verb, IngestFlags& flags) {
  verb.group_options("Stores that runs share");
  const Option config = verb.add_option("--config", flags.config,
                                  "Settings of stores that runs share (docs/operations.md)")
                      .type_name("FILE");
  verb.add_option("--run", flags.run, "Name of this run in the ledger; needed by --config")
      .type_name("RUN")
      .needs(config);
  verb.add_option("--worker", flags.worker,
                  "Name of this part of the run (default: made of the inputs and the output)")
      .type_name("NAME")
      .needs(config);
  verb.add_option("--source-name", flags.source_name,
                  "Source of all records, instead of a --source column; for --config")
      .type_name("NAME")
      .needs(config);
  verb.add_option("--metrics", flags.metrics,
                  "Write the figures of a run with --config: .json for CloudWatch's embedded "
                  "metric format, otherwise Prometheus' text")
      .type_name("FILE")
      .needs(config);
}

Result<int> run_ingest_job(const dedup::DedupJob& job, const IngestFlags& flags,
                           const IngestOutput& output, Verb verb) {
  if (const auto refused = refused_flag(job)) {
    return wrong_usage(
        {Code::kInvalidArgument, fmt::format("--config cannot be combined with {}", *refused)},
        verb);
  }
  if (!flags.run || flags.run->empty()) {
    return wrong_usage(
        {Code::kInvalidArgument, "--config needs a name for the run (use --run NAME)"}, verb);
  }
  KIN_TRY(const StoresConfig config, read_stores_config(*flags.config));
  if (job.options.resume && config.checkpoints.empty()) {
    return wrong_usage({Code::kInvalidArgument,
                        fmt::format("--resume with --config needs checkpoints: in {} (or run it "
                                    "again with the same inputs, output and --run instead)",
                                    flags.config->string())},
                       verb);
  }
  KIN_TRY(const OpenedStores stores,
          open_stores(config, dedup::fingerprint_parameters(job.options), system_clock(),
                      job.options.max_memory / kStoresShare));
  dedup::IngestJob ingest;
  ingest.dedup = job;
  KIN_TRY(RemoteAccess remote,
          RemoteAccess::for_job(ingest.dedup, data::is_remote(config.checkpoints)));
  ingest.run = *flags.run;
  ingest.worker = flags.worker.value_or(default_worker(job));
  ingest.named_worker = flags.worker.has_value();
  ingest.checkpoints = config.checkpoints;
  ingest.source_name = flags.source_name;
  ingest.type_column = config.type_column;
  ingest.language_column = config.language_column;
  ingest.priorities = config.priorities;
  dedup::Progress progress;
  const StopSignals signals(progress.stop);
  auto report = [&] {
    const ProgressLine line(progress, !output.quiet && !output.json, output.progress_seconds);
    return run_ingest(ingest, {*stores.fingerprints, *stores.ledger}, progress, system_clock());
  }();
  if (!report)
    return unfinished(remote.shown(report.error()), signals,
                      {.go_on = "run it again with the same --run"});
  report->stores.requests = stores.requests->counts();
  if (stores.cache != nullptr) report->stores.cache = stores.cache->counts();
  if (flags.metrics)
    KIN_RETURN_IF_ERROR(write_metrics(*flags.metrics, *report, system_clock().now()));
  const std::string json = to_json(*report, 2) + "\n";
  if (ingest.dedup.report_output) {
    KIN_RETURN_IF_ERROR(data::write_json(*ingest.dedup.report_output, json));
    KIN_RETURN_IF_ERROR(remote.publish());
  }
  std::FILE* to = job.output == "-" ? stderr : stdout;
  if (output.json) {
    KIN_RETURN_IF_ERROR(print(json, to));
  } else if (!output.quiet) {
    KIN_RETURN_IF_ERROR(print(summary(*report), to));
  }
  return kDone;
}

}  // namespace kin::app
