#include "bench/command.h"

#include "bench/dedup/verbs.h"
#include "bench/nodes/verbs.h"
#include "bench/search/verbs.h"
#include "bench/seen/verbs.h"
#include "bench/stories/verbs.h"

namespace kin::bench {
namespace {

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

}  // namespace

app::Program bench_program() {
  return {.name = "kindred-bench",
          .description =
              "Measures Kindred and the programs it is compared with: the figures of "
              "docs/benchmarks.md.",
          .footer = kExamples,
          .verbs = {add_sketch, add_dedup, add_speed, add_fingerprints, add_contains, add_memory,
                    add_seen, add_stories, add_timeline, add_text, add_vectors, add_shard,
                    add_nodes, add_same, add_grow, add_corpus, add_copy}};
}

}  // namespace kin::bench
