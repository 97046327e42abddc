#include "server/router_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/disk.h"
#include "base/file.h"
#include "router/last_known_meta.h"
#include "router/local_meta_store.h"
#include "server/api/moves_api.h"
#include "server/api/router_api.h"
#include "server/page/assets.h"
#include "server/page/site.h"
#include "server/routed/moving.h"
#include "server/routed/routed_indexes.h"
#include "server/service/safety.h"
#include "server/service/step_thread.h"
#include "server/tenants/names.h"
#include "server/tenants/tenants.h"

namespace kin::server {
namespace {

// A watch of etcd that is silent for this long is begun again: its connection may be dead.
constexpr std::chrono::seconds kWatchTime{60};
constexpr std::chrono::milliseconds kRetryTime{500};  // after one that failed
constexpr std::chrono::seconds kReadTime{2};          // between looks at the tenants' file

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

Status check_followers(const RouterServiceOptions& options) {
  if (options.followers == 0) return Done{};
  if (!options.etcd)
    return Error{Code::kInvalidArgument,
                 "followers need --meta: the nodes learn in etcd which copies they have"};
  if (options.nodes.size() > options.followers) return Done{};
  return Error{Code::kInvalidArgument,
               fmt::format("{} followers of each shard need {} nodes (--node); there are {}",
                           options.followers, options.followers + 1, options.nodes.size())};
}

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct RouterService::State {
  RouterServiceOptions options;
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<router::LocalMetaStore> local{};  // null if the maps are in etcd
  std::unique_ptr<router::EtcdMetaStore> etcd{};    // null otherwise
  std::unique_ptr<router::LastKnownMeta> last_known{};
  std::unique_ptr<RoutedIndexes> indexes{};
  std::unique_ptr<Moving> moving{};
  std::unique_ptr<Tenants> tenants{};  // null if there are none
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> server{};
  std::unique_ptr<StepThread> following{};
  std::unique_ptr<StepThread> reading{};
  std::unique_ptr<StepThread> stepping{};  // moves
  bool stopped = false;
  bool was_away = false;       // only the thread that follows uses it
  std::string last_problem{};  // of the tenants' file; only the thread that reads it uses it

  Status open_meta();
  router::MetaStore& meta() {
    return local ? static_cast<router::MetaStore&>(*local) : *last_known;
  }
  StepOutcome follow();
  Status open_tenants();
  StepOutcome read_tenants();
  Plan plan(const Request& head);
  Status open_indexes();
  Status open_moving();
  Status serve(bool loopback);
};

Status RouterService::State::open_meta() {
  if (!options.etcd) {
    // RocksDB makes its own folder, but none above it.
    KIN_RETURN_IF_ERROR(system_disk().make_folder(options.folder));
    KIN_TRY(local, router::LocalMetaStore::open(options.folder));
    return Done{};
  }
  options.etcd->access.clock = options.clock;
  auto opened = router::EtcdMetaStore::open(*options.etcd);
  if (!opened)
    return Error{opened.error().code,
                 fmt::format("{} (the router reads its maps there when it starts; see --meta)",
                             opened.error().message)};
  etcd = std::move(*opened);
  last_known = std::make_unique<router::LastKnownMeta>(*etcd, *options.clock);
  return last_known->load();
}

StepOutcome RouterService::State::follow() {
  const Status seen = last_known->follow(options.clock->steady_now() + kWatchTime);
  const bool is_away = !seen.ok();
  if (is_away && !was_away && options.on_problem)
    options.on_problem({seen.error().code, fmt::format("{}; serving goes on with the last maps",
                                                       seen.error().message)});
  was_away = is_away;
  if (!is_away) return StepOutcome::worked();
  return StepOutcome::not_before(options.clock->steady_now() + kRetryTime);
}

Status RouterService::State::open_indexes() {
  KIN_RETURN_IF_ERROR(open_meta());
  RoutedOptions routed{.nodes = options.nodes,
                       .followers = options.followers,
                       .stale_reads = options.stale_reads,
                       .embedders = options.embedders,
                       .metrics = &watch->metrics()};
  routed.connection.token = options.node_token;
  routed.routing.clock = options.clock;
  routed.routing.hedging.budget = options.hedged_reads;
  if (!options.node_certificates.empty()) {
    KIN_TRY(routed.connection.trusted, read_file(options.node_certificates));
  }
  for (const std::string& node : options.nodes) {
    KIN_TRY([[maybe_unused]] const auto connection,
            rpc::NodeConnection::open(node, routed.connection));
  }
  indexes = std::make_unique<RoutedIndexes>(meta(), std::move(routed));
  return open_moving();
}

Status RouterService::State::open_moving() {
  MovingOptions settings{.mover = {.clock = options.clock,
                                   .grace = options.move_grace,
                                   .bytes_per_second = options.move_bytes_per_second,
                                   .most = options.moves_at_once},
                         .balancing = {.max_skew = options.balance_skew},
                         .balance_pause = options.balance_pause};
  if (!options.balance.empty()) {
    KIN_TRY(settings.balance, balance_by_named(options.balance));
  }
  if (options.balance_partitions) settings.dividing.emplace();
  // Moves need what the store says now, and not what it said last.
  router::MetaStore& store =
      local ? static_cast<router::MetaStore&>(*local) : static_cast<router::MetaStore&>(*etcd);
  moving = std::make_unique<Moving>(*indexes, store, std::move(settings), *options.clock);
  return Done{};
}

Status RouterService::State::open_tenants() {
  if (options.tenants.empty()) return Done{};
  KIN_TRY(tenants, Tenants::open(options.tenants, *options.clock));
  tenants->measure_by([this](const std::string& tenant) -> Result<Usage> {
    KIN_TRY(const RoutedIndexes::Storage used, indexes->storage(full_name(tenant, "")));
    return Usage{.entities = used.entities, .bytes = used.bytes};
  });
  return Done{};
}

StepOutcome RouterService::State::read_tenants() {
  const Status read = tenants->refresh();
  if (!read.ok() && read.error().message != last_problem && options.on_problem)
    options.on_problem({read.error().code,
                        fmt::format("{}; the tenants stay as they were", read.error().message)});
  last_problem = read.ok() ? "" : read.error().message;
  return StepOutcome::not_before(options.clock->steady_now() + kReadTime);
}

Plan RouterService::State::plan(const Request& head) {
  Plan plan = site->plan(head);
  if (!tenants || plan.refusal || plan.tenant.empty()) return plan;
  if (auto refusal = tenants->count_request(plan.tenant)) return {.refusal = std::move(refusal)};
  plan.weight = tenants->weight_of(plan.tenant);
  return plan;
}

Status RouterService::State::serve(bool loopback) {
  GateOptions gate{.loopback = loopback,
                   .tls = options.tls.has_value(),
                   .token = options.token,
                   .clock = options.clock};
  if (tenants) gate.tenant_of = [this](std::string_view token) { return tenants->of_token(token); };
  site = std::make_unique<Site>(std::move(gate));
  site->show_to(*watch);
  add_router_api(site->routes(), *indexes, tenants.get());
  add_moves_api(site->routes(), *moving);
  add_asset_routes(site->routes(), embedded_assets(), PageKind::kShards);
  site->show_when_lost(page_handler(embedded_assets(), PageKind::kShards));
  site->routes().add({.method = "GET",
                      .pattern = "/metrics",
                      .handler =
                          [this](const Request& request, std::uint64_t) {
                            // They name the indexes of all.
                            if (!request.tenant.empty())
                              return error_response(403,
                                                    "the metrics are for the operator's token");
                            auto gauges = map_gauges(*indexes);
                            std::ranges::move(moving->gauges(), std::back_inserter(gauges));
                            return watch->metrics_page(std::move(gauges));
                          },
                      .lane = Lane::kSlow});
  ServerOptions settings;
  settings.address = options.address;
  settings.port = options.port;
  settings.clock = options.clock;
  settings.headers = security_headers();
  if (options.tls) settings.tls = std::make_unique<TlsFiles>(*options.tls);
  KIN_TRY(server, HttpServer::start(std::move(settings),
                                    [this](const Request& head) { return plan(head); }));
  return Done{};
}

RouterService::RouterService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<RouterService>> RouterService::start(RouterServiceOptions options) {
  KIN_RETURN_IF_ERROR(check_followers(options));
  KIN_TRY(const bool loopback, check_safety({.address = options.address,
                                             .token = options.token,
                                             .has_tls = options.tls.has_value(),
                                             .has_tenants = !options.tenants.empty()}));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  KIN_TRY(state->watch, Watch::open(state->options.log, *state->options.clock));
  KIN_RETURN_IF_ERROR(state->open_indexes());
  KIN_RETURN_IF_ERROR(state->open_tenants());
  KIN_RETURN_IF_ERROR(state->serve(loopback));
  State* const running = state.get();
  state->stepping = std::make_unique<StepThread>(
      *running->options.clock, [running] { return running->moving->step(); });
  state->moving->wake_by([running] { running->stepping->wake(); });
  if (state->etcd)
    state->following = std::make_unique<StepThread>(*running->options.clock,
                                                    [running] { return running->follow(); });
  if (state->tenants)
    state->reading = std::make_unique<StepThread>(*running->options.clock,
                                                  [running] { return running->read_tenants(); });
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
  state_->moving->wake_by({});
  state_->stepping->stop();
  if (state_->reading) state_->reading->stop();
  if (!state_->following) return;
  state_->etcd->stop();  // ends the watch that the thread waits for
  state_->following->stop();
}

}  // namespace kin::server
