#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command.h"
#include "app/listen_flags.h"
#include "app/print.h"
#include "app/search/index_flags.h"
#include "server/router_service.h"

namespace kin::app {
namespace {

constexpr const char* kExamples = R"(
Examples:
  kindred router --data /srv/router --node 127.0.0.1:7700 --node 127.0.0.1:7701
  kindred router --data /srv/router --listen 0.0.0.0:8723 --token-file token --tls-cert cert.pem --tls-key key.pem \
    --node 10.0.0.7:7700 --node 10.0.0.8:7700 --node-token-file token --node-ca ca.pem
  kindred index create papers --embed none --partitions 64 --at 127.0.0.1:8723
  kindred index add papers papers.jsonl --at 127.0.0.1:8723
  kindred search papers "tides" --at 127.0.0.1:8723
  kindred shards list --at 127.0.0.1:8723

Serves indexes whose documents are spread over nodes (`kindred node`), with the JSON API of docs/api.md. Answers
are those of one index that holds all documents. The data folder holds the maps of the indexes: which node has which
part.)";

struct RouterArguments {
  ListenFlags listen{.listen = "127.0.0.1:8723"};
  std::string data;
  std::vector<std::string> nodes;
  std::string node_token_file;
  std::string node_certificates;
  std::string log;
  bool allow_private = false;
};

Result<server::RouterServiceOptions> understand_router(const RouterArguments& arguments) {
  KIN_TRY(const Listening listening, understand(arguments.listen));
  server::RouterServiceOptions options{.address = listening.address,
                                       .port = listening.port,
                                       .folder = arguments.data,
                                       .token = listening.token,
                                       .tls = listening.tls,
                                       .nodes = arguments.nodes,
                                       .node_certificates = arguments.node_certificates,
                                       .log = arguments.log};
  if (!arguments.node_token_file.empty()) {
    KIN_TRY(options.node_token, read_token(arguments.node_token_file));
  }
  KIN_TRY(options.embedders, index_open_options(arguments.data));
  options.embedders.private_embedders = arguments.allow_private;
  return options;
}

Result<int> run_router(const RouterArguments& arguments, const CLI::App& verb) {
  const auto understood = understand_router(arguments);
  if (!understood) return wrong_usage(understood.error(), verb);
  raise_file_limit();
  std::atomic<bool> stop{false};
  const StopSignals signals(stop);
  auto service = server::RouterService::start(*understood);
  if (!service && service.error().code == Code::kInvalidArgument)
    return wrong_usage(service.error(), verb);
  if (!service) return service.error();
  KIN_RETURN_IF_ERROR(print(
      fmt::format("The router is at {}, with {} nodes\nData folder: {}. Press Ctrl-C to stop.\n",
                  (*service)->url(), arguments.nodes.size(), arguments.data)));
  KIN_RETURN_IF_ERROR(write_port(arguments.listen, (*service)->port()));
  wait_for_signal(stop);
  (*service)->stop();
  return kDone;
}

}  // namespace

Command add_router_command(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("router", "Serve indexes that are spread over nodes");
  const auto arguments = std::make_shared<RouterArguments>();
  verb->footer(kExamples);
  verb->add_option("--data", arguments->data, "Folder of the maps")->type_name("DIR")->required();
  verb->add_option("--node", arguments->nodes,
                   "Address of a node, for new indexes; may be repeated")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  verb->add_option("--node-token-file", arguments->node_token_file,
                   "File whose first line is the nodes' token")
      ->type_name("FILE");
  verb->add_option("--node-ca", arguments->node_certificates,
                   "Certificates, one of which signed the nodes' (PEM); without it nodes are "
                   "reached without TLS")
      ->type_name("FILE");
  verb->add_flag("--allow-private", arguments->allow_private,
                 "Servers of vectors (--embed http:…) may have private addresses");
  add_listen_flags(*verb, arguments->listen);
  add_log_flag(*verb, arguments->log);
  return {verb, [=]() -> Result<int> { return run_router(*arguments, *verb); }};
}

}  // namespace kin::app
