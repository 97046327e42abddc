#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "app/command.h"
#include "app/listen_flags.h"
#include "app/nodes/meta_flags.h"
#include "app/options.h"
#include "app/print.h"
#include "app/search/index_flags.h"
#include "base/memory.h"
#include "server/router_service.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred router --data /srv/router --node 127.0.0.1:7700 --node 127.0.0.1:7701
  kindred router --data /srv/router --listen 0.0.0.0:8723 --token-file token --tls-cert cert.pem --tls-key key.pem \
    --node 10.0.0.7:7700 --node 10.0.0.8:7700 --node-token-file token --node-ca ca.pem
  kindred router --meta etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379/kindred --node 10.0.0.7:7700
  kindred router --meta etcd://10.0.0.1:2379/kindred --node 10.0.0.7:7700 --node 10.0.0.8:7700 --followers 1
  kindred index create papers --embed none --partitions 64 --at 127.0.0.1:8723
  kindred index add papers papers.jsonl --at 127.0.0.1:8723
  kindred search papers "tides" --at 127.0.0.1:8723
  kindred shards list --at 127.0.0.1:8723

Serves indexes whose documents are spread over nodes (`kindred node`), with the JSON API of docs/api.md. Answers
are those of one index that holds all documents. The data folder holds the maps of the indexes: which node has which
part. Several routers keep them in etcd (--meta) and serve the same indexes; while etcd is away they go on with the maps
they know, and no index can be made. With --followers 1 each shard of a new index has a copy on a second node, which
takes over when the first is gone (`kindred node --help`).)";

struct RouterArguments {
  ListenFlags listen{.listen = "127.0.0.1:8723"};
  std::string data;
  std::vector<std::string> nodes;
  std::string node_token_file;
  std::string node_certificates;
  std::string tenants;
  MetaFlags meta;
  std::size_t followers = 0;
  double stale_reads = 5;
  double hedged_reads = 5;
  std::string log;
  std::size_t moves_at_once = 2;
  std::string move_rate;
  double move_grace = 10;
  std::string balance;
  double balance_skew = 1.5;
  double balance_pause = 60;
  bool balance_partitions = false;
  bool allow_private = false;
};

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

Result<server::RouterServiceOptions> understand_router(const RouterArguments& arguments) {
  KIN_TRY(const Listening listening, understand(arguments.listen));
  server::RouterServiceOptions options{.address = listening.address,
                                       .port = listening.port,
                                       .folder = arguments.data,
                                       .token = listening.token,
                                       .tls = listening.tls,
                                       .nodes = arguments.nodes,
                                       .followers = arguments.followers,
                                       .node_certificates = arguments.node_certificates,
                                       .log = arguments.log};
  if (!arguments.node_token_file.empty()) {
    KIN_TRY(options.node_token, read_token(arguments.node_token_file));
  }
  options.tenants = arguments.tenants;
  options.hedged_reads = arguments.hedged_reads / 100;
  options.stale_reads =
      std::chrono::floor<std::chrono::milliseconds>(nanoseconds_of(arguments.stale_reads));
  options.moves_at_once = arguments.moves_at_once;
  options.move_grace = nanoseconds_of(arguments.move_grace);
  options.balance = arguments.balance;
  options.balance_skew = arguments.balance_skew;
  options.balance_pause = nanoseconds_of(arguments.balance_pause);
  options.balance_partitions = arguments.balance_partitions;
  if (!arguments.move_rate.empty()) {
    auto rate = parse_bytes(arguments.move_rate);
    if (!rate.ok()) return with_context("--move-rate", rate.error());
    options.move_bytes_per_second = *rate;
  }
  KIN_TRY(options.etcd, understand(arguments.meta));
  if (!options.etcd && arguments.data.empty())
    return Error{Code::kInvalidArgument, "--data or --meta is needed: where are the maps?"};
  options.on_problem = [](const Error& error) { say("kindred: " + error.message + "\n"); };
  KIN_TRY(options.embedders, index_open_options(arguments.data));
  options.embedders.private_embedders = arguments.allow_private;
  return options;
}

