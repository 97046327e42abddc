#include <fmt/format.h>

#include "app/command.h"
#include "app/listen_flags.h"
#include "app/nodes/log_flags.h"
#include "app/nodes/meta_flags.h"
#include "app/options.h"
#include "app/print.h"
#include "app/search/index_flags.h"
#include "base/memory.h"
#include "server/node_service.h"
#include "server/router_service.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred node --data /srv/kindred --listen 127.0.0.1:7700
  kindred node --data /srv/kindred --listen 127.0.0.1:7700 --api 127.0.0.1:8723
  kindred node --data /srv/kindred --listen 10.0.0.7:7700 --token-file token --tls-cert cert.pem --tls-key key.pem
  kindred node --data /srv/kindred --listen 10.0.0.7:7700 --log s3://backups/kindred --ack durable
  kindred node --data /srv/kindred --log /mnt/shared/kindred-log
  kindred node --data /srv/kindred --listen 10.0.0.7:7700 --log s3://backups/kindred --ack durable \
    --meta etcd://10.0.0.1:2379,10.0.0.2:2379,10.0.0.3:2379/kindred

Serves shards of indexes over gRPC to `kindred router`, which makes the indexes and spreads documents over its
nodes. Changes are durable when they are acknowledged; a node that was killed goes on where it was.

One node needs no router: with --api it serves the JSON API and the page of a router for indexes of its own, on this
machine. `kindred index create papers --at 127.0.0.1:8723` makes one.

With --log every change also goes to objects in a bucket or a shared folder, so that it survives this machine. With
--ack durable nothing is answered before it is there: a node that loses its disk loses nothing that anybody was told.
Start a node with the same --listen (or --log-name) and --log on an empty folder, and it restores its shards.
`kindred shards backup` and `kindred shards restore` work on such a log.

With --meta, too, other nodes take over when this one is gone. The node holds a lease in etcd for each shard that it owns,
renews it every second, and answers only while it is valid. It has copies of shards of other nodes, as `kindred router
--followers 1` or `kindred shards followers` say; they follow the log. When a lease was not renewed for six seconds, a
copy takes the shard over, and routers find it by themselves. A node that comes back becomes a copy. Without --ack durable
the last changes may be lost in a take-over.

An address that other machines can reach needs a token (openssl rand -hex 24 > token) and TLS.)";

struct NodeArguments {
  ListenFlags listen{.listen = "127.0.0.1:7700"};
  std::string data;
  std::string call_log;
  LogFlags log;
  MetaFlags meta;
  std::string address;
  std::string trusted;
  std::optional<std::uint16_t> metrics_port;
  std::string api;
};

// Options of the router in this process; nothing without --api.
Result<std::optional<server::RouterServiceOptions>> understand_api(const NodeArguments& arguments,
                                                                   const Listening& node) {
  if (arguments.api.empty()) return std::optional<server::RouterServiceOptions>();
  if (!arguments.meta.meta.empty())
    return Error{Code::kInvalidArgument,
                 "--api serves indexes of this node alone; with --meta run `kindred router`"};
  const auto listening = understand(ListenFlags{.listen = arguments.api});
  if (!listening) return with_context("--api", listening.error());
  if (node.tls)
    return Error{Code::kInvalidArgument,
                 "--api cannot be combined with TLS: run `kindred router` beside the node"};
  server::RouterServiceOptions options{.address = listening->address,
                                       .port = listening->port,
                                       .folder = std::filesystem::path(arguments.data) / ".maps",
                                       .token = node.token,
                                       .node_token = node.token,
                                       .log = arguments.call_log};
  options.on_problem = [](const Error& error) { say("kindred: " + error.message + "\n"); };
  KIN_TRY(options.embedders, index_open_options(arguments.data));
  return std::optional(std::move(options));
}

