#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/checks.h"
#include "app/command.h"
#include "app/print.h"
#include "base/memory.h"
#include "bench/command.h"
#include "bench/dedup/contains.h"
#include "bench/dedup/dedup.h"
#include "bench/dedup/fingerprints.h"
#include "bench/dedup/speed.h"
#include "bench/nodes/grow.h"
#include "bench/nodes/nodes.h"
#include "bench/nodes/same.h"
#include "bench/search/shard.h"
#include "bench/search/text.h"
#include "bench/search/vectors.h"
#include "bench/seen/seen.h"
#include "bench/stories/stories.h"
#include "bench/stories/timeline.h"
#include "data/plain_copy.h"

namespace kin::bench {
namespace {

using app::number;
using app::one_of;
using app::whole_number;
using app::with_choice;
using app::with_count;

constexpr const char* kExamples = R"(
Examples:
  kindred-bench sketch
  kindred-bench sketch corpus.parquet --field text --json
  kindred-bench dedup --format jsonl
  kindred-bench dedup --records 200000 --bytes 5000 --temp /mnt/fast --rounds 5
  kindred-bench speed --rounds 5
  kindred-bench fingerprints --records 200000 --rounds 3
  kindred-bench contains --references 50000 --reference-bytes 700
  kindred-bench memory --records 15000000 --bytes 300 --max-memory default,1GiB
  kindred-bench seen
  kindred-bench seen --ids 100000000 --peer none --temp /mnt/fast
  kindred-bench seen --check 1000000000
  kindred-bench corpus corpus.jsonl --records 100000
  kindred-bench stories ../shared/data/news
  kindred-bench stories headlines.jsonl --label story --json
  kindred-bench timeline --feeds 500 --items 100000
  kindred-bench text --collection scifact --articles .deps/bench/reuters
  kindred-bench vectors --set glove
  kindred-bench shard --entities 340000
  kindred-bench nodes --rounds 3
  kindred-bench same --collection scifact --articles .deps/bench/reuters --vectors .deps/bench
  kindred-bench grow --vectors .deps/bench

Generated corpora are the same in every run. They are written to a temporary folder and removed.
`kindred-bench NAME --help` shows the options of a benchmark.)";

// Each verb has arguments of its own and uses those that belong to it.
struct BenchArguments {
  SketchBench sketch;
  DedupBench dedup;
  DedupBench memory;
  SpeedBench speed;
  FingerprintsBench fingerprints;
  ContainsBench contains;
  std::vector<std::string> budgets{"default", "1GiB"};
  SeenBench seen;
  std::string seen_peer = "rocksdb";
  StoriesBench stories;
  TimelineBench timeline;
  TextBench text;
  VectorsBench vectors;
  ShardBench shard;
  NodesBench nodes;
  SameBench same;
  GrowBench grow;
  std::string vectors_peer = "hnswlib";
  CorpusOptions corpus;
  std::string corpus_output;
  std::string copy_input;
  std::string copy_output;
  int copy_threads = 0;
  bool json = false;
};

template <typename Path>
void add_temp_flag(CLI::App& verb, std::optional<Path>& folder) {
  verb.add_option("--temp", folder, "Folder to work in (default: the system's temporary folder)")
      ->type_name("DIR");
}

void add_threads_flag(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "Number of threads (default: one per core)")
      ->type_name("N")
      ->check(whole_number(0, 1024));
}

void add_rounds_flag(CLI::App& verb, int& rounds) {
  with_count(verb.add_option("--rounds", rounds, "How often each program is run"), 1, 100);
}

void add_runs_flag(CLI::App& verb, int& runs) {
  with_count(verb.add_option("--runs", runs, "How often the time is measured"), 1, 100);
}

template <typename Path>
void add_articles_flag(CLI::App& verb, Path& folder) {
  verb.add_option("--articles", folder,
                  "Where scripts/setup --bench put Reuters-21578 (.deps/bench/reuters)")
      ->type_name("DIR");
}

void add_vectors_flag(CLI::App& verb, std::filesystem::path& folder) {
  verb.add_option("--data", folder, "Where scripts/setup --bench put the vectors")
      ->type_name("DIR")
      ->capture_default_str();
}

