#include "bench/seen/verbs.h"

#include <atomic>
#include <memory>
#include <string>

#include "app/checks.h"
#include "app/stop_signals.h"
#include "bench/seen/seen.h"
#include "bench/verbs.h"

namespace kin::bench {
namespace {

using app::number;
using app::Verb;
using app::whole_number;
using app::with_choice;
using app::with_count;

Result<int> run_seen(const SeenBench& seen, bool json) {
  std::atomic<bool> stop{false};
  const app::StopSignals signals(stop);
  const Result<int> shown =
      seen.check ? show(check_seen(seen, stop), json) : show(bench_seen(seen, stop), json);
  return shown ? shown : app::unfinished(shown.error(), signals, {.program = "kindred-bench"});
}

}  // namespace

app::Command add_seen(Verb bench) {
  const auto seen = std::make_shared<SeenBench>();
  const auto peer = std::make_shared<std::string>("rocksdb");
  const Verb verb = bench.add_subcommand("seen", "The seen set against RocksDB at the same job");
  with_count(verb.add_option("--ids", seen->ids, "Number of distinct ids"), 1, 1'000'000'000'000);
  verb.add_option("--repeats", seen->repeats, "Share of the inserted ids that are not new")
      .type_name("0..1")
      .check(number(0, 0.99))
      .capture_default_str();
  with_count(verb.add_option("--commit-every", seen->commit_every,
                             "Ids per batch; a batch is durable before the next begins"),
             1, 100'000'000);
  with_count(verb.add_option("--lookups", seen->lookups,
                             "Look-ups of each kind, in five rounds; the median is reported"),
             1, 1'000'000'000);
  with_choice(verb.add_option("--peer", *peer, "Peer to compare with: rocksdb or none"),
              {"rocksdb", "none"});
  verb.add_option("--peer-ids", seen->peer_ids, "Number of ids in the peer (default: the same)")
      .type_name("N")
      .check(whole_number(1));
  verb.add_option("--check", seen->check,
                  "Instead of measuring, run this many operations and compare each answer with a "
                  "model")
      .type_name("N")
      .check(whole_number(1));
  with_count(verb.add_option("--seed", seen->seed, "Seed of the generated ids"), 0);
  verb.add_option("--max-memory", seen->max_memory, "Memory limit, as for `kindred seen add`")
      .type_name("SIZE");
  add_temp_flag(verb, seen->folder);
  const auto json = std::make_shared<bool>(false);
  verb.add_flag("--json", *json, "Print the figures as JSON");
  return with_check({verb,
                     [=] {
                       seen->peer = *peer != "none";
                       return run_seen(*seen, *json);
                     }},
                    [=] { return check_size(seen->max_memory); });
}

}  // namespace kin::bench