Result<int> run_node(const NodeArguments& arguments, Verb verb) {
  const auto listening = understand(arguments.listen);
  if (!listening) return wrong_usage(listening.error(), verb);
  auto api = understand_api(arguments, *listening);
  if (!api) return wrong_usage(api.error(), verb);
  // The changes of 32 MiB of log are freed at once when they go to tables.
  return_freed_memory();
  raise_file_limit();
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  server::NodeOptions options{.address = listening->address,
                              .port = listening->port,
                              .folder = arguments.data,
                              .token = listening->token,
                              .tls = listening->tls,
                              .metrics_port = arguments.metrics_port,
                              .log = arguments.call_log};
  if (const Status understood = understand(arguments.log, options); !understood)
    return wrong_usage(understood.error(), verb);
  auto etcd = understand(arguments.meta);
  if (!etcd) return wrong_usage(etcd.error(), verb);
  options.etcd = std::move(*etcd);
  options.reached_at = arguments.address;
  options.trusted = arguments.trusted;
  options.on_event = [](const std::string& event) { say("kindred: " + event + "\n"); };
  options.on_problem = [](const Error& error) { say("kindred: " + error.message + "\n"); };
  auto service = server::NodeService::start(std::move(options));
  if (!service && service.error().code == Code::kInvalidArgument)
    return wrong_usage(service.error(), verb);
  if (!service) return service.error();
  KIN_RETURN_IF_ERROR(
      print(fmt::format("The node is at {}:{}\nData folder: {}. Press Ctrl-C to stop.\n",
                        listening->address, (*service)->port(), arguments.data)));
  if (arguments.metrics_port) {
    KIN_RETURN_IF_ERROR(print(fmt::format("Metrics are at {}:{}/metrics\n", listening->address,
                                          (*service)->metrics_port())));
  }
  std::unique_ptr<server::RouterService> router;
  if (*api) {
    (*api)->nodes = {fmt::format("{}:{}", listening->address, (*service)->port())};
    auto started = server::RouterService::start(std::move(**api));
    if (!started && started.error().code == Code::kInvalidArgument)
      return wrong_usage(started.error(), verb);
    if (!started) return started.error();
    router = std::move(*started);
    KIN_RETURN_IF_ERROR(print(fmt::format("The API and the page are at {}\n", router->url())));
  }
  KIN_RETURN_IF_ERROR(write_port(arguments.listen, (*service)->port()));
  wait_for_signal(stop);
  if (router) router->stop();
  KIN_RETURN_IF_ERROR((*service)->stop());
  return kDone;
}

}  // namespace

Command add_node_command(Verb app) {
  const Verb verb = app.add_subcommand("node", "Serve shards of indexes to a router");
  const auto arguments = std::make_shared<NodeArguments>();
  verb.footer(kExamples);
  verb.add_option("--data", arguments->data, "Folder of the shards").type_name("DIR").required();
  add_listen_flags(verb, arguments->listen);
  verb.add_option("--metrics-port", arguments->metrics_port,
                  "Serve /metrics for Prometheus and /healthz over HTTP at this port of the same "
                  "address, with the same token and TLS; 0 chooses a free port")
      .type_name("PORT");
  verb.add_option("--api", arguments->api,
                  "Serve the JSON API and the page for indexes of this node alone, at a loopback "
                  "address of this machine")
      .type_name("ADDRESS:PORT");
  verb.add_option(
          "--node-ca", arguments->trusted,
          "PEM certificates that signed those of the other nodes, with TLS: partitions then move "
          "from node to node, and not through the router")
      .type_name("FILE");
  add_shipped_log_flags(verb, arguments->log);
  add_meta_flags(
      verb, arguments->meta,
      "Hold leases in this etcd, have copies of shards of other nodes, and take over when "
      "their nodes are gone; needs --log");
  verb.add_option("--address", arguments->address,
                  "With --meta: this node's address as routers have it in --node (default: that of "
                  "--listen)")
      .type_name("HOST:PORT");
  add_log_flag(verb, arguments->call_log, "--call-log");
  return {verb, [=]() -> Result<int> { return run_node(*arguments, verb); }};
}

}  // namespace kin::app