CLI::App* add_sketch(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb = bench.add_subcommand(
      "sketch", "Speed of sketching: text to word-5 shingles to 128 hashes, on one core");
  verb->add_option("FILE", arguments.sketch.input,
                   "Dataset to take texts from (default: generated English prose)");
  verb->add_option("--field", arguments.sketch.field, "Column that holds the text")
      ->type_name("COLUMN")
      ->capture_default_str();
  with_count(verb->add_option("--runs", arguments.sketch.runs, "Runs per measurement"), 1, 1000);
  verb->add_option("--seconds", arguments.sketch.seconds,
                   "Seconds per measurement, for all runs together")
      ->type_name("N")
      ->check(number(0.01, 3600))
      ->capture_default_str();
  return verb;
}

void add_corpus_options(CLI::App& verb, CorpusOptions& corpus) {
  with_count(verb.add_option("--records", corpus.records, "Number of records"), 1, 4'000'000'000);
  with_count(verb.add_option("--bytes", corpus.bytes, "Average size of a text in bytes"), 100,
             100'000'000);
  verb.add_option("--duplicates", corpus.duplicates, "Share of records that are duplicates")
      ->type_name("0..1")
      ->check(number(0, 1))
      ->capture_default_str();
  with_count(verb.add_option("--seed", corpus.seed, "Seed of the generated texts"), 0);
}

void add_run_options(CLI::App& verb, DedupBench& bench) {
  verb.add_option("FILE", bench.sentences,
                  "Dataset whose sentences make up the corpus (default: generated English prose)");
  verb.add_option("--field", bench.field, "Column of FILE that holds the text")
      ->type_name("COLUMN")
      ->capture_default_str();
  add_corpus_options(verb, bench.corpus);
  with_choice(verb.add_option("--format", bench.format, "parquet or jsonl"), {"parquet", "jsonl"});
  add_temp_flag(verb, bench.folder);
  add_threads_flag(verb, bench.threads);
  add_rounds_flag(verb, bench.rounds);
}

CLI::App* add_dedup(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb =
      bench.add_subcommand("dedup", "`kindred dedup` against DuckDB copying the same file");
  add_run_options(*verb, arguments.dedup);
  verb->add_option("--max-memory", arguments.dedup.max_memory,
                   "Memory limit, as for `kindred dedup`")
      ->type_name("SIZE");
  return verb;
}

CLI::App* add_speed(CLI::App& bench, BenchArguments& arguments) {
  SpeedBench& speed = arguments.speed;
  CLI::App* verb = bench.add_subcommand(
      "speed", "The speed table: dedup against DuckDB's COPY, cuts against MinHash");
  verb->add_option("--format", speed.formats, "parquet and jsonl, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"parquet", "jsonl"}))
      ->type_name("FORMATS")
      ->capture_default_str();
  verb->add_option("--scale", speed.scale, "Times the usual number of records")
      ->type_name("N")
      ->check(number(0.001, 100))
      ->capture_default_str();
  add_temp_flag(*verb, speed.folder);
  add_threads_flag(*verb, speed.threads);
  add_rounds_flag(*verb, speed.rounds);
  return verb;
}

CLI::App* add_memory(CLI::App& bench, BenchArguments& arguments) {
  // Many short records: memory goes by their number, not by their length.
  arguments.memory.corpus.records = 15'000'000;
  arguments.memory.corpus.bytes = 300;
  arguments.memory.rounds = 1;
  CLI::App* verb =
      bench.add_subcommand("memory", "`kindred dedup` with several memory limits on one corpus");
  add_run_options(*verb, arguments.memory);
  verb->add_option("--max-memory", arguments.budgets,
                   "Memory limits, separated by commas; \"default\" sets none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("SIZES")
      ->capture_default_str();
  return verb;
}

CLI::App* add_seen(CLI::App& bench, BenchArguments& arguments) {
  SeenBench& seen = arguments.seen;
  CLI::App* verb = bench.add_subcommand("seen", "The seen set against RocksDB at the same job");
  with_count(verb->add_option("--ids", seen.ids, "Number of distinct ids"), 1, 1'000'000'000'000);
  verb->add_option("--repeats", seen.repeats, "Share of the inserted ids that are not new")
      ->type_name("0..1")
      ->check(number(0, 0.99))
      ->capture_default_str();
  with_count(verb->add_option("--commit-every", seen.commit_every,
                              "Ids per batch; a batch is durable before the next begins"),
             1, 100'000'000);
  with_count(verb->add_option("--lookups", seen.lookups,
                              "Look-ups of each kind, in five rounds; the median is reported"),
             1, 1'000'000'000);
  with_choice(
      verb->add_option("--peer", arguments.seen_peer, "Peer to compare with: rocksdb or none"),
      {"rocksdb", "none"});
  verb->add_option("--peer-ids", seen.peer_ids, "Number of ids in the peer (default: the same)")
      ->type_name("N")
      ->check(whole_number(1));
  verb->add_option("--check", seen.check,
                   "Instead of measuring, run this many operations and compare each answer with a "
                   "model")
      ->type_name("N")
      ->check(whole_number(1));
  with_count(verb->add_option("--seed", seen.seed, "Seed of the generated ids"), 0);
  verb->add_option("--max-memory", seen.max_memory, "Memory limit, as for `kindred seen add`")
      ->type_name("SIZE");
  add_temp_flag(*verb, seen.folder);
  return verb;
}

CLI::App* add_stories(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb = bench.add_subcommand("stories", "Grouping of headlines: quality and speed");
  StoriesBench& stories = arguments.stories;
  verb->add_option(
          "PATH", stories.input,
          "Folder with headlines.jsonl, olympics.jsonl and lookalikes.jsonl, or one file of "
          "headlines (id, title, published_at) with their true stories")
      ->capture_default_str();
  verb->add_option("--label", stories.label, "Column of a file that holds the true story")
      ->type_name("COLUMN")
      ->capture_default_str();
  verb->add_option("--meaning", stories.meaning, "Word vectors, as for `kindred stories group`")
      ->type_name("MODEL")
      ->capture_default_str();
  add_runs_flag(*verb, stories.runs);
  with_count(verb->add_option("--many", stories.many, "Headlines of the measurement with many"), 1,
             10'000'000);
  verb->add_flag("--tune", stories.tune,
                 "Try a grid of settings, and choose them without each family of sets in turn");
  return verb;
}

CLI::App* add_timeline(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb = bench.add_subcommand("timeline", "Speed of the timeline of many feeds");
  TimelineBench& timeline = arguments.timeline;
  with_count(verb->add_option("--feeds", timeline.feeds, "Number of feeds"), 20, 10'000);
  with_count(verb->add_option("--items", timeline.items, "Number of items in all feeds together"),
             1'000, 10'000'000);
  with_count(verb->add_option("--runs", timeline.runs, "How often each page is read"), 1, 10'000);
  add_temp_flag(*verb, timeline.folder);
  return verb;
}

CLI::App* add_text(CLI::App& bench, BenchArguments& arguments) {
  TextBench& text = arguments.text;
  CLI::App* verb = bench.add_subcommand("text", "Text search: quality, and speed against Xapian");
  verb->add_option("--collection", text.collections,
                   "Folder with docs.jsonl or corpus.jsonl, queries.jsonl and qrels.tsv")
      ->type_name("DIR");
  add_articles_flag(*verb, text.articles);
  with_count(verb->add_option("--queries", text.queries, "Number of queries over the articles"), 1,
             1'000'000);
  add_runs_flag(*verb, text.runs);
  verb->add_option("--k1", text.options.ranking.k1, "k1 of BM25: how much a repeated word counts")
      ->type_name("N")
      ->check(number(0, 100))
      ->capture_default_str();
  verb->add_option("--b", text.options.ranking.b,
                   "b of BM25: how much long documents are penalised")
      ->type_name("0..1")
      ->check(number(0, 1))
      ->capture_default_str();
  verb->add_option("--title-weight", text.options.fields[0].weight, "Weight of a word in a title")
      ->type_name("N")
      ->check(number(0.25, 16))
      ->capture_default_str();
  verb->add_option("--language", text.options.language,
                   "Language of the stemmer; \"none\" turns it off")
      ->type_name("NAME")
      ->capture_default_str();
  return verb;
}

CLI::App* add_vectors(CLI::App& bench, BenchArguments& arguments) {
  VectorsBench& vectors = arguments.vectors;
  CLI::App* verb = bench.add_subcommand("vectors", "The vector index against hnswlib");
  verb->add_option("--set", vectors.sets, "glove, mnist and glove-all, separated by commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(one_of({"glove", "mnist", "glove-all"}))
      ->type_name("SETS")
      ->capture_default_str();
  add_vectors_flag(*verb, vectors.folder);
  with_choice(
      verb->add_option("--peer", arguments.vectors_peer, "Peer to compare with: hnswlib or none"),
      {"hnswlib", "none"});
  verb->add_option("--bits", vectors.bits,
                   "Bits per dimension of a code (default: 7 for glove, 6 for mnist)")
      ->type_name("1..8")
      ->check(whole_number(1, 8));
  with_count(verb->add_option("--cell", vectors.cell_size, "Vectors per cell"), 8, 1000);
  add_runs_flag(*verb, vectors.runs);
  return verb;
}

CLI::App* add_shard(CLI::App& bench, BenchArguments& arguments) {
  ShardBench& shard = arguments.shard;
  CLI::App* verb = bench.add_subcommand(
      "shard", "Durable inserts into a shard, and the first answer after a crash");
  with_count(verb->add_option("--entities", shard.entities, "Number of entities"), 1'000,
             100'000'000);
  with_count(verb->add_option("--batch", shard.batch, "Entities per batch"), 1, 100'000);
  with_count(verb->add_option("--words", shard.words, "Words per text"), 1, 100'000);
  add_vectors_flag(*verb, shard.vectors);
  add_temp_flag(*verb, shard.folder);
  verb->add_flag("--near-duplicates", shard.near_duplicates,
                 "Detect near-duplicates while inserting");
  return verb;
}

CLI::App* add_nodes(CLI::App& bench, BenchArguments& arguments) {
  NodesBench& nodes = arguments.nodes;
  CLI::App* verb = bench.add_subcommand(
      "nodes", "A router over nodes: overhead of a question, processor time, durable inserts");
  add_articles_flag(*verb, nodes.articles);
  with_count(verb->add_option("--queries", nodes.queries, "Number of questions"), 1, 1'000'000);
  with_count(verb->add_option("--batch", nodes.batch, "Documents per request"), 1, 10'000);
  with_count(verb->add_option("--callers", nodes.callers, "Requests under way while adding"), 1,
             64);
  verb->add_option("--nodes", nodes.nodes, "Numbers of nodes")
      ->delimiter(',')
      ->type_name("N,N…")
      ->capture_default_str();
  with_count(verb->add_option("--rounds", nodes.rounds, "How often inserts are measured"), 1, 100);
  add_temp_flag(*verb, nodes.folder);
  return verb;
}

CLI::App* add_same(CLI::App& bench, BenchArguments& arguments) {
  SameBench& same = arguments.same;
  CLI::App* verb = bench.add_subcommand(
      "same", "Answers over several nodes against those of one index: texts and vectors");
  verb->add_option("--collection", same.collections,
                   "Folder with docs.jsonl or corpus.jsonl, queries.jsonl and qrels.tsv; may be "
                   "repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  add_articles_flag(*verb, same.articles);
  verb->add_option("--model", same.model,
                   "A model2vec model for questions by words and vectors (default: none are asked)")
      ->type_name("DIR");
  verb->add_option("--vectors", same.vectors, "Where scripts/setup --bench put the vectors")
      ->type_name("DIR");
  verb->add_option("--recall", same.recall, "Recall that vector searches ask for")
      ->type_name("0..1")
      ->check(number(0, 1))
      ->capture_default_str();
  with_count(verb->add_option("--nodes", same.nodes, "Number of nodes"), 1, 64);
  with_count(verb->add_option("--queries", same.queries, "Questions to articles and vectors"), 1,
             1'000'000);
  with_count(verb->add_option("--most", same.most_vectors, "Vectors to use at most"), 1'000,
             100'000'000);
  add_temp_flag(*verb, same.folder);
  return verb;
}

CLI::App* add_grow(CLI::App& bench, BenchArguments& arguments) {
  GrowBench& grow = arguments.grow;
  CLI::App* verb = bench.add_subcommand(
      "grow", "Recall over several nodes while an index grows and its partitions change");
  verb->add_option("--vectors", grow.vectors,
                   "Where scripts/setup --bench put the vectors (default: generated ones alone)")
      ->type_name("DIR");
  verb->add_option("--recall", grow.recall, "Recall that searches ask for")
      ->type_name("0..1")
      ->check(number(0, 1))
      ->capture_default_str();
  with_count(verb->add_option("--nodes", grow.nodes, "Number of nodes"), 2, 64);
  with_count(verb->add_option("--partitions", grow.partitions, "Partitions at the beginning"), 2,
             10'000);
  with_count(verb->add_option("--queries", grow.queries, "Questions of a set"), 8, 1'000'000);
  with_count(verb->add_option("--clumped", grow.clumped, "Generated vectors"), 4'000, 100'000'000);
  with_count(verb->add_option("--most", grow.most_vectors, "Vectors of the file at most"), 4'000,
             100'000'000);
  add_temp_flag(*verb, grow.folder);
  return verb;
}

CLI::App* add_fingerprints(CLI::App& bench, BenchArguments& arguments) {
  FingerprintsBench& fingerprints = arguments.fingerprints;
  CLI::App* verb = bench.add_subcommand(
      "fingerprints", "Records taken into a local fingerprint store, while it grows");
  add_corpus_options(*verb, fingerprints.corpus);
  with_count(verb->add_option("--rounds", fingerprints.rounds, "Corpora, one after the other"), 1,
             1'000);
  add_temp_flag(*verb, fingerprints.folder);
  add_threads_flag(*verb, fingerprints.threads);
  return verb;
}

CLI::App* add_contains(CLI::App& bench, BenchArguments& arguments) {
  ContainsBench& contains = arguments.contains;
  CLI::App* verb = bench.add_subcommand(
      "contains", "`kindred dedup --contains`: records and references that share runs of words");
  with_count(verb->add_option("--records", contains.records, "Number of records"), 1, 10'000'000);
  with_count(verb->add_option("--references", contains.references, "Number of references"), 1,
             10'000'000);
  with_count(verb->add_option("--bytes", contains.bytes, "Bytes of a record"), 1, 100'000'000);
  with_count(
      verb->add_option("--reference-bytes", contains.reference_bytes, "Bytes of a reference"), 1,
      100'000'000);
  with_count(verb->add_option("--stock", contains.stock_bytes,
                              "Bytes of the text of which all are pieces"),
             100, 1'000'000'000);
  verb->add_option("--contains", contains.share, "Share of a reference that is enough")
      ->type_name("0..1")
      ->check(number(0.01, 1))
      ->capture_default_str();
  with_count(verb->add_option("--seed", contains.seed, "Seed of the generated texts"), 0);
  return verb;
}

CLI::App* add_corpus(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb =
      bench.add_subcommand("corpus", "Write the generated corpus of the other benchmarks");
  verb->add_option("OUTPUT", arguments.corpus_output, "A .jsonl file")->required();
  add_corpus_options(*verb, arguments.corpus);
  with_count(verb->add_option("--template", arguments.corpus.template_words,
                              "Words of one template for all records, instead of prose"),
             0, 100'000);
  with_count(verb->add_option("--varying", arguments.corpus.varying_words,
                              "Words of the template that differ between records"),
             0, 100'000);
  return verb;
}

// The peer of `dedup`, in a process of its own.
CLI::App* add_copy(CLI::App& bench, BenchArguments& arguments) {
  CLI::App* verb = bench.add_subcommand("copy", "DuckDB's own copy of a file")->group("");
  verb->add_option("INPUT", arguments.copy_input)->required();
  verb->add_option("OUTPUT", arguments.copy_output)->required();
  verb->add_option("--threads", arguments.copy_threads);
  return verb;
}

template <typename Figures>
Result<int> show(const Result<Figures>& figures, bool json) {
  if (!figures) return figures.error();
  return app::print_result(json ? to_json(*figures) + "\n" : to_table(*figures));
}

Result<int> run_seen(BenchArguments& arguments) {
  std::atomic<bool> stop{false};
  const app::StopSignals signals(stop);
  arguments.seen.peer = arguments.seen_peer != "none";
  const Result<int> shown = arguments.seen.check
                                ? show(check_seen(arguments.seen, stop), arguments.json)
                                : show(bench_seen(arguments.seen, stop), arguments.json);
  return shown ? shown : app::unfinished(shown.error(), signals, {.program = "kindred-bench"});
}

// Checked first: a slip would show only after a large corpus was written.
Status check_budgets(const BenchArguments& arguments) {
  std::vector<std::string> budgets = arguments.budgets;
  if (arguments.seen.max_memory) budgets.push_back(*arguments.seen.max_memory);
  if (arguments.dedup.max_memory) budgets.push_back(*arguments.dedup.max_memory);
  for (const std::string& budget : budgets) {
    if (budget != "default") KIN_RETURN_IF_ERROR(parse_bytes(budget));
  }
  return Done{};
}

using Adder = CLI::App* (*)(CLI::App&, BenchArguments&);
using Runner = Result<int> (*)(BenchArguments&);

// For benchmarks that need their own arguments alone.
template <auto measure, auto bench>
Result<int> run(BenchArguments& arguments) {
  return show(measure(arguments.*bench), arguments.json);
}
Result<int> run_memory(BenchArguments& arguments) {
  return show(bench_memory(arguments.memory, arguments.budgets), arguments.json);
}
Result<int> run_vectors(BenchArguments& arguments) {
  arguments.vectors.peer = arguments.vectors_peer != "none";
  return show(bench_vectors(arguments.vectors), arguments.json);
}
Result<int> run_corpus(BenchArguments& arguments) {
  KIN_RETURN_IF_ERROR(write_corpus(arguments.corpus, Prose(), arguments.corpus_output));
  return app::kDone;
}
Result<int> run_copy(BenchArguments& arguments) {
  KIN_RETURN_IF_ERROR(
      data::plain_copy(arguments.copy_input, arguments.copy_output, arguments.copy_threads));
  return app::kDone;
}

// A verb with arguments of its own.
template <Adder add, Runner run>
app::Command add_verb(CLI::App& program) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* verb = add(program, *arguments);
  if (run != run_corpus && run != run_copy)
    verb->add_flag("--json", arguments->json, "Print the figures as JSON");
  return {verb, [=]() -> Result<int> {
            if (const Status checked = check_budgets(*arguments); !checked.ok())
              return app::wrong_usage(checked.error(), *verb);
            return run(*arguments);
          }};
}

}  // namespace

app::Program bench_program() {
  return {
      .name = "kindred-bench",
      .description =
          "Measures Kindred and the programs it is compared with: the figures of "
          "docs/benchmarks.md.",
      .footer = kExamples,
      .verbs = {add_verb<add_sketch, run<bench_sketch, &BenchArguments::sketch>>,
                add_verb<add_dedup, run<bench_dedup, &BenchArguments::dedup>>,
                add_verb<add_speed, run<bench_speed, &BenchArguments::speed>>,
                add_verb<add_fingerprints, run<bench_fingerprints, &BenchArguments::fingerprints>>,
                add_verb<add_contains, run<bench_contains, &BenchArguments::contains>>,
                add_verb<add_memory, run_memory>, add_verb<add_seen, run_seen>,
                add_verb<add_stories, run<bench_stories, &BenchArguments::stories>>,
                add_verb<add_timeline, run<bench_timeline, &BenchArguments::timeline>>,
                add_verb<add_text, run<bench_text, &BenchArguments::text>>,
                add_verb<add_vectors, run_vectors>,
                add_verb<add_shard, run<bench_shard, &BenchArguments::shard>>,
                add_verb<add_nodes, run<bench_nodes, &BenchArguments::nodes>>,
                add_verb<add_same, run<bench_same, &BenchArguments::same>>,
                add_verb<add_grow, run<bench_grow, &BenchArguments::grow>>,
                add_verb<add_corpus, run_corpus>, add_verb<add_copy, run_copy>}};
}

}  // namespace kin::bench
