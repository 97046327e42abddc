#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/remote_api.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred shards list --at 127.0.0.1:8723
  kindred shards list papers --at https://router.example.org --at-token-file token --json

Shows the shards of a router's indexes: the node of each, how many partitions it has, its last change (LSN), and
whether it answers.)";

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

Result<int> run_list(const ShardsArguments& arguments, const CLI::App& verb) {
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

}  // namespace

Command add_shards_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("shards", "Show where indexes on nodes are");
  verb->footer(kExamples);
  verb->require_subcommand(1);
  const auto arguments = std::make_shared<ShardsArguments>();
  CLI::App* list = verb->add_subcommand("list", "List the shards of all indexes, or of one");
  list->footer(kExamples);
  list->add_option("NAME", arguments->name, "The name of an index");
  add_at_flags(*list, arguments->at);
  list->get_option("--at")->required();
  list->add_flag("--json", arguments->json, "Print JSON");
  return with_verbs(*verb, {{list, [=] { return run_list(*arguments, *list); }}});
}

}  // namespace kin::app
