#include <fmt/format.h>

#include "app/command.h"
#include "app/dedup/flags.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/remote_access.h"
#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "dedup/plan.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred plan corpus.parquet -o clean.parquet
  kindred plan 'shards/*.jsonl.zst' --max-memory 4GiB --threads 16
  kindred plan corpus.jsonl -o /mnt/big/clean.jsonl --by exact,simhash --json

Takes the options of dedup and estimates the time, memory and disk of the run: from the headers of the
files, and by running the job on a sample of about 50 MB in a temporary folder beside the output. Nothing
else is written. Use the machine, and the load on it, that the run will have. The exit code is 1 if the run
would not fit into its memory or onto its disk.)";

struct PlanArguments {
  dedup::DedupJob job;
  DedupFlags flags;
  bool json = false;
};

std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : short_duration(seconds);
}

std::string stages(const dedup::Plan& plan) {
  std::string text;
  for (const auto& [stage, seconds] : plan.stage_seconds) {
    // Shorter times would be shown as 0.0 s.
    if (seconds < 0.05) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stage, seconds_text(seconds));
  }
  return text.empty() ? text : fmt::format(" ({})", text);
}

std::string format_plan(const dedup::Plan& plan) {
  std::string table;
  add_row(table, "input",
          fmt::format("{} in {} file{}", format_bytes(plan.input_bytes), plan.inputs.size(),
                      plan.inputs.size() == 1 ? "" : "s"));
  add_row(table, "documents",
          fmt::format("{}{}, {} of text each", plan.documents_exact ? "" : "about ",
                      with_commas(plan.documents),
                      format_bytes(plan.text_bytes / std::max<std::uint64_t>(plan.documents, 1))));
  add_row(table, "duplicates",
          fmt::format("about {} ({:.0f} %): {:.0f} % exact, {:.0f} % near",
                      with_commas(plan.removed), 100 * (plan.exact_share + plan.near_share),
                      100 * plan.exact_share, 100 * plan.near_share));
  add_row(table, "time",
          seconds_text(plan.seconds) + fmt::format(" on {} threads", plan.options.threads) +
              stages(plan));
  add_row(table, "memory",
          fmt::format("{}, of the {} allowed", format_bytes(plan.memory_bytes),
                      format_bytes(plan.options.max_memory)));
  add_row(table, "disk",
          fmt::format("{}: {} for output and audit log, {} of temporary files",
                      format_bytes(plan.disk_bytes()), format_bytes(plan.output_bytes),
                      format_bytes(plan.temporary_bytes)));
  add_row(table, "judged by",
          fmt::format("a sample of {} documents", with_commas(plan.sample_documents)));
  for (const std::string& note : plan.notes) add_row(table, "look at this", note);
  return table;
}

std::string plan_json(const dedup::Plan& plan) {
  JsonWriter json(2);
  json.begin_object().key("inputs").begin_array();
  for (const std::string& input : plan.inputs) json.value(input);
  json.end().field("input_bytes", plan.input_bytes).field("documents", plan.documents);
  json.field("documents_exact", plan.documents_exact).field("text_bytes", plan.text_bytes);
  json.field("sample_documents", plan.sample_documents);
  json.field("exact_duplicate_share", plan.exact_share);
  json.field("near_duplicate_share", plan.near_share).field("removed", plan.removed);
  json.field("seconds", plan.seconds).key("stage_seconds").begin_object();
  for (const auto& [stage, seconds] : plan.stage_seconds) json.field(stage, seconds);
  json.end().field("threads", plan.options.threads).field("memory_bytes", plan.memory_bytes);
  json.field("max_memory_bytes", plan.options.max_memory).field("disk_bytes", plan.disk_bytes());
  json.field("output_bytes", plan.output_bytes).field("temporary_bytes", plan.temporary_bytes);
  json.field("fits", plan.fits);
  json.field("options", describe(plan.options)).key("notes").begin_array();
  for (const std::string& note : plan.notes) json.value(note);
  return json.end().end().take();
}

Result<int> run_plan_command(PlanArguments& arguments, Verb verb) {
  return_freed_memory();  // as the run does
  const auto options = understand_pairs(arguments.flags);
  if (!options) return wrong_usage(options.error(), verb);
  arguments.job.options = *options;
  const auto remote = RemoteAccess::for_inputs(arguments.job.options, arguments.job.inputs);
  dedup::Progress progress;
  const StopSignals signals(progress.stop);
  Result<dedup::Plan> plan = [&] {
    const ProgressLine line(progress, !arguments.json);
    return dedup::make_plan(arguments.job, progress, system_clock());
  }();
  if (!plan) return unfinished(plan.error(), signals);
  KIN_RETURN_IF_ERROR(print(arguments.json ? plan_json(*plan) + "\n" : format_plan(*plan)));
  return plan->fits ? kDone : kFailed;
}

}  // namespace

Command add_plan_command(Verb app) {
  const Verb verb =
      app.add_subcommand("plan", "Predict the memory, disk and time that a dedup run needs");
  verb.footer(kExamples);
  const auto arguments = std::make_shared<PlanArguments>();
  verb.add_option("INPUT", arguments->job.inputs, "Files or globs, as for dedup").required();
  verb.add_option("-o,--output", arguments->job.output,
                  "Where the run would write, in a format by extension (default: the input's "
                  "format, on the disk for temporary files)")
      .type_name("OUTPUT");
  add_dedup_flags(verb, arguments->flags);
  verb.add_flag("--json", arguments->json, "Print the plan as JSON");
  return {verb, [arguments, verb] { return run_plan_command(*arguments, verb); }};
}

}  // namespace kin::app
