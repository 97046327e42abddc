#include "bench/stories/verbs.h"

#include <memory>

#include "app/checks.h"
#include "bench/stories/stories.h"
#include "bench/stories/timeline.h"
#include "bench/verbs.h"

namespace kin::bench {

using app::Verb;
using app::with_count;

app::Command add_stories(Verb bench) {
  const auto stories = std::make_shared<StoriesBench>();
  const Verb verb = bench.add_subcommand("stories", "Grouping of headlines: quality and speed");
  verb.add_option(
          "PATH", stories->input,
          "Folder with headlines.jsonl, olympics.jsonl and lookalikes.jsonl, or one file of "
          "headlines (id, title, published_at) with their true stories")
      .capture_default_str();
  verb.add_option("--label", stories->label, "Column of a file that holds the true story")
      .type_name("COLUMN")
      .capture_default_str();
  verb.add_option("--meaning", stories->meaning, "Word vectors, as for `kindred stories group`")
      .type_name("MODEL")
      .capture_default_str();
  add_runs_flag(verb, stories->runs);
  with_count(verb.add_option("--many", stories->many, "Headlines of the measurement with many"), 1,
             10'000'000);
  verb.add_flag("--tune", stories->tune,
                "Try a grid of settings, and choose them without each family of sets in turn");
  return measured(verb, [=] { return bench_stories(*stories); });
}

app::Command add_timeline(Verb bench) {
  const auto timeline = std::make_shared<TimelineBench>();
  const Verb verb = bench.add_subcommand("timeline", "Speed of the timeline of many feeds");
  with_count(verb.add_option("--feeds", timeline->feeds, "Number of feeds"), 20, 10'000);
  with_count(verb.add_option("--items", timeline->items, "Number of items in all feeds together"),
             1'000, 10'000'000);
  with_count(verb.add_option("--runs", timeline->runs, "How often each page is read"), 1, 10'000);
  add_temp_flag(verb, timeline->folder);
  return measured(verb, [=] { return bench_timeline(*timeline); });
}

}  // namespace kin::bench
