#include "app/nodes/backup_command.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "app/options.h"
#include "base/time_text.h"
#include "data/timestamp.h"
#include "server/backup.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred shards backup --from s3://live/kindred --to /backups/monday
  kindred shards backup papers --from /mnt/shared/kindred-log --to s3://backups/papers
  kindred shards restore papers --from /backups/monday --data /srv/kindred --node 10.0.0.7:7700
  kindred shards restore papers --from s3://live/kindred --data /srv/kindred --at 2026-03-01T12:00:00Z

`backup` copies the newest snapshot of each shard and the log after it from the --log of running nodes to another
place. Nodes are not asked and not slowed; what a former backup copied to the same place is not copied again.

`restore` writes the shards of one node into the data folder of a node that is not running: as they were last, or at
the time of --at. --from is a backup, or the --log itself. A node that is started on the folder with --log takes over
the shards from whoever has them: what came after the time of --at is given up.)";

struct BackupArguments {
  std::string name;
  std::string from;
  std::string to;
  std::string data;
  std::string node;
  std::string at;
};

std::uint64_t draw() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Result<int> run_backup(const BackupArguments& arguments, Verb verb) {
  auto from = cloud::open_objects(arguments.from, system_clock(), draw());
  if (!from) return wrong_usage(with_context("--from", from.error()), verb);
  auto to = cloud::open_objects(arguments.to, system_clock(), draw());
  if (!to) return wrong_usage(with_context("--to", to.error()), verb);
  KIN_TRY(const auto done, server::back_up(**from, **to, arguments.name));
  std::string text;
  for (const server::BackedUp& one : done)
    text += fmt::format("{}  {}  restores any time from {} to {}, {} bytes copied\n",
                        one.shard.index, one.owner, iso_time(one.report.from),
                        iso_time(one.report.until), one.report.bytes);
  return print_result(text);
}

Result<int> run_restore(const BackupArguments& arguments, Verb verb) {
  server::RestoreRequest request{
      .index = arguments.name, .node = arguments.node, .folder = arguments.data};
  if (!arguments.at.empty()) {
    const auto at = data::parse_timestamp(arguments.at);
    if (!at)
      return wrong_usage({Code::kInvalidArgument,
                          fmt::format("--at {} is not a time (write 2026-03-01T12:00:00Z)",
                                      arguments.at)},
                         verb);
    // With everything that happened in that second.
    request.at = WallTime{std::chrono::milliseconds{*at * 1000 + 999}};
  }
  auto from = cloud::open_objects(arguments.from, system_clock(), draw());
  if (!from) return wrong_usage(with_context("--from", from.error()), verb);
  KIN_TRY(const auto done, server::restore(**from, request));
  std::string text;
  for (const server::RestoredIndex& one : done)
    text += fmt::format("{}  as of {}\n", one.index, iso_time(one.time));
  return print_result(text);
}

}  // namespace

std::vector<Command> add_backup_verbs(Verb shards) {
  const auto arguments = std::make_shared<BackupArguments>();
  const auto add_verb = [&](const char* name, const char* what, const char* from) {
    const Verb added = shards.add_subcommand(name, what);
    added.footer(kExamples);
    added.add_option("NAME", arguments->name, "The name of an index (default: all)");
    added.add_option("--from", arguments->from, from).type_name("s3://...|DIR").required();
    return added;
  };
  const Verb backup = add_verb("backup", "Copy the shipped log of shards to another place",
                         "The --log of the nodes");
  backup.add_option("--to", arguments->to, "The backup: a bucket and prefix, or a folder")
      .type_name("s3://...|DIR")
      .required();
  const Verb restore = add_verb("restore", "Restore the shards of a node from a backup or a log",
                          "A backup, or the --log of nodes");
  restore.add_option("--data", arguments->data, "Data folder of a node that is not running")
      .type_name("DIR")
      .required();
  restore
      .add_option("--node", arguments->node,
                  "The node whose shards to restore, by its --listen or --log-name; needed if an "
                  "index has shards of several nodes")
      .type_name("NAME");
  restore.add_option("--at", arguments->at, "Restore the state at this time (default: the newest)")
      .type_name("TIME");
  return {{backup, [=] { return run_backup(*arguments, backup); }},
          {restore, [=] { return run_restore(*arguments, restore); }}};
}

}  // namespace kin::app
