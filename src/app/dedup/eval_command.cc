#include <fmt/format.h>

#include "app/checks.h"
#include "app/command.h"
#include "app/dedup/flags.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/remote_access.h"
#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "dedup/evaluate.h"

namespace kin::app {
namespace {

using dedup::Evaluation;
using dedup::Method;

constexpr const char* kExamples = R"(
Examples:
  kindred eval corpus.parquet
  kindred eval news.jsonl --field title,body --threshold 0.7 --plant 5000
  kindred eval corpus.jsonl --preset fineweb --json

Takes a sample of the input, plants changed copies of its records (words replaced, added and left
out, headers, footers, sentences swapped, capitals and punctuation, the end cut off), deduplicates
sample and copies with the given options, and reports the share of planted pairs that was found and
the share of removed records whose similarity reaches the threshold. Similarities are exact and
computed independently of the run. The input is not changed.)";

struct EvalArguments {
  std::vector<std::string> inputs;
  DedupFlags flags;
  dedup::EvaluateOptions options;
  std::string sample = "32MiB";
  bool json = false;
};

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

// The similarity from which pairs are clearly above the threshold; nothing if that exceeds 1.
std::optional<double> clear_from(const Evaluation& result) {
  const double from = result.threshold + 0.05;
  // 0.95 + 0.05 may be a little more than 1.
  return from < 1 + 1e-9 ? std::optional(from) : std::nullopt;
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.4f}", ratio(part, whole));
}

std::string format_buckets(const Evaluation& result) {
  std::string table = fmt::format("  {:<12}{:>9}{:>9}{:>9}{:>10}{:>11}{:>12}\n", "similarity",
                                  "planted", "found", "recall", "expected", "removed", "precision");
  for (const Evaluation::Bucket& bucket : result.buckets) {
    table += fmt::format(
        "  {:<12}{:>9}{:>9}{:>9}{:>10}{:>11}{:>12}\n",
        fmt::format("{:.2f} - {:.2f}", bucket.low, bucket.high), with_commas(bucket.planted),
        with_commas(bucket.found + bucket.not_due), share(bucket.found, bucket.due),
        bucket.due == 0 ? "-"
                        : fmt::format("{:.4f}", bucket.expected / static_cast<double>(bucket.due)),
        with_commas(bucket.removed), share(bucket.removed - bucket.below, bucket.removed));
  }
  return table;
}

std::string format_edits(const Evaluation& result) {
  std::string table = "  recall by edit:";
  const char* comma = " ";
  for (const Evaluation::ByEdit& edit : result.edits) {
    if (edit.due == 0) continue;
    table += fmt::format("{}{} {}", comma, name_of(edit.edit), share(edit.found, edit.due));
    comma = ", ";
  }
  return table + "\n";
}

std::string format_evaluation(const Evaluation& result) {
  std::string text =
      fmt::format("{} pairs planted among {} records; threshold {}\n\n",
                  with_commas(result.planted), with_commas(result.records), result.threshold);
  text += format_buckets(result) + "\n" + format_edits(result);
  text += fmt::format("  recall         {:.4f} of the pairs at or above the threshold",
                      result.recall());
  if (const auto from = clear_from(result))
    text += fmt::format(", {:.4f} from {:.2f} on", result.recall(*from), *from);
  text += "\n";
  text += fmt::format("  precision      {:.4f}: {} removed, {} of them below the threshold\n",
                      result.precision(), with_commas(result.removed()),
                      with_commas(result.below_threshold()));
  if (result.elsewhere > 0)
    text += fmt::format(
        "  not counted    {} pairs with a record removed as a duplicate of a third one\n",
        with_commas(result.elsewhere));
  for (const std::string& note : result.notes) text += fmt::format("  note           {}\n", note);
  return text;
}