Result<int> run_router(const RouterArguments& arguments, Verb verb) {
  const auto understood = understand_router(arguments);
  if (!understood) return wrong_usage(understood.error(), verb);
  raise_file_limit();
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  auto service = server::RouterService::start(*understood);
  if (!service && service.error().code == Code::kInvalidArgument)
    return wrong_usage(service.error(), verb);
  if (!service) return service.error();
  KIN_RETURN_IF_ERROR(print(fmt::format(
      "The router is at {}, with {} node{}\n{}: {}. Press Ctrl-C to stop.\n", (*service)->url(),
      arguments.nodes.size(), arguments.nodes.size() == 1 ? "" : "s",
      arguments.meta.meta.empty() ? "Data folder" : "Maps",
      arguments.meta.meta.empty() ? arguments.data : arguments.meta.meta)));
  KIN_RETURN_IF_ERROR(write_port(arguments.listen, (*service)->port()));
  wait_for_signal(stop);
  (*service)->stop();
  return kDone;
}

void add_move_flags(Verb verb, RouterArguments& arguments) {
  verb.add_option("--moves-at-once", arguments.moves_at_once,
                  "Partitions of an index that move at a time")
      .range(1, 1'000)
      .capture_default_str();
  verb.add_option("--move-rate", arguments.move_rate,
                  "Most bytes that a move copies in a second, such as 20MB; without it there is no "
                  "limit")
      .type_name("SIZE");
  verb.add_option("--move-grace", arguments.move_grace,
                  "Seconds between the end of a move and the removal of the old copy")
      .range(0.0, 86'400.0)
      .capture_default_str();
  verb.add_option("--balance", arguments.balance,
                  "Move partitions whenever a node has too much of an index, by size or by load; "
                  "without it partitions move only when you ask for it")
      .is_member({"size", "load"});
  verb.add_option("--balance-skew", arguments.balance_skew,
                  "With --balance: how many times the mean a node may have before partitions move")
      .range(1.0, 1'000.0)
      .capture_default_str();
  verb.add_flag(
      "--balance-partitions", arguments.balance_partitions,
      "Split partitions that have more than three times the mean of their index, and merge "
      "small neighbours, one at a time, while everybody keeps reading and writing");
  verb.add_option("--balance-pause", arguments.balance_pause,
                  "With --balance or --balance-partitions: seconds between two looks at the nodes")
      .range(0.1, 86'400.0)
      .capture_default_str();
}

}  // namespace

Command add_router_command(Verb app) {
  const Verb verb = app.add_subcommand("router", "Serve indexes that are spread over nodes");
  const auto arguments = std::make_shared<RouterArguments>();
  verb.footer(kExamples);
  verb.add_option("--data", arguments->data, "Folder of the maps").type_name("DIR");
  add_meta_flags(verb, arguments->meta,
                 "Keep the maps in etcd (3.4 or newer) instead, for several routers");
  verb.add_option("--node", arguments->nodes, "Address of a node, for new indexes; may be repeated")
      .type_name("HOST:PORT")
      .no_extra_args();
  verb.add_option(
          "--followers", arguments->followers,
          "Copies of each shard of a new index on other nodes, one of which takes over when "
          "the shard's node is gone; needs --meta, and nodes with --meta and --log")
      .range(0, 10)
      .capture_default_str();
  verb.add_option("--stale-reads", arguments->stale_reads,
                  "While the owner of a shard is slow, silent or gone, its followers answer "
                  "searches and other reads if their state is at most so many seconds old; answers "
                  "say how old (\"behind_seconds\"). 0: reads wait for an owner, as writes do")
      .type_name("SECONDS")
      .range(0.0, 86'400.0)
      .capture_default_str();
  verb.add_option(
          "--hedged-reads", arguments->hedged_reads,
          "Of 100 such reads at most so many are sent to a follower, too, because the owner "
          "takes longer than it usually does. 0: followers are asked when it is silent for "
          "half a second")
      .type_name("PERCENT")
      .range(0.0, 100.0)
      .capture_default_str();
  verb.add_option("--node-token-file", arguments->node_token_file,
                  "File whose first line is the nodes' token")
      .type_name("FILE");
  verb.add_option("--node-ca", arguments->node_certificates,
                  "Certificates, one of which signed the nodes' (PEM); without it nodes are "
                  "reached without TLS")
      .type_name("FILE");
  verb.add_flag("--allow-private", arguments->allow_private,
                "Servers of vectors (--embed http:…) may have private addresses");
  verb.add_option("--tenants", arguments->tenants,
                  "File of the tenants: one JSON object a line, with name, hash of the token and "
                  "quotas; read again when it changes")
      .type_name("FILE");
  add_move_flags(verb, *arguments);
  add_listen_flags(verb, arguments->listen);
  add_log_flag(verb, arguments->log);
  return {verb, [=]() -> Result<int> { return run_router(*arguments, verb); }};
}

}  // namespace kin::app
