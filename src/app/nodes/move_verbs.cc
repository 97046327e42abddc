#include "app/nodes/move_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "app/nodes/move_tables.h"
#include "app/options.h"
#include "app/print.h"
#include "app/progress_line.h"
#include "app/remote_api.h"
#include "base/clock.h"
#include "base/json_writer.h"
#include "data/json_value.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred shards move papers 7 12 --to 10.0.0.8:7700 --at 127.0.0.1:8723
  kindred shards split papers 10.0.0.9:7700 --at 127.0.0.1:8723 --dry-run
  kindred shards split papers 10.0.0.9:7700 --at 127.0.0.1:8723 --wait
  kindred shards drain papers 10.0.0.7:7700 --at 127.0.0.1:8723 --wait
  kindred shards balance papers --by load --max-skew 1.3 --at 127.0.0.1:8723
  kindred shards split papers --partition 7 --at 127.0.0.1:8723 --wait
  kindred shards merge papers 7 12 --at 127.0.0.1:8723
  kindred shards retrain papers 10.0.0.8:7700 --at 127.0.0.1:8723
  kindred shards balance papers --partitions --dry-run --at 127.0.0.1:8723
  kindred shards migrations papers --at 127.0.0.1:8723
  kindred shards abort papers 7 --at 127.0.0.1:8723
  kindred shards abort papers --all --at 127.0.0.1:8723
  kindred shards followers papers 1 --at 127.0.0.1:8723

Partitions move while everybody keeps reading and writing. `split` makes a shard of the index on another node, which must
run, and moves its share of the partitions there. `drain` moves all partitions of a node to the others; its place in the map
stays, empty, and the node can be switched off. `balance` moves partitions from the fullest node to the emptiest until none
has much more than the mean. --dry-run shows what would move and what it gains. Any router of the index carries moves on;
they survive restarts of routers and nodes. A move can be aborted until the partition is handed over. `followers` says how
many copies each shard has on other nodes; one takes over when the shard's node is gone (`kindred node --help`).

An index whose documents are placed by their vectors can divide its partitions anew, one time after the other: `split
--partition` divides one into several on its node, by centroids that are learnt from its vectors; `merge` puts the
documents of several on one node into the first; `retrain` fits the centroids of all partitions of a node to their
vectors. `balance --partitions` splits what is larger than --split-above times the mean, or --target, and merges
neighbours below --merge-below times of it: the first of its plan at a time. Everybody keeps reading and writing, but
documents of these partitions are not listed (exported) meanwhile. `abort --repartition` undoes one that has not begun
to divide.)";

struct MoveArguments {
  AtFlags at;
  std::string name;
  std::vector<std::uint64_t> partitions;
  std::string to;
  std::string node;
  std::string by = "size";
  double max_skew = 1.5;
  double least_gain = 0.02;
  std::uint64_t most = 16;
  std::uint64_t followers = 0;
  std::uint64_t into = 2;
  double target = 0;
  double split_above = 3;
  double merge_below = 0.25;
  bool all = false;
  bool repartition = false;
  bool by_partitions = false;
  bool dry_run = false;
  bool wait = false;
  bool json = false;
};

using data::JsonValue;

std::string moves_path(const std::string& name, std::string_view below) {
  return index_path(name) + std::string(below);
}

// Some moves that are waited for, as a router told of them last.
struct Waited {
  std::size_t over = 0;
  std::vector<std::string> failed = {};  // why
  std::string current = {};              // how far the first that is not over is
};

Waited look_at(const JsonValue& answer, const std::set<std::uint64_t>& partitions) {
  Waited seen;
  for (const JsonValue& move : answer["moves"].items()) {
    const std::uint64_t partition = whole(move["partition"]);
    if (!partitions.contains(partition)) continue;
    const bool over = truth(move["over"]);
    seen.over += over ? 1 : 0;
    if (over && move["phase"].text() == "failed")
      seen.failed.push_back(fmt::format("partition {}: {}", partition, move["reason"].text()));
    const bool is_better = seen.current.empty() || !move["entities"].is_null();
    if (!over && is_better)
      seen.current = fmt::format("partition {} {} {}", partition, move["phase"].text(),
                                 progress_of(move));
  }
  return seen;
}