void add_buckets(JsonWriter& json, const Evaluation& result) {
  json.key("buckets").begin_array();
  for (const Evaluation::Bucket& bucket : result.buckets) {
    json.begin_object().field("low", bucket.low).field("high", bucket.high);
    json.field("planted", bucket.planted).field("due", bucket.due).field("found", bucket.found);
    json.field("found_below_threshold", bucket.not_due);
    json.key("recall");
    bucket.due == 0 ? json.null() : json.value(ratio(bucket.found, bucket.due));
    json.key("expected_recall");
    bucket.due == 0 ? json.null() : json.value(bucket.expected / static_cast<double>(bucket.due));
    json.field("removed", bucket.removed).field("removed_below_threshold", bucket.below);
    json.key("precision");
    bucket.removed == 0 ? json.null()
                        : json.value(ratio(bucket.removed - bucket.below, bucket.removed));
    json.end();
  }
  json.end();
}

std::string evaluation_json(const Evaluation& result, const dedup::EvaluateOptions& options) {
  JsonWriter json(2);
  json.begin_object().field("records", result.records).field("planted", result.planted);
  json.field("not_counted", result.elsewhere).field("seed", options.seed);
  json.field("options", describe(options.dedup)).field("threshold", result.threshold);
  json.field("recall", result.recall());
  const auto clear = clear_from(result);
  json.key("recall_clear");
  clear ? json.value(result.recall(*clear)) : json.null();
  json.field("precision", result.precision()).field("removed", result.removed());
  json.field("removed_below_threshold", result.below_threshold());
  json.key("removed_by").begin_object();
  for (const Method method : {Method::kExact, Method::kMinHash, Method::kSimHash, Method::kChunk}) {
    const auto at = static_cast<std::size_t>(method);
    json.key(name_of(method)).begin_object().field("removed", result.removed_by[at]);
    json.field("below_threshold", result.below_by[at]).end();
  }
  json.end();
  add_buckets(json, result);
  json.key("edits").begin_object();
  for (const Evaluation::ByEdit& edit : result.edits) {
    json.key(name_of(edit.edit)).begin_object().field("planted", edit.planted);
    json.field("due", edit.due).field("found", edit.found).end();
  }
  json.end().field("seconds", result.seconds).key("notes").begin_array();
  for (const std::string& note : result.notes) json.value(note);
  return json.end().end().take();
}

Result<int> run_eval_command(EvalArguments& arguments, Verb verb) {
  const auto options = understand_pairs(arguments.flags);
  if (!options) return wrong_usage(options.error(), verb);
  const auto sample = parse_bytes(arguments.sample);
  if (!sample) return wrong_usage(with_context("--sample", sample.error()), verb);
  if (*sample == 0)
    return wrong_usage({Code::kInvalidArgument, "--sample must be greater than 0"}, verb);
  arguments.options.dedup = *options;
  arguments.options.sample_bytes = *sample;
  const auto remote = RemoteAccess::for_inputs(arguments.options.dedup, arguments.inputs);
  dedup::Progress progress;
  const StopSignals signals(progress.stop);
  Result<Evaluation> result = [&] {
    const ProgressLine line(progress, !arguments.json);
    return dedup::evaluate(arguments.inputs, arguments.options, progress, system_clock());
  }();
  if (!result) return unfinished(result.error(), signals);
  return print_result(arguments.json ? evaluation_json(*result, arguments.options) + "\n"
                                     : format_evaluation(*result));
}

}  // namespace

Command add_eval_command(Verb app) {
  const Verb verb = app.add_subcommand(
      "eval", "Measure recall and precision on near-duplicates planted into a sample");
  verb.footer(kExamples);
  const auto arguments = std::make_shared<EvalArguments>();
  verb.add_option("INPUT", arguments->inputs, "Files or globs, as for dedup").required();
  with_count(verb.add_option("--plant", arguments->options.pairs, "Pairs to plant"), 1);
  verb.add_option("--sample", arguments->sample, "Bytes of the input to plant them into")
      .type_name("SIZE")
      .capture_default_str();
  with_count(verb.add_option("--seed", arguments->options.seed, "Another seed plants other pairs"),
             0);
  add_dedup_flags(verb, arguments->flags);
  verb.add_flag("--json", arguments->json, "Print the figures as JSON");
  return {verb, [arguments, verb] { return run_eval_command(*arguments, verb); }};
}

}  // namespace kin::app
