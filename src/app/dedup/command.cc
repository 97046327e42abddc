#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "app/checks.h"
#include "app/command.h"
#include "app/dedup/flags.h"
#include "app/dedup/ingest_run.h"
#include "app/dedup/sample_print.h"
#include "app/dedup/summary.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/remote_access.h"
#include "base/memory.h"
#include "data/dataset.h"
#include "dedup/outputs.h"
#include "dedup/run.h"
#include "dedup/sample.h"
#include "dedup/work_folder.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred dedup corpus.parquet -o clean.parquet
  kindred dedup 'shards/**/*.jsonl.zst' -o clean/ --max-memory 4GiB
  kindred dedup 's3://corpora/web/*.parquet' -o s3://corpora/clean/
  kindred dedup chats.jsonl -o clean.jsonl --field 'messages[].content'
  kindred dedup news.jsonl -o clean.jsonl --field title,body --keep oldest:published
  zcat dump.jsonl.gz | kindred dedup - -o - > clean.jsonl
  kindred dedup web.parquet -o clean.parquet --by exact,simhash --hamming 3
  kindred dedup corpus.jsonl --dry-run --json
  kindred dedup corpus.parquet --sample 10000 --threshold 0.7
  kindred dedup today.jsonl -o new.jsonl --id url --skip-seen crawl.seen
  kindred dedup web.jsonl -o clean.jsonl --by exact,lines --repeats 6
  kindred dedup web.parquet -o clean.parquet --by substring:50
  kindred dedup new.jsonl -o fresh.jsonl --against 'corpus/*.jsonl'
  kindred dedup web.jsonl -o clean.jsonl --by none --against benchmark.jsonl --contains 0.8
  kindred dedup web.jsonl -o tagged.jsonl --tag dup_
  kindred dedup monday.jsonl -o new.jsonl --signature-store seen/ --append
  kindred dedup monday.jsonl -o new.jsonl --config kindred.yaml --run monday

Writes the kept records in input order to OUTPUT, and the removed records, each with the record it
duplicates and their similarity, to OUTPUT's name + .removed.jsonl. With -o DIR/ each input has an
output of its own, with its place below the folder or glob that was named; the removed records are in
DIR.removed.jsonl. A run over folders reads every dataset file below them. Inputs are never changed.
Ctrl-C leaves nothing behind, unless there is a checkpoint for --resume.

--by lines and --by paragraphs cut lines or paragraphs that occur again anywhere in the corpus, compared
by their normalised text; --by substring:LENGTH cuts passages of at least LENGTH words, or bytes with b,
that occur again exactly. The first occurrence stays whole. Other detectors of --by remove whole records
before that. A record of which nothing is left is removed. OUTPUT's name + .cut.jsonl says what was cut,
and where the same text stays.

--against removes inputs that are duplicates of a reference; references always stay and are not
compared with each other. With --contains the references are looked for inside the inputs instead: an
input goes if it has at least that share of a reference's runs of 8 words. The audit log names the
reference and a passage of it.

--signature-store DIR --append is --against for runs that follow one another: DIR has the sketches and the
texts of all records that earlier runs kept, inputs that are duplicates of these are removed, and the
records that this run keeps are added when its outputs are in place. Nothing of the earlier runs is read
again but the texts that have to be compared. A killed run leaves DIR as it was: run it again. All runs need
the same --by, --field, --threshold and options of sketches.

--config asks stores that several runs share: documents that the ledger has are skipped, content that the
store of fingerprints has is dropped, and what is kept is added to both. A killed run is run again with the same
inputs and --run, and gives the same output. If FILE has a place for checkpoints, --resume takes a run over that was
begun on another machine, where the inputs may have other paths.

Inputs and outputs may be objects of S3, s3://BUCKET/NAME. AWS_ENDPOINT_URL_S3 names another store that speaks its
protocol; docs/operations.md has the rest.

--skip-seen first leaves out records whose id is in a seen set (kindred seen), and adds the ids of all
records once the outputs are in place. A run that is killed before that does not change the set: run it
again with --resume.)";

struct DedupArguments {
  dedup::DedupJob job;
  DedupFlags flags;
  std::optional<std::string> removed;
  std::string audit = "full";
  std::optional<std::string> skip_seen;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool resume = false;
  double checkpoint_seconds = 30;
  double progress_seconds = 30;
  std::optional<std::uint64_t> sample;
  std::uint64_t seed = 1;
  IngestFlags ingest;
};