// Waits until all of these moves are over. kFailed if one of them failed.
Result<int> wait_for(RemoteApi& api, const std::string& name,
                     const std::set<std::uint64_t>& partitions) {
  std::mutex lock;
  std::string line;
  const ProgressLine progress(
      [&](double) {
        const std::lock_guard guard(lock);
        return line;
      },
      true);
  for (;;) {
    KIN_TRY(const std::string answer, api.get(moves_path(name, "/moves")));
    KIN_TRY(const JsonValue json, data::parse_json(answer));
    const Waited seen = look_at(json, partitions);
    {
      const std::lock_guard guard(lock);
      line = fmt::format("{} of {} moved; {}", seen.over, partitions.size(), seen.current);
    }
    if (seen.over >= partitions.size()) {
      for (const std::string& why : seen.failed) say("kindred: " + why + "\n");
      return seen.failed.empty() ? kDone : kFailed;
    }
    system_clock().sleep_for(std::chrono::milliseconds{250});
  }
}

// Sends a request for moves, shows the plan, and waits if that is wanted.
Result<int> run_plan(const MoveArguments& arguments, Verb verb, std::string_view below,
                     std::string body) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  KIN_TRY(const std::string answer,
          (*api)->post(moves_path(arguments.name, below), std::move(body)));
  KIN_TRY(const JsonValue json, data::parse_json(answer));
  std::set<std::uint64_t> begun;
  for (const JsonValue& one : json["plan"]["moves"].items()) begun.insert(whole(one["partition"]));
  for (const JsonValue& one : json["refused"].items()) begun.erase(whole(one["partition"]));
  const bool waits = arguments.wait && !arguments.dry_run && !begun.empty();
  if (arguments.json) {
    KIN_TRY([[maybe_unused]] const int printed, print_result(answer + "\n"));
  } else {
    std::string text = plan_table(json);
    if (arguments.dry_run)
      text += "nothing was begun (--dry-run)\n";
    else if (!begun.empty())
      text += fmt::format("{} begun; `kindred shards migrations {}` shows how far\n",
                          plural(begun.size(), "move"), arguments.name);
    KIN_TRY([[maybe_unused]] const int printed, print_result(text));
  }
  if (waits) {
    KIN_TRY(const int ended, wait_for(**api, arguments.name, begun));
    if (ended != kDone) return ended;
    if (!arguments.json) return print_result(plural(begun.size(), "partition") + " moved\n");
  }
  return json["refused"].items().empty() ? kDone : kFailed;
}

// Waits until the last repartition is over. kFailed if it was undone.
Result<int> wait_for_repartition(RemoteApi& api, const std::string& name) {
  std::mutex lock;
  std::string line;
  const ProgressLine progress(
      [&](double) {
        const std::lock_guard guard(lock);
        return line;
      },
      true);
  for (;;) {
    KIN_TRY(const std::string answer, api.get(moves_path(name, "/moves")));
    KIN_TRY(const JsonValue json, data::parse_json(answer));
    const JsonValue& one = json["repartition"];
    if (truth(one["over"])) {
      if (one["phase"].text() != "failed") return kDone;
      say(fmt::format("kindred: {}\n", one["reason"].text()));
      return kFailed;
    }
    {
      const std::lock_guard guard(lock);
      line = repartition_line(one);
      if (!line.empty()) line.pop_back();
    }
    system_clock().sleep_for(std::chrono::milliseconds{250});
  }
}

// Sends a request for repartitions, shows the plan, and waits if that is wanted.
Result<int> run_repartition(const MoveArguments& arguments, Verb verb, JsonWriter& body) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  body.field("dry_run", arguments.dry_run).end();
  KIN_TRY(const std::string answer,
          (*api)->post(moves_path(arguments.name, "/repartition"), body.take()));
  KIN_TRY(const JsonValue json, data::parse_json(answer));
  if (arguments.json) {
    KIN_TRY([[maybe_unused]] const int printed, print_result(answer + "\n"));
  } else {
    std::string text;
    for (const JsonValue& one : json["plan"].items())
      text += fmt::format("  {:>12.6g} entities  {}  {}\n", real(one["entities"]),
                          one["node"].text(), name_of_repartition(one));
    if (text.empty()) text = "nothing to split or merge\n";
    if (arguments.dry_run)
      text += "nothing was begun (--dry-run)\n";
    else if (truth(json["begun"]))
      text += fmt::format("{}begun; `kindred shards migrations {}` shows how far\n",
                          json["plan"].items().size() > 1 ? "the first was " : "", arguments.name);
    KIN_TRY([[maybe_unused]] const int printed, print_result(text));
  }
  if (!arguments.wait || !truth(json["begun"])) return kDone;
  return wait_for_repartition(**api, arguments.name);
}

