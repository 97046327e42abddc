#include "bench/dedup/speed.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/words.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "bench/dedup/workspace.h"
#include "bench/measure.h"

namespace kin::bench {
namespace {

using Row = SpeedFigures::Row;

Result<Workspace> make_workspace(const SpeedBench& bench, const std::string& format,
                                 CorpusOptions corpus) {
  corpus.records = std::max<std::uint64_t>(
      static_cast<std::uint64_t>(static_cast<double>(corpus.records) * bench.scale), 1'000);
  return Workspace::make({.corpus = corpus,
                          .sentences = {},
                          .field = "text",
                          .format = format,
                          .folder = bench.folder,
                          .threads = bench.threads});
}

Result<Row> against_copy(const SpeedBench& bench, const std::string& format,
                         const CorpusOptions& corpus) {
  KIN_TRY(const Workspace workspace, make_workspace(bench, format, corpus));
  const bool parquet = format == "parquet";
  Row row{.name = "dedup",
          .peer_name = "COPY",
          .input = workspace.input(),
          .own = {},
          .peer = {},
          .must = parquet ? 1.9 : 1.5,
          .aim = parquet ? 1.4 : 1.1};
  for (int round = 0; round < bench.rounds; ++round) {
    KIN_TRY(const ChildUsage copied, workspace.copy());
    add(row.peer, copied);
    KIN_TRY(const ChildUsage deduplicated, workspace.dedup({}));
    add(row.own, deduplicated);
  }
  return row;
}

// All cuts share the runs with MinHash.
Status cuts(const SpeedBench& bench, const std::string& format, SpeedFigures& figures) {
  CorpusOptions corpus{.records = 300'000, .duplicates = 0.1};
  corpus.lines = true;
  KIN_TRY(const Workspace workspace, make_workspace(bench, format, corpus));
  std::vector<Row> rows;
  for (const char* const by : {"lines", "substring:50", "substring:200b"}) {
    rows.push_back({.name = by,
                    .peer_name = "minhash",
                    .input = workspace.input(),
                    .own = {},
                    .peer = {},
                    .must = 3,
                    .aim = 1.5});
  }
  Runs minhash;
  for (int round = 0; round < bench.rounds; ++round) {
    KIN_TRY(const ChildUsage usual, workspace.dedup({}));
    add(minhash, usual);
    for (Row& row : rows) {
      KIN_TRY(const ChildUsage cut, workspace.dedup({"--by", row.name}));
      add(row.own, cut);
    }
  }
  for (Row& row : rows) {
    row.peer = minhash;
    figures.rows.push_back(std::move(row));
  }
  return Done{};
}

double cpu_ratio(const Row& row) {
  return median(row.own.cpu_seconds) / median(row.peer.cpu_seconds);
}

double wall_ratio(const Row& row) {
  return median(row.own.seconds) / median(row.peer.seconds);
}

void add_runs(JsonWriter& json, std::string_view key, std::string_view name, const Runs& runs) {
  json.key(key).begin_object().field("name", name);
  json.field("median_cpu_seconds", median(runs.cpu_seconds));
  json.field("median_seconds", median(runs.seconds)).key("cpu_seconds").begin_array();
  for (const double seconds : runs.cpu_seconds) json.value(seconds);
  json.end().key("seconds").begin_array();
  for (const double seconds : runs.seconds) json.value(seconds);
  json.end().field("peak_bytes", runs.peak_bytes).end();
}

std::string cells(const Runs& runs) {
  return fmt::format("{:>7.2f}{:>7.2f}{:>13}", median(runs.cpu_seconds), median(runs.seconds),
                     format_bytes(runs.peak_bytes));
}

}  // namespace

Result<SpeedFigures> bench_speed(const SpeedBench& bench) {
  SpeedFigures figures;
  figures.rounds = bench.rounds;
  for (const std::string& format : bench.formats) {
    for (const CorpusOptions& corpus : {CorpusOptions{.records = 300'000, .duplicates = 0.1},
                                        CorpusOptions{.records = 700'000, .duplicates = 0.2}}) {
      KIN_TRY(Row row, against_copy(bench, format, corpus));
      figures.rows.push_back(std::move(row));
    }
  }
  for (const std::string& format : bench.formats) KIN_RETURN_IF_ERROR(cuts(bench, format, figures));
  return figures;
}

std::string to_json(const SpeedFigures& figures) {
  JsonWriter json(2);
  json.begin_object().field("bench", "speed").field("rounds", figures.rounds);
  json.key("rows").begin_array();
  for (const Row& row : figures.rows) {
    json.begin_object().field("format", row.input.format);
    json.field("records", row.input.corpus.records);
    json.field("duplicates", row.input.corpus.duplicates);
    json.field("file_bytes", row.input.file_bytes).field("threads", row.input.threads);
    add_runs(json, "kindred", row.name, row.own);
    add_runs(json, "peer", row.peer_name, row.peer);
    json.field("cpu_ratio", cpu_ratio(row)).field("wall_ratio", wall_ratio(row));
    json.field("must", row.must).field("aim", row.aim).end();
  }
  return json.end().end().take();
}

std::string to_table(const SpeedFigures& figures) {
  std::string table = fmt::format(
      "Texts of about 1 KB; processor and wall seconds, median of {} round{} in turns; {} "
      "threads\n\n",
      figures.rounds, figures.rounds == 1 ? "" : "s", figures.rows.front().input.threads);
  table +=
      fmt::format("  {:<8}{:>9}{:>6}  {:<15}{:>7}{:>7}{:>13}  {:<8}{:>7}{:>7}{:>13}", "format",
                  "records", "dup", "run", "CPU", "wall", "peak", "against", "CPU", "wall", "peak");
  table += fmt::format("{:>7}{:>7}{:>6}{:>5}\n", "CPU×", "wall×", "must", "aim");
  for (const Row& row : figures.rows) {
    table +=
        fmt::format("  {:<8}{:>9}{:>4.0f} %  {:<15}{}  {:<8}{}", row.input.format,
                    app::with_commas(row.input.corpus.records), 100 * row.input.corpus.duplicates,
                    row.name, cells(row.own), row.peer_name, cells(row.peer));
    table += fmt::format("{:>7.2f}{:>7.2f}{:>6.1f}{:>5.1f}\n", cpu_ratio(row), wall_ratio(row),
                         row.must, row.aim);
  }
  return table;
}

}  // namespace kin::bench
