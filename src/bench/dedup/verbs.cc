#include "bench/dedup/verbs.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "app/checks.h"
#include "bench/dedup/contains.h"
#include "bench/dedup/corpus.h"
#include "bench/dedup/dedup.h"
#include "bench/dedup/fingerprints.h"
#include "bench/dedup/prose.h"
#include "bench/dedup/speed.h"
#include "bench/verbs.h"
#include "data/plain_copy.h"

namespace kin::bench {
namespace {

using app::number;
using app::one_of;
using app::Verb;
using app::with_choice;
using app::with_count;

void add_corpus_options(Verb verb, CorpusOptions& corpus) {
  with_count(verb.add_option("--records", corpus.records, "Number of records"), 1, 4'000'000'000);
  with_count(verb.add_option("--bytes", corpus.bytes, "Average size of a text in bytes"), 100,
             100'000'000);
  verb.add_option("--duplicates", corpus.duplicates, "Share of records that are duplicates")
      .type_name("0..1")
      .check(number(0, 1))
      .capture_default_str();
  with_count(verb.add_option("--seed", corpus.seed, "Seed of the generated texts"), 0);
}

void add_run_options(Verb verb, DedupBench& bench) {
  verb.add_option("FILE", bench.sentences,
                  "Dataset whose sentences make up the corpus (default: generated English prose)");
  verb.add_option("--field", bench.field, "Column of FILE that holds the text")
      .type_name("COLUMN")
      .capture_default_str();
  add_corpus_options(verb, bench.corpus);
  with_choice(verb.add_option("--format", bench.format, "parquet or jsonl"), {"parquet", "jsonl"});
  add_temp_flag(verb, bench.folder);
  add_threads_flag(verb, bench.threads);
  add_rounds_flag(verb, bench.rounds);
}

}  // namespace

app::Command add_sketch(Verb bench) {
  const auto sketch = std::make_shared<SketchBench>();
  const Verb verb = bench.add_subcommand(
      "sketch", "Speed of sketching: text to word-5 shingles to 128 hashes, on one core");
  verb.add_option("FILE", sketch->input,
                  "Dataset to take texts from (default: generated English prose)");
  verb.add_option("--field", sketch->field, "Column that holds the text")
      .type_name("COLUMN")
      .capture_default_str();
  with_count(verb.add_option("--runs", sketch->runs, "Runs per measurement"), 1, 1000);
  verb.add_option("--seconds", sketch->seconds, "Seconds per measurement, for all runs together")
      .type_name("N")
      .check(number(0.01, 3600))
      .capture_default_str();
  return measured(verb, [=] { return bench_sketch(*sketch); });
}

app::Command add_dedup(Verb bench) {
  const auto dedup = std::make_shared<DedupBench>();
  const Verb verb =
      bench.add_subcommand("dedup", "`kindred dedup` against DuckDB copying the same file");
  add_run_options(verb, *dedup);
  verb.add_option("--max-memory", dedup->max_memory, "Memory limit, as for `kindred dedup`")
      .type_name("SIZE");
  return with_check(measured(verb, [=] { return bench_dedup(*dedup); }),
                    [=] { return check_size(dedup->max_memory); });
}

app::Command add_speed(Verb bench) {
  const auto speed = std::make_shared<SpeedBench>();
  const Verb verb = bench.add_subcommand(
      "speed", "The speed table: dedup against DuckDB's COPY, cuts against MinHash");
  verb.add_option("--format", speed->formats, "parquet and jsonl, separated by commas")
      .delimiter(',')
      .no_extra_args()
      .check(one_of({"parquet", "jsonl"}))
      .type_name("FORMATS")
      .capture_default_str();
  verb.add_option("--scale", speed->scale, "Times the usual number of records")
      .type_name("N")
      .check(number(0.001, 100))
      .capture_default_str();
  add_temp_flag(verb, speed->folder);
  add_threads_flag(verb, speed->threads);
  add_rounds_flag(verb, speed->rounds);
  return measured(verb, [=] { return bench_speed(*speed); });
}

app::Command add_memory(Verb bench) {
  const auto memory = std::make_shared<DedupBench>();
  const auto budgets = std::make_shared<std::vector<std::string>>(
      std::initializer_list<std::string>{"default", "1GiB"});
  // Many short records: memory goes by their number, not by their length.
  memory->corpus.records = 15'000'000;
  memory->corpus.bytes = 300;
  memory->rounds = 1;
  const Verb verb =
      bench.add_subcommand("memory", "`kindred dedup` with several memory limits on one corpus");
  add_run_options(verb, *memory);
  verb.add_option("--max-memory", *budgets,
                  "Memory limits, separated by commas; \"default\" sets none")
      .delimiter(',')
      .no_extra_args()
      .type_name("SIZES")
      .capture_default_str();
  return with_check(measured(verb, [=] { return bench_memory(*memory, *budgets); }),
                    [=] { return check_sizes(*budgets); });
}

app::Command add_fingerprints(Verb bench) {
  const auto fingerprints = std::make_shared<FingerprintsBench>();
  const Verb verb = bench.add_subcommand(
      "fingerprints", "Records taken into a local fingerprint store, while it grows");
  add_corpus_options(verb, fingerprints->corpus);
  with_count(verb.add_option("--rounds", fingerprints->rounds, "Corpora, one after the other"), 1,
             1'000);
  add_temp_flag(verb, fingerprints->folder);
  add_threads_flag(verb, fingerprints->threads);
  return measured(verb, [=] { return bench_fingerprints(*fingerprints); });
}

app::Command add_contains(Verb bench) {
  const auto contains = std::make_shared<ContainsBench>();
  const Verb verb = bench.add_subcommand(
      "contains", "`kindred dedup --contains`: records and references that share runs of words");
  with_count(verb.add_option("--records", contains->records, "Number of records"), 1, 10'000'000);
  with_count(verb.add_option("--references", contains->references, "Number of references"), 1,
             10'000'000);
  with_count(verb.add_option("--bytes", contains->bytes, "Bytes of a record"), 1, 100'000'000);
  with_count(
      verb.add_option("--reference-bytes", contains->reference_bytes, "Bytes of a reference"), 1,
      100'000'000);
  with_count(verb.add_option("--stock", contains->stock_bytes,
                             "Bytes of the text of which all are pieces"),
             100, 1'000'000'000);
  verb.add_option("--contains", contains->share, "Share of a reference that is enough")
      .type_name("0..1")
      .check(number(0.01, 1))
      .capture_default_str();
  with_count(verb.add_option("--seed", contains->seed, "Seed of the generated texts"), 0);
  return measured(verb, [=] { return bench_contains(*contains); });
}

app::Command add_corpus(Verb bench) {
  const auto corpus = std::make_shared<CorpusOptions>();
  const auto output = std::make_shared<std::string>();
  const Verb verb =
      bench.add_subcommand("corpus", "Write the generated corpus of the other benchmarks");
  verb.add_option("OUTPUT", *output, "A .jsonl file").required();
  add_corpus_options(verb, *corpus);
  with_count(verb.add_option("--template", corpus->template_words,
                             "Words of one template for all records, instead of prose"),
             0, 100'000);
  with_count(verb.add_option("--varying", corpus->varying_words,
                             "Words of the template that differ between records"),
             0, 100'000);
  return {verb, [=]() -> Result<int> {
            KIN_RETURN_IF_ERROR(write_corpus(*corpus, Prose(), *output));
            return app::kDone;
          }};
}

app::Command add_copy(Verb bench) {
  struct Copy {
    std::string input;
    std::string output;
    int threads = 0;
  };
  const auto copy = std::make_shared<Copy>();
  const Verb verb = bench.add_subcommand("copy", "DuckDB's own copy of a file").hide();
  verb.add_option("INPUT", copy->input).required();
  verb.add_option("OUTPUT", copy->output).required();
  verb.add_option("--threads", copy->threads);
  return {verb, [=]() -> Result<int> {
            KIN_RETURN_IF_ERROR(data::plain_copy(copy->input, copy->output, copy->threads));
            return app::kDone;
          }};
}

}  // namespace kin::bench