Result<int> run_merge(const MoveArguments& arguments, Verb verb) {
  if (arguments.partitions.size() < 2)
    return wrong_usage({Code::kInvalidArgument, "a merge needs two partitions at least"}, verb);
  const std::vector<std::uint64_t> retired(arguments.partitions.begin() + 1,
                                           arguments.partitions.end());
  JsonWriter body;
  body.begin_object().field("partitions", arguments.partitions).field("retired", retired);
  return run_repartition(arguments, verb, body);
}

Result<int> run_retrain(const MoveArguments& arguments, Verb verb) {
  JsonWriter body;
  body.begin_object().field("retrain", arguments.node);
  return run_repartition(arguments, verb, body);
}

Result<int> run_move(const MoveArguments& arguments, Verb verb) {
  JsonWriter body;
  body.begin_object().field("partitions", arguments.partitions).field("to", arguments.to);
  return run_plan(arguments, verb, "/moves", body.field("dry_run", arguments.dry_run).end().take());
}

Result<int> run_node(const MoveArguments& arguments, Verb verb, std::string_view below) {
  JsonWriter body;
  body.begin_object().field("node", arguments.node).field("dry_run", arguments.dry_run);
  return run_plan(arguments, verb, below, body.end().take());
}

Result<int> run_split(const MoveArguments& arguments, Verb verb) {
  if (arguments.node.empty() == arguments.partitions.empty())
    return wrong_usage({Code::kInvalidArgument, "either NODE or --partition is needed"}, verb);
  if (arguments.partitions.empty()) return run_node(arguments, verb, "/split");
  JsonWriter body;
  body.begin_object().field("partitions", arguments.partitions);
  body.field("added", (arguments.into - 1) * arguments.partitions.size());
  return run_repartition(arguments, verb, body);
}

Result<int> run_balance(const MoveArguments& arguments, Verb verb) {
  JsonWriter body;
  if (arguments.by_partitions) {
    body.begin_object().field("target", arguments.target);
    body.field("split_above", arguments.split_above).field("merge_below", arguments.merge_below);
    return run_repartition(arguments, verb, body);
  }
  body.begin_object().field("by", arguments.by).field("max_skew", arguments.max_skew);
  body.field("least_gain", arguments.least_gain).field("most", arguments.most);
  return run_plan(arguments, verb, "/balance",
                  body.field("dry_run", arguments.dry_run).end().take());
}

Result<int> run_migrations(const MoveArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  KIN_TRY(const std::string answer, (*api)->get(moves_path(arguments.name, "/moves")));
  if (arguments.json) return print_result(answer + "\n");
  KIN_TRY(const JsonValue json, data::parse_json(answer));
  return print_result(moves_table(json) + repartition_line(json["repartition"]));
}

Result<int> run_abort(const MoveArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  const int given = (arguments.all ? 1 : 0) + (arguments.partitions.empty() ? 0 : 1) +
                    (arguments.repartition ? 1 : 0);
  if (given != 1)
    return wrong_usage(
        {Code::kInvalidArgument, "one of partitions, --all and --repartition is needed"}, verb);
  JsonWriter body;
  body.begin_object();
  if (arguments.repartition)
    body.field("repartition", true);
  else if (arguments.all)
    body.field("all", true);
  else
    body.field("partitions", arguments.partitions);
  KIN_TRY(const std::string answer,
          (*api)->post(moves_path(arguments.name, "/abort"), body.end().take()));
  if (arguments.json) return print_result(answer + "\n");
  if (arguments.repartition) return print_result("repartition to be undone\n");
  KIN_TRY(const JsonValue json, data::parse_json(answer));
  return print_result(plural(json["aborted"].items().size(), "move") + " to be undone\n");
}

Result<int> run_followers(const MoveArguments& arguments, Verb verb) {
  const auto api = RemoteApi::open(arguments.at);
  if (!api) return wrong_usage(api.error(), verb);
  JsonWriter body;
  body.begin_object().field("count", arguments.followers);
  KIN_TRY(const std::string answer,
          (*api)->post(moves_path(arguments.name, "/followers"), body.end().take()));
  if (arguments.json) return print_result(answer + "\n");
  KIN_TRY(const JsonValue json, data::parse_json(answer));
  std::string table;
  for (const JsonValue& one : json["followers"].items())
    table += fmt::format("  shard {:>3} of {}  is copied to {}\n", whole(one["shard"]),
                         one["owner"].text(), one["address"].text());
  return print_result(table.empty() ? "no shard has copies\n" : table);
}

void add_plan_flags(Verb verb, MoveArguments& arguments) {
  verb.add_flag("--dry-run", arguments.dry_run, "Show the plan and its gain, and begin nothing");
  verb.add_flag("--wait", arguments.wait, "Wait until the moves are over, with progress");
}

}  // namespace

