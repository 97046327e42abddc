#include "server/router_service.h"

#include <fmt/format.h>

#include "base/file.h"
#include "router/local_meta_store.h"
#include "server/api/router_api.h"
#include "server/page/assets.h"
#include "server/page/site.h"
#include "server/routed/routed_indexes.h"
#include "server/service/safety.h"

namespace kin::server {
namespace {

// Where the partitions of the indexes are, as far as the meta store answers.
std::vector<Gauge> map_gauges(RoutedIndexes& indexes) {
  std::vector<Gauge> gauges;
  const auto names = indexes.names();
  if (!names) return gauges;
  for (const std::string& name : *names) {
    const auto index = indexes.open(name);
    if (!index) continue;
    const router::ShardMap map = (*index)->shards().map();
    for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard)
      gauges.push_back({.name = "kindred_index_partitions",
                        .help = "Partitions of an index on a node.",
                        .labels = {{"index", name}, {"node", map.shards[shard]}},
                        .value = static_cast<double>(map.partitions_of(shard).size())});
  }
  return gauges;
}

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct RouterService::State {
  RouterServiceOptions options;
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<router::LocalMetaStore> meta{};
  std::unique_ptr<RoutedIndexes> indexes{};
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> server{};
  bool stopped = false;

  Status open_indexes();
  Status serve(bool loopback);
};

Status RouterService::State::open_indexes() {
  KIN_TRY(meta, router::LocalMetaStore::open(options.folder));
  RoutedOptions routed{
      .nodes = options.nodes, .embedders = options.embedders, .metrics = &watch->metrics()};
  routed.connection.token = options.node_token;
  routed.routing.clock = options.clock;
  if (!options.node_certificates.empty()) {
    KIN_TRY(routed.connection.trusted, read_file(options.node_certificates));
  }
  for (const std::string& node : options.nodes) {
    KIN_TRY([[maybe_unused]] const auto connection,
            rpc::NodeConnection::open(node, routed.connection));
  }
  indexes = std::make_unique<RoutedIndexes>(*meta, std::move(routed));
  return Done{};
}

Status RouterService::State::serve(bool loopback) {
  site = std::make_unique<Site>(GateOptions{.loopback = loopback,
                                            .tls = options.tls.has_value(),
                                            .token = options.token,
                                            .clock = options.clock});
  site->show_to(*watch);
  add_router_api(site->routes(), *indexes);
  add_asset_routes(site->routes(), embedded_assets(), PageKind::kShards);
  site->show_when_lost(page_handler(embedded_assets(), PageKind::kShards));
  site->routes().add(
      {.method = "GET",
       .pattern = "/metrics",
       .handler = [this](const Request&,
                         std::uint64_t) { return watch->metrics_page(map_gauges(*indexes)); },
       .lane = Lane::kSlow});
  ServerOptions settings;
  settings.address = options.address;
  settings.port = options.port;
  settings.clock = options.clock;
  settings.headers = security_headers();
  if (options.tls) settings.tls = std::make_unique<TlsFiles>(*options.tls);
  KIN_TRY(server, HttpServer::start(std::move(settings),
                                    [this](const Request& head) { return site->plan(head); }));
  return Done{};
}

RouterService::RouterService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<RouterService>> RouterService::start(RouterServiceOptions options) {
  KIN_TRY(const bool loopback, check_safety({.address = options.address,
                                             .token = options.token,
                                             .has_tls = options.tls.has_value()}));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  KIN_TRY(state->watch, Watch::open(state->options.log, *state->options.clock));
  KIN_RETURN_IF_ERROR(state->open_indexes());
  KIN_RETURN_IF_ERROR(state->serve(loopback));
  return std::unique_ptr<RouterService>(new RouterService(std::move(state)));
}

RouterService::~RouterService() {
  stop();
}

std::uint16_t RouterService::port() const {
  return state_->server->port();
}

std::string RouterService::url() const {
  return url_of({.address = state_->options.address, .has_tls = state_->options.tls.has_value()},
                port());
}

void RouterService::stop() {
  if (state_->stopped) return;
  state_->stopped = true;
  state_->server->stop();
}

}  // namespace kin::server
