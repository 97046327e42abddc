#include "bench/search/verbs.h"

#include <memory>
#include <string>

#include "app/checks.h"
#include "bench/search/shard.h"
#include "bench/search/text.h"
#include "bench/search/vectors.h"
#include "bench/verbs.h"

namespace kin::bench {

using app::number;
using app::one_of;
using app::Verb;
using app::whole_number;
using app::with_choice;
using app::with_count;

app::Command add_text(Verb bench) {
  const auto text = std::make_shared<TextBench>();
  const Verb verb = bench.add_subcommand("text", "Text search: quality, and speed against Xapian");
  verb.add_option("--collection", text->collections,
                  "Folder with docs.jsonl or corpus.jsonl, queries.jsonl and qrels.tsv")
      .type_name("DIR");
  add_articles_flag(verb, text->articles);
  with_count(verb.add_option("--queries", text->queries, "Number of queries over the articles"), 1,
             1'000'000);
  add_runs_flag(verb, text->runs);
  verb.add_option("--k1", text->options.ranking.k1, "k1 of BM25: how much a repeated word counts")
      .type_name("N")
      .check(number(0, 100))
      .capture_default_str();
  verb.add_option("--b", text->options.ranking.b,
                  "b of BM25: how much long documents are penalised")
      .type_name("0..1")
      .check(number(0, 1))
      .capture_default_str();
  verb.add_option("--title-weight", text->options.fields[0].weight, "Weight of a word in a title")
      .type_name("N")
      .check(number(0.25, 16))
      .capture_default_str();
  verb.add_option("--language", text->options.language,
                  "Language of the stemmer; \"none\" turns it off")
      .type_name("NAME")
      .capture_default_str();
  return measured(verb, [=] { return bench_text(*text); });
}

app::Command add_vectors(Verb bench) {
  const auto vectors = std::make_shared<VectorsBench>();
  const auto peer = std::make_shared<std::string>("hnswlib");
  const Verb verb = bench.add_subcommand("vectors", "The vector index against hnswlib");
  verb.add_option("--set", vectors->sets, "glove, mnist and glove-all, separated by commas")
      .delimiter(',')
      .no_extra_args()
      .check(one_of({"glove", "mnist", "glove-all"}))
      .type_name("SETS")
      .capture_default_str();
  add_vectors_flag(verb, vectors->folder);
  with_choice(verb.add_option("--peer", *peer, "Peer to compare with: hnswlib or none"),
              {"hnswlib", "none"});
  verb.add_option("--bits", vectors->bits,
                  "Bits per dimension of a code (default: 7 for glove, 6 for mnist)")
      .type_name("1..8")
      .check(whole_number(1, 8));
  with_count(verb.add_option("--cell", vectors->cell_size, "Vectors per cell"), 8, 1000);
  add_runs_flag(verb, vectors->runs);
  return measured(verb, [=] {
    vectors->peer = *peer != "none";
    return bench_vectors(*vectors);
  });
}

app::Command add_shard(Verb bench) {
  const auto shard = std::make_shared<ShardBench>();
  const Verb verb = bench.add_subcommand(
      "shard", "Durable inserts into a shard, and the first answer after a crash");
  with_count(verb.add_option("--entities", shard->entities, "Number of entities"), 1'000,
             100'000'000);
  with_count(verb.add_option("--batch", shard->batch, "Entities per batch"), 1, 100'000);
  with_count(verb.add_option("--words", shard->words, "Words per text"), 1, 100'000);
  add_vectors_flag(verb, shard->vectors);
  add_temp_flag(verb, shard->folder);
  verb.add_flag("--near-duplicates", shard->near_duplicates,
                "Detect near-duplicates while inserting");
  return measured(verb, [=] { return bench_shard(*shard); });
}

}  // namespace kin::bench