std::vector<Command> add_move_verbs(Verb shards) {
  const auto arguments = std::make_shared<MoveArguments>();
  const auto add_verb = [&](const char* name, const char* what) {
    const Verb verb = shards.add_subcommand(name, what);
    verb.footer(kExamples);
    verb.add_option("NAME", arguments->name, "The name of an index").required();
    add_at_flags(verb, arguments->at);
    verb.get_option("--at").required();
    verb.add_flag("--json", arguments->json, "Print JSON");
    return verb;
  };
  const Verb move = add_verb("move", "Move partitions of an index to another of its nodes");
  move.add_option("PARTITION", arguments->partitions, "Numbers of partitions").required();
  move.add_option("--to", arguments->to, "The node that gets them")
      .type_name("HOST:PORT")
      .required();
  add_plan_flags(move, *arguments);
  const Verb drain = add_verb("drain", "Move all partitions of a node to the others");
  drain.add_option("NODE", arguments->node, "Address of the node, as `list` shows it").required();
  add_plan_flags(drain, *arguments);
  const Verb split = add_verb("split", "Add a node and move its share there, or divide a partition");
  split.add_option("NODE", arguments->node, "Address of the new node");
  split
      .add_option("--partition", arguments->partitions, "Divide this partition on its node instead")
      .type_name("NUMBER")
      .expected(1);
  split.add_option("--into", arguments->into, "With --partition: so many parts")
      .range(2, 64)
      .capture_default_str();
  add_plan_flags(split, *arguments);
  const Verb merge = add_verb("merge", "Put the documents of partitions of one node into the first");
  merge.add_option("PARTITION", arguments->partitions, "Numbers of partitions").required();
  add_plan_flags(merge, *arguments);
  const Verb retrain = add_verb("retrain", "Fit the centroids of a node's partitions to their vectors");
  retrain.add_option("NODE", arguments->node, "Address of the node, as `list` shows it").required();
  add_plan_flags(retrain, *arguments);
  const Verb balance = add_verb("balance", "Move partitions from full nodes to others, once");
  balance.add_option("--by", arguments->by, "Balance entities, or work")
      .is_member({"size", "load"})
      .capture_default_str();
  balance
      .add_option("--max-skew", arguments->max_skew,
                  "How many times the mean a node may have before anything moves")
      .range(1.0, 1'000.0)
      .capture_default_str();
  balance
      .add_option("--least-gain", arguments->least_gain,
                  "Share of the fullest node that a move must take off it")
      .range(0.0, 1.0)
      .capture_default_str();
  balance.add_flag("--partitions", arguments->by_partitions,
                   "Split and merge partitions instead, one of the plan at a time");
  balance
      .add_option("--target", arguments->target,
                  "With --partitions: entities that a partition should have; 0: the mean")
      .non_negative()
      .capture_default_str();
  balance
      .add_option("--split-above", arguments->split_above,
                  "With --partitions: how many times the target a partition may have")
      .range(1.0, 1'000.0)
      .capture_default_str();
  balance
      .add_option("--merge-below", arguments->merge_below,
                  "With --partitions: neighbours that together have less of the target are merged")
      .range(0.0, 1.0)
      .capture_default_str();
  balance.add_option("--most", arguments->most, "Most moves")
      .range(1, 65'536)
      .capture_default_str();
  add_plan_flags(balance, *arguments);
  const Verb migrations = add_verb("migrations", "Show the last move of each partition");
  const Verb abort = add_verb("abort", "Undo moves that are not handed over yet");
  abort.add_option("PARTITION", arguments->partitions, "Numbers of partitions");
  abort.add_flag("--all", arguments->all, "All moves of the index");
  abort.add_flag("--repartition", arguments->repartition,
                 "The split, merge or retraining that has not begun to divide");
  const Verb followers = add_verb("followers", "Say how many copies each shard has on other nodes");
  followers.add_option("COUNT", arguments->followers, "Copies beside the owner; 0: none")
      .range(0, 10)
      .required();
  return {{followers, [=] { return run_followers(*arguments, followers); }},
          {move, [=] { return run_move(*arguments, move); }},
          {drain, [=] { return run_node(*arguments, drain, "/drain"); }},
          {split, [=] { return run_split(*arguments, split); }},
          {merge, [=] { return run_merge(*arguments, merge); }},
          {retrain, [=] { return run_retrain(*arguments, retrain); }},
          {balance, [=] { return run_balance(*arguments, balance); }},
          {migrations, [=] { return run_migrations(*arguments, migrations); }},
          {abort, [=] { return run_abort(*arguments, abort); }}};
}

}  // namespace kin::app
