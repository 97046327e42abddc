#include "bench/dedup/figures.h"

#include <fmt/format.h>

#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "bench/measure.h"

namespace kin::bench {
namespace {

double megabytes(const BenchInput& input) {
  return static_cast<double>(input.file_bytes) / 1e6;
}

double ratio(const Runs& runs, const Runs& to) {
  return median(runs.seconds) / median(to.seconds);
}

void add_speeds(JsonWriter& json, std::string_view name, const Speeds& speeds) {
  json.key(name).begin_object().field("best_mb_per_second", speeds.best);
  json.field("median_mb_per_second", speeds.median).end();
}

void add_input(JsonWriter& json, const BenchInput& input) {
  json.key("corpus").begin_object().field("records", input.corpus.records);
  json.field("average_text_bytes", input.corpus.bytes).field("duplicates", input.corpus.duplicates);
  json.field("format", input.format).field("file_bytes", input.file_bytes);
  json.field("texts", input.texts).end().field("threads", input.threads);
}

void add_runs(JsonWriter& json, std::string_view name, const Runs& runs, double megabytes) {
  json.key(name).begin_object().field("median_seconds", median(runs.seconds));
  json.key("seconds").begin_array();
  for (const double seconds : runs.seconds) json.value(seconds);
  json.end().field("median_cpu_seconds", median(runs.cpu_seconds));
  json.field("peak_bytes", runs.peak_bytes);
  json.field("mb_per_second", megabytes / median(runs.seconds)).end();
}

std::string speed_row(std::string_view name, const Speeds& speeds) {
  return fmt::format("  {:<22}{:>10.1f}{:>10.1f}  MB/s\n", name, speeds.best, speeds.median);
}

std::string input_line(const BenchInput& input) {
  return fmt::format("{} records of about {} bytes, {}, {}; {} thread{}\n",
                     app::with_commas(input.corpus.records), app::with_commas(input.corpus.bytes),
                     input.format, format_bytes(input.file_bytes), input.threads,
                     input.threads == 1 ? "" : "s");
}

std::string runs_header(std::string_view last) {
  return fmt::format("  {:<16}{:>10}{:>10}{:>10}{:>12}{:>10}\n", "median of runs", "seconds", "CPU",
                     "MB/s", "peak", last);
}

std::string runs_row(std::string_view name, const Runs& runs, double megabytes, double times) {
  return fmt::format("  {:<16}{:>10.2f}{:>10.2f}{:>10.1f}{:>12}{:>10.2f}\n", name,
                     median(runs.seconds), median(runs.cpu_seconds),
                     megabytes / median(runs.seconds), format_bytes(runs.peak_bytes), times);
}

}  // namespace

std::string to_json(const SketchFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "sketch").field("texts", figures.texts);
  json.field("text_bytes", figures.text_bytes).field("documents", figures.documents);
  json.field("threads", 1).field("runs", figures.runs).field("clock", "CPU time of the thread");
  add_speeds(json, "word5_128_hashes", figures.plain);
  add_speeds(json, "with_curly_quotes", figures.with_curly_quotes);
  add_speeds(json, "chinese", figures.chinese);
  json.key("kernel_ns_per_shingle").begin_object();
  json.field("best", 1e9 / figures.kernel.best).field("median", 1e9 / figures.kernel.median).end();
  add_speeds(json, "memory_read", figures.memory);
  return json.field("share_of_memory_read", figures.plain.best / figures.memory.best).end().take();
}

std::string to_json(const DedupFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "dedup");
  add_input(json, figures.input);
  add_runs(json, "duckdb_copy", figures.copy, megabytes(figures.input));
  add_runs(json, "dedup", figures.dedup, megabytes(figures.input));
  json.field("ratio", ratio(figures.dedup, figures.copy)).key("report").raw(figures.report);
  return json.end().take();
}

std::string to_json(const MemoryFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "memory");
  add_input(json, figures.input);
  json.key("runs").begin_array();
  for (const MemoryFigures::Budget& budget : figures.budgets) {
    json.begin_object().field("max_memory", budget.max_memory);
    add_runs(json, "dedup", budget.runs, megabytes(figures.input));
    json.field("times_the_first", ratio(budget.runs, figures.budgets.front().runs));
    json.field("output_hash", fmt::format("{:016x}", budget.output_hash));
    json.key("report").raw(budget.report).end();
  }
  return json.end().field("same_output", figures.same_output).end().take();
}

std::string to_table(const SketchFigures& figures) {
  std::string table = fmt::format(
      "{} texts, {}, {}; one core, {} run{}\n\n", app::with_commas(figures.documents),
      format_bytes(figures.text_bytes), figures.texts, figures.runs, figures.runs == 1 ? "" : "s");
  table += fmt::format("  {:<22}{:>10}{:>10}\n", "word:5, 128 hashes", "best", "median");
  table += speed_row("these texts", figures.plain);
  table += speed_row("with curly quotes", figures.with_curly_quotes);
  table += speed_row("Chinese", figures.chinese);
  table += fmt::format("  {:<22}{:>10.1f}{:>10.1f}  ns a shingle\n", "hashing alone",
                       1e9 / figures.kernel.best, 1e9 / figures.kernel.median);
  table += speed_row("reading memory", figures.memory);
  return table;
}

std::string to_table(const DedupFigures& figures) {
  const double size = megabytes(figures.input);
  return input_line(figures.input) + "\n" + runs_header("times") +
         runs_row("DuckDB's copy", figures.copy, size, 1) +
         runs_row("kindred dedup", figures.dedup, size, ratio(figures.dedup, figures.copy));
}

std::string to_table(const MemoryFigures& figures) {
  std::string table = input_line(figures.input) + "\n" + runs_header("times");
  for (const MemoryFigures::Budget& budget : figures.budgets)
    table += runs_row(budget.max_memory, budget.runs, megabytes(figures.input),
                      ratio(budget.runs, figures.budgets.front().runs));
  return table + (figures.same_output ? "\n  The outputs are the same.\n"
                                      : "\n  The outputs are NOT the same.\n");
}

}  // namespace kin::bench