void add_format_flags(Verb verb, DedupArguments& arguments) {
  using Packing = data::OutputFormat::Packing;
  static const std::map<std::string, Packing> kPackings = {{"none", Packing::kNone},
                                                           {"snappy", Packing::kSnappy},
                                                           {"gzip", Packing::kGzip},
                                                           {"zstd", Packing::kZstd},
                                                           {"lz4", Packing::kLz4}};
  std::vector<std::string> names;
  for (const auto& [name, packing] : kPackings) names.push_back(name);
  verb.add_option_function(
          "--compression",
          [&](const std::string& name) { arguments.job.format.compression = kPackings.at(name); },
          "Compression of a Parquet output (default: that of the input)")
      .type_name("none|snappy|gzip|zstd|lz4")
      .is_member(names);
  verb.add_option("--compression-level", arguments.job.format.level,
                  "Level of zstd (1 to 22) or gzip (1 to 12), for Parquet with --compression, .zst "
                  "and .gz outputs")
      .type_name("N");
  verb.add_option("--row-group-size", arguments.job.format.row_group_rows,
                  "Rows of a row group of a Parquet output (default: those of the input)")
      .type_name("ROWS");
}

// True if the run left a checkpoint for --resume.
bool has_checkpoint(const dedup::DedupJob& job) {
  if (!dedup::is_resumable(job)) return false;
  const auto folder = dedup::WorkFolder::path_of(dedup::work_folder_of(job));
  std::error_code ignored;  // an impossible path has no checkpoint
  return std::filesystem::exists(folder / dedup::kCheckpointName, ignored);
}

// Shows what would be removed. Outputs that the command names are not touched.
Result<int> run_sample_command(DedupArguments& arguments, const dedup::DedupOptions& options,
                               Verb verb) {
  dedup::DedupJob job = arguments.job;
  job.options = options;
  if (arguments.skip_seen) job.options.skip_seen = *arguments.skip_seen;
  const auto remote = RemoteAccess::for_inputs(job.options, job.inputs);
  dedup::Progress progress;
  const StopSignals signals(progress.stop);
  const auto report = [&] {
    const ProgressLine line(progress, !arguments.quiet && !arguments.json,
                            arguments.progress_seconds);
    return dedup::run_sample(job, {.records = *arguments.sample, .seed = arguments.seed}, progress,
                             system_clock());
  }();
  if (!report && report.error().message.starts_with("--sample"))
    return wrong_usage(report.error(), verb);
  if (!report) return unfinished(report.error(), signals, {});
  KIN_RETURN_IF_ERROR(print(arguments.json ? sample_json(*report) + "\n" : format_sample(*report)));
  return kDone;
}

Result<int> run_dedup_command(DedupArguments& arguments, Verb verb) {
  return_freed_memory();
  const auto options = understand(arguments.flags);
  if (!options) return wrong_usage(options.error(), verb);
  dedup::DedupJob& job = arguments.job;
  if (arguments.sample) return run_sample_command(arguments, *options, verb);
  if (job.output.empty() && !arguments.dry_run)
    return wrong_usage(
        {Code::kInvalidArgument, "no output: use -o OUTPUT, --dry-run or --sample N"}, verb);
  if (arguments.dry_run && (arguments.removed || job.groups_output || job.cut_output))
    return wrong_usage({Code::kInvalidArgument, fmt::format("--dry-run cannot be combined with {}",
                                                            arguments.removed   ? "--removed"
                                                            : job.groups_output ? "--groups"
                                                                                : "--cut-log")},
                       verb);
  if (arguments.resume && options->append) {
    return wrong_usage(
        {Code::kInvalidArgument,
         "--resume and --append cannot be combined (a killed run has changed nothing: "
         "run it again)"},
        verb);
  }
  job.options = *options;
  if (arguments.skip_seen) job.options.skip_seen = *arguments.skip_seen;
  // Again, because --skip-seen adds conditions, such as an id.
  if (const Status valid = dedup::validate(job.options); !valid.ok())
    return wrong_usage(valid.error(), verb);
  job.options.dry_run = arguments.dry_run;
  job.options.resume = arguments.resume;
  job.options.checkpoint_seconds = arguments.checkpoint_seconds;
  if (arguments.audit == "ids") job.audit = dedup::Audit::kIds;
  if (arguments.removed == "none") {
    job.audit = dedup::Audit::kNone;
  } else if (arguments.removed) {
    job.removed_output = *arguments.removed;
  }

  if (!arguments.dry_run) {
    // A folder has no type, and the run itself refuses an unknown extension: both are not checked
    // here.
    const auto type =
        job.output == "-" ? Result<data::FileType>(data::FileType{}) : data::file_type(job.output);
    if (const Status fits = type ? data::check_format(job.format, *type) : Status(Done{}); !fits)
      return wrong_usage(fits.error(), verb);
  }
  if (arguments.ingest.config) {
    return run_ingest_job(job, arguments.ingest,
                          {.json = arguments.json,
                           .quiet = arguments.quiet,
                           .progress_seconds = arguments.progress_seconds},
                          verb);
  }
  KIN_TRY(const RemoteAccess remote, RemoteAccess::for_job(job));
  if (!arguments.quiet && !arguments.json)
    job.foretell = [](const std::string& note) { say("note: " + note + "\n"); };

  dedup::Progress progress;
  const StopSignals signals(progress.stop);
  // The progress line ends before anything else is printed.
  Result<dedup::DedupReport> report = [&] {
    const ProgressLine line(progress, !arguments.quiet && !arguments.json,
                            arguments.progress_seconds);
    return dedup::run_dedup(job, progress, system_clock());
  }();
  if (!report)
    return unfinished(remote.shown(report.error()), signals,
                      {.go_on = has_checkpoint(job) ? "continue with --resume" : ""});
  if (!arguments.quiet) say(format_warnings(*report));
  // Standard output may already be used for records or logs.
  const bool taken = job.output == "-" || job.removed_output == "-" || job.groups_output == "-" ||
                     job.report_output == "-";
  std::FILE* to = taken ? stderr : stdout;
  if (arguments.json) {
    KIN_RETURN_IF_ERROR(print(to_json(*report, 2) + "\n", to));
  } else if (!arguments.quiet) {
    KIN_RETURN_IF_ERROR(print(format_summary(*report), to));
  }
  return kDone;
}

}  // namespace

