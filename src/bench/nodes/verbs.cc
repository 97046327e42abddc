#include "bench/nodes/verbs.h"

#include <memory>

#include "app/checks.h"
#include "bench/nodes/grow.h"
#include "bench/nodes/nodes.h"
#include "bench/nodes/same.h"
#include "bench/verbs.h"

namespace kin::bench {

using app::number;
using app::Verb;
using app::with_count;

app::Command add_nodes(Verb bench) {
  const auto nodes = std::make_shared<NodesBench>();
  const Verb verb = bench.add_subcommand(
      "nodes", "A router over nodes: overhead of a question, processor time, durable inserts");
  add_articles_flag(verb, nodes->articles);
  with_count(verb.add_option("--queries", nodes->queries, "Number of questions"), 1, 1'000'000);
  with_count(verb.add_option("--batch", nodes->batch, "Documents per request"), 1, 10'000);
  with_count(verb.add_option("--callers", nodes->callers, "Requests under way while adding"), 1,
             64);
  verb.add_option("--nodes", nodes->nodes, "Numbers of nodes")
      .delimiter(',')
      .type_name("N,N…")
      .capture_default_str();
  with_count(verb.add_option("--rounds", nodes->rounds, "How often inserts are measured"), 1, 100);
  add_temp_flag(verb, nodes->folder);
  return measured(verb, [=] { return bench_nodes(*nodes); });
}

app::Command add_same(Verb bench) {
  const auto same = std::make_shared<SameBench>();
  const Verb verb = bench.add_subcommand(
      "same", "Answers over several nodes against those of one index: texts and vectors");
  verb.add_option("--collection", same->collections,
                  "Folder with docs.jsonl or corpus.jsonl, queries.jsonl and qrels.tsv; may be "
                  "repeated")
      .type_name("DIR")
      .no_extra_args();
  add_articles_flag(verb, same->articles);
  verb.add_option("--model", same->model,
                  "A model2vec model for questions by words and vectors (default: none are asked)")
      .type_name("DIR");
  verb.add_option("--vectors", same->vectors, "Where scripts/setup --bench put the vectors")
      .type_name("DIR");
  verb.add_option("--recall", same->recall, "Recall that vector searches ask for")
      .type_name("0..1")
      .check(number(0, 1))
      .capture_default_str();
  with_count(verb.add_option("--nodes", same->nodes, "Number of nodes"), 1, 64);
  with_count(verb.add_option("--queries", same->queries, "Questions to articles and vectors"), 1,
             1'000'000);
  with_count(verb.add_option("--most", same->most_vectors, "Vectors to use at most"), 1'000,
             100'000'000);
  add_temp_flag(verb, same->folder);
  return measured(verb, [=] { return bench_same(*same); });
}

app::Command add_grow(Verb bench) {
  const auto grow = std::make_shared<GrowBench>();
  const Verb verb = bench.add_subcommand(
      "grow", "Recall over several nodes while an index grows and its partitions change");
  verb.add_option("--vectors", grow->vectors,
                  "Where scripts/setup --bench put the vectors (default: generated ones alone)")
      .type_name("DIR");
  verb.add_option("--recall", grow->recall, "Recall that searches ask for")
      .type_name("0..1")
      .check(number(0, 1))
      .capture_default_str();
  with_count(verb.add_option("--nodes", grow->nodes, "Number of nodes"), 2, 64);
  with_count(verb.add_option("--partitions", grow->partitions, "Partitions at the beginning"), 2,
             10'000);
  with_count(verb.add_option("--queries", grow->queries, "Questions of a set"), 8, 1'000'000);
  with_count(verb.add_option("--clumped", grow->clumped, "Generated vectors"), 4'000, 100'000'000);
  with_count(verb.add_option("--most", grow->most_vectors, "Vectors of the file at most"), 4'000,
             100'000'000);
  add_temp_flag(verb, grow->folder);
  return measured(verb, [=] { return bench_grow(*grow); });
}

}  // namespace kin::bench
