#include "bench/dedup/fingerprints.h"

#include <fmt/format.h>

#include <ctime>

#include "base/clock.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "bench/dedup/prose.h"
#include "dedup/ingest.h"
#include "store/local_stores.h"

namespace kin::bench {
namespace {

// Processor time of all threads of the process.
double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

Result<FingerprintsFigures> bench_fingerprints(const FingerprintsBench& bench) {
  KIN_TRY(const TemporaryFolder folder, TemporaryFolder::create(bench.folder));
  dedup::DedupOptions options;
  options.threads = bench.threads;
  store::LocalStoreOptions where;
  where.folder = folder.path() / "fingerprints";
  KIN_TRY(const auto fingerprints,
          store::open_local_fingerprints(where, dedup::fingerprint_parameters(options)));
  where.folder = folder.path() / "ledger";
  KIN_TRY(const auto ledger, store::open_local_ledger(where));
  FingerprintsFigures figures;
  for (int round = 0; round < bench.rounds; ++round) {
    CorpusOptions corpus = bench.corpus;
    corpus.seed += static_cast<std::uint64_t>(round);
    const auto input = folder.path() / "corpus.jsonl";
    KIN_RETURN_IF_ERROR(write_corpus(corpus, Prose(), input));
    dedup::IngestJob job;
    job.dedup.inputs = {input.string()};
    job.dedup.output = folder.path() / "kept.jsonl";
    job.dedup.options = options;
    job.run = fmt::format("round {}", round);
    job.worker = "bench";
    // Every corpus numbers its ids from the same number; the source distinguishes them.
    job.source_name = job.run;
    dedup::Progress progress;
    const double before = processor_seconds();
    KIN_TRY(const auto report,
            dedup::run_ingest(job, {*fingerprints, *ledger}, progress, system_clock()));
    KIN_TRY(const auto stats, fingerprints->stats());
    figures.rounds.push_back({.documents = stats.documents,
                              .records = report.documents,
                              .seconds = report.seconds,
                              .cpu_seconds = processor_seconds() - before,
                              .store_bytes = stats.bytes});
  }
  return figures;
}

std::string to_json(const FingerprintsFigures& figures) {
  JsonWriter json(2);
  json.begin_object().key("rounds").begin_array();
  for (const auto& round : figures.rounds) {
    json.begin_object()
        .field("records", round.records)
        .field("seconds", round.seconds)
        .field("cpu_seconds", round.cpu_seconds)
        .field("documents", round.documents)
        .field("store_bytes", round.store_bytes)
        .end();
  }
  return json.end().end().take();
}

std::string to_table(const FingerprintsFigures& figures) {
  std::string table = fmt::format("{:>12} {:>12} {:>14} {:>14} {:>12}\n", "records", "records/s",
                                  "processor us", "in the store", "its size");
  for (const auto& round : figures.rounds) {
    const auto records = static_cast<double>(round.records);
    table += fmt::format("{:>12} {:>12.0f} {:>14.1f} {:>14} {:>12}\n", round.records,
                         records / round.seconds, round.cpu_seconds / records * 1e6,
                         round.documents, format_bytes(round.store_bytes));
  }
  return table;
}

}  // namespace kin::bench