Command add_dedup_command(Verb app) {
  const Verb verb = app.add_subcommand(
      "dedup", "Remove duplicates from datasets: exact and near, verified and explained");
  verb.footer(kExamples);
  const auto arguments = std::make_shared<DedupArguments>();
  verb.add_option("INPUT", arguments->job.inputs,
                  "Files, folders or globs (* ? [a-z], ** for any folders): .jsonl .ndjson .json "
                  ".csv .tsv (also .gz .zst .bz2 .xz), .parquet, in any mixture; - for JSONL on "
                  "standard input")
      .required();
  verb.group_options("Outputs");
  verb.add_option("-o,--output", arguments->job.output,
                  "File for the kept records, in the format of its extension; a folder "
                  "(DIR/) for one file for each input, of the same name and format; - for JSONL "
                  "on standard output")
      .type_name("OUTPUT");
  add_dedup_flags(verb, arguments->flags);
  add_run_flags(verb, arguments->flags);
  verb.group_options("Outputs");
  add_format_flags(verb, *arguments);
  verb.add_option("--removed", arguments->removed,
                  "The audit log, in the format of its extension; - for standard output; none for "
                  "no log (default: OUTPUT's name + .removed.jsonl)")
      .type_name("FILE");
  verb.add_option("--audit", arguments->audit,
                  "Contents of the audit log: full, or ids (without the texts)")
      .type_name("full|ids")
      .check(one_of({"full", "ids"}))
      .capture_default_str();
  verb.add_option("--groups", arguments->job.groups_output,
                  "Write a JSON object for each group: the kept row and its members")
      .type_name("FILE");
  verb.add_option("--cut-log", arguments->job.cut_output,
                  "Log of the text that was cut (default: OUTPUT's name + .cut.jsonl)")
      .type_name("FILE");
  verb.add_option("--quarantine", arguments->job.quarantine_output,
                  "File for the records that --on-error skip leaves out, byte for byte (default: "
                  "OUTPUT's name + .quarantine.txt)")
      .type_name("FILE");
  verb.add_option("--report", arguments->job.report_output, "Write the report as JSON")
      .type_name("FILE");
  verb.group_options("References");
  verb.add_option("--skip-seen", arguments->skip_seen,
                  "Seen set: leave out records whose --id is in it, then add the ids of this run; "
                  "created if it does not exist")
      .type_name("SET");
  add_ingest_flags(verb, arguments->ingest);
  verb.group_options("The run");
  verb.add_flag("--dry-run", arguments->dry_run,
                "Report what would be removed, without writing records");
  verb.add_option("--sample", arguments->sample,
                  "Show what would be removed from a sample of about N records: the share, and "
                  "pairs with their similarity and the words that differ; writes nothing")
      .type_name("N")
      .check(whole_number(2, 100'000'000));
  verb.add_option("--seed", arguments->seed, "Another seed samples other records")
      .type_name("N")
      .capture_default_str();
  verb.add_flag("--resume", arguments->resume, "Continue a killed run of the same command");
  verb.add_option("--checkpoint-every", arguments->checkpoint_seconds,
                  "Seconds between checkpoints for --resume")
      .type_name("SECONDS")
      .check(number(0, 1e9))
      .capture_default_str();
  verb.add_option("--progress-every", arguments->progress_seconds,
                  "Seconds between lines of progress where standard error is not a terminal; 0 for "
                  "none")
      .type_name("SECONDS")
      .check(number(0, 1e9))
      .capture_default_str();
  verb.add_flag("--json", arguments->json, "Print the report as JSON");
  verb.add_flag("--quiet", arguments->quiet, "Print nothing but errors");
  return {verb, [arguments, verb] { return run_dedup_command(*arguments, verb); }};
}

}  // namespace kin::app
