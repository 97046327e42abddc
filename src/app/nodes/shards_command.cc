#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "app/command.h"
#include "app/nodes/backup_command.h"
#include "app/nodes/move_verbs.h"
#include "app/options.h"
#include "app/remote_api.h"
#include "base/memory.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred shards list --at 127.0.0.1:8723
  kindred shards list papers --at https://router.example.org --at-token-file token --json
  kindred shards stats papers --at 127.0.0.1:8723
  kindred shards split papers 10.0.0.9:7700 --at 127.0.0.1:8723 --dry-run
  kindred shards split papers 10.0.0.9:7700 --at 127.0.0.1:8723 --wait
  kindred shards balance papers --by load --at 127.0.0.1:8723
  kindred shards migrations papers --at 127.0.0.1:8723

`list` shows the shards of a router's indexes: the node of each, how many partitions it has, its last change (LSN),
and whether it answers. `stats` shows what the shards of an index hold, its largest partitions, and those with the most
work: milliseconds that a node works for a partition in each second, averaged over the last minutes. The page of a
router shows the same at /shards. `move`, `drain`, `split` and `balance` move partitions to other nodes while everybody
keeps reading and writing; `split --partition`, `merge` and `retrain` divide them by new centroids; `migrations` shows
how far that is, and `abort` undoes it.)";

struct ShardsArguments {
  AtFlags at;
  std::string name;
  bool json = false;
};

std::uint64_t whole(const data::JsonValue& value) {
  return value.number() == nullptr ? 0 : static_cast<std::uint64_t>(*value.number());
}

void add_index(const data::JsonValue& index, std::string& table) {
  table += fmt::format("{}  {} partitions, epoch {}\n", index["name"].text(),
                       whole(index["partitions"]), whole(index["epoch"]));
  for (const data::JsonValue& shard : index["shards"].items()) {
    table += fmt::format("  {:<28}{:>6} partitions  ", shard["address"].text(),
                         whole(shard["partitions"]));
    table += shard["problem"].is_null()
                 ? fmt::format("LSN {}\n", whole(shard["last_lsn"]))
                 : fmt::format("does not answer: {}\n", shard["problem"].text());
  }
}

Result<int> run_list(const ShardsArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  const bool one = !arguments.name.empty();
  KIN_TRY(const std::string answer, (*api)->get(one ? index_path(arguments.name) : "/indexes"));
  if (arguments.json) return print_result(answer + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(answer));
  std::string table;
  if (one) add_index(json["index"], table);
  for (const data::JsonValue& index : json["indexes"].items()) add_index(index, table);
  return print_result(table.empty() ? "no indexes yet\n" : table);
}

struct PartitionRow {
  std::uint64_t partition = 0;
  std::uint64_t entities = 0;
  double load = 0;  // milliseconds a second
  std::string node = {};
};

constexpr std::size_t kMostShown = 10;

void add_shard(const data::JsonValue& shard, std::string& table) {
  table += fmt::format("  {:<28}", shard["address"].text());
  if (!shard["problem"].is_null()) {
    table += fmt::format("{}\n", shard["problem"].text());
    return;
  }
  table += fmt::format("{:>12}{:>12}{:>12}{:>14}{:>12}\n", whole(shard["entities"]),
                       whole(shard["edges"]), whole(shard["vectors"]),
                       format_bytes(whole(shard["disk_bytes"])), whole(shard["last_lsn"]));
}

void add_rows(std::span<const PartitionRow> rows, std::string& table) {
  table += fmt::format("  {:>9}{:>12}{:>12}  {}\n", "partition", "entities", "load ms/s", "node");
  for (const PartitionRow& row : rows.first(std::min(rows.size(), kMostShown)))
    table += fmt::format("  {:>9}{:>12}{:>12.2f}  {}\n", row.partition, row.entities, row.load,
                         row.node);
}

std::vector<PartitionRow> rows_of(const data::JsonValue& answer) {
  std::vector<PartitionRow> rows;
  for (const data::JsonValue& one : answer["partitions"].items()) {
    if (one["entities"].is_null()) continue;  // its node does not answer
    rows.push_back(
        {.partition = whole(one["partition"]),
         .entities = whole(one["entities"]),
         .load = one["load"].number() == nullptr ? 0 : *one["load"].number(),
         .node = std::string(answer["shards"].items()[whole(one["shard"])]["address"].text())});
  }
  return rows;
}

// The largest partitions and those with the most work, and how far they are from the mean.
void add_partitions(const data::JsonValue& answer, std::string& table) {
  std::vector<PartitionRow> rows = rows_of(answer);
  double entities = 0, load = 0;
  for (const PartitionRow& row : rows) {
    entities += static_cast<double>(row.entities);
    load += row.load;
  }
  const double count = std::max(1.0, static_cast<double>(rows.size()));
  std::ranges::stable_sort(rows, std::greater<>(), &PartitionRow::entities);
  table += fmt::format("\n{} partitions, {:.0f} entities on average; the largest:\n", rows.size(),
                       entities / count);
  add_rows(rows, table);
  if (load == 0) return;
  std::ranges::stable_sort(rows, std::greater<>(), &PartitionRow::load);
  table += fmt::format("\n{:.2f} ms of work a second on average; the most:\n", load / count);
  add_rows(rows, table);
}

Result<int> run_stats(const ShardsArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  KIN_TRY(const std::string answer, (*api)->get("/indexes/" + arguments.name + "/shards"));
  if (arguments.json) return print_result(answer + "\n");
  KIN_TRY(const data::JsonValue json, data::parse_json(answer));
  std::string table = fmt::format("  {:<28}{:>12}{:>12}{:>12}{:>14}{:>12}\n", "node", "entities",
                                  "edges", "vectors", "on disk", "LSN");
  for (const data::JsonValue& shard : json["shards"].items()) add_shard(shard, table);
  add_partitions(json, table);
  return print_result(table);
}

}  // namespace

Command add_shards_command(Verb app) {
  const Verb verb =
      app.add_subcommand("shards", "Show where indexes on nodes are, and move their partitions");
  verb.footer(kExamples);
  verb.require_subcommand(1, 1);
  const auto arguments = std::make_shared<ShardsArguments>();
  const auto add_verb = [&](const char* name, const char* what) {
    const Verb added = verb.add_subcommand(name, what);
    added.footer(kExamples);
    added.add_option("NAME", arguments->name, "The name of an index");
    add_at_flags(added, arguments->at);
    added.get_option("--at").required();
    added.add_flag("--json", arguments->json, "Print JSON");
    return added;
  };
  const Verb list = add_verb("list", "List the shards of all indexes, or of one");
  const Verb stats = add_verb("stats", "Show what the shards of an index hold");
  stats.get_option("NAME").required();
  std::vector<Command> verbs{{list, [=] { return run_list(*arguments, list); }},
                             {stats, [=] { return run_stats(*arguments, stats); }}};
  for (Command& one : add_move_verbs(verb)) verbs.push_back(std::move(one));
  for (Command& one : add_backup_verbs(verb)) verbs.push_back(std::move(one));
  return with_verbs(verb, std::move(verbs));
}

}  // namespace kin::app
