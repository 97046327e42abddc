#include "server/node_service.h"

#include <random>

#include "base/file.h"
#include "rpc/node_server.h"
#include "server/node/node_folder.h"
#include "server/page/site.h"
#include "server/service/safety.h"
#include "server/service/step_thread.h"

namespace kin::server {
namespace {

// Writes do not wake the thread, so it looks for work this often.
constexpr std::chrono::milliseconds kIdleTime{500};

Result<std::optional<rpc::TlsIdentity>> read_identity(const std::optional<TlsFiles>& files) {
  if (!files) return std::optional<rpc::TlsIdentity>();
  rpc::TlsIdentity identity;
  KIN_TRY(identity.certificate, read_file(files->certificate));
  KIN_TRY(identity.key, read_file(files->key));
  return std::optional(std::move(identity));
}

Hash128 draw_identity() {
  std::random_device device;
  const auto half = [&] { return std::uint64_t{device()} << 32 | device(); };
  return {.low = half(), .high = half() | 1};  // never zero
}

// One figure of every shard.
void add_gauges(const char* name, const char* help, const std::vector<NamedStats>& shards,
                const std::function<std::uint64_t(const index::ShardStats&)>& figure,
                std::vector<Gauge>& gauges) {
  for (const NamedStats& shard : shards)
    gauges.push_back({.name = name,
                      .help = help,
                      .labels = {{"index", shard.index}},
                      .value = static_cast<double>(figure(shard.stats))});
}

std::vector<Gauge> shard_gauges(NodeFolder& folder) {
  using Stats = index::ShardStats;
  const std::vector<NamedStats> shards = folder.stats();
  std::vector<Gauge> all;
  const auto add = [&](const char* name, const char* help, const auto& figure) {
    add_gauges(name, help, shards, figure, all);
  };
  add("kindred_shard_entities", "Entities in a shard.",
      [](const Stats& stats) { return stats.counters.entities; });
  add("kindred_shard_edges", "Edges in a shard.",
      [](const Stats& stats) { return stats.counters.edges; });
  add("kindred_shard_disk_bytes", "Bytes of a shard's truth on disk.",
      [](const Stats& stats) { return stats.truth.disk_bytes; });
  add("kindred_shard_text_bytes", "Bytes of a shard's text index.",
      [](const Stats& stats) { return stats.text_bytes; });
  add("kindred_shard_last_lsn", "The last change of a shard.",
      [](const Stats& stats) { return stats.last_lsn; });
  add("kindred_shard_checkpoint_lsn", "The change up to which a shard has a checkpoint.",
      [](const Stats& stats) { return stats.checkpoint_lsn; });
  for (const auto& [index, loads] : folder.loads()) {
    for (const auto& [partition, load] : loads)
      all.push_back(
          {.name = "kindred_partition_load",
           .help = "Milliseconds of work for a partition in each second, over the last minutes.",
           .labels = {{"index", index},
                      {"partition", std::to_string(static_cast<std::uint32_t>(partition))}},
           .value = load});
  }
  return all;
}

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct NodeService::State {
  NodeOptions options;
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<NodeFolder> folder{};
  std::unique_ptr<StepThread> working{};
  std::unique_ptr<rpc::NodeServer> server{};
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> metrics{};
  bool stopped = false;

  Status serve_calls();
  Status serve_metrics(bool loopback);

  StepOutcome work() const {
    const auto outcome = folder->step();
    if (!outcome && options.on_problem) options.on_problem(outcome.error());
    if (outcome && outcome->did_work()) return *outcome;
    return StepOutcome::not_before(options.clock->steady_now() + kIdleTime);
  }
};

Status NodeService::State::serve_calls() {
  KIN_TRY(auto identity, read_identity(options.tls));
  KIN_TRY(server, rpc::NodeServer::start(
                      *folder, {.address = options.address,
                                .port = options.port,
                                .token = options.token,
                                .tls = std::move(identity),
                                .most_bytes = options.most_bytes,
                                .clock = options.clock,
                                .on_call = [this](const auto& call) { watch->served(call); }}));
  return Done{};
}

Status NodeService::State::serve_metrics(bool loopback) {
  if (!options.metrics_port) return Done{};
  site = std::make_unique<Site>(GateOptions{.loopback = loopback,
                                            .tls = options.tls.has_value(),
                                            .token = options.token,
                                            .clock = options.clock});
  site->routes().add(
      {.method = "GET", .pattern = "/metrics", .handler = [this](const Request&, std::uint64_t) {
         return watch->metrics_page(shard_gauges(*folder));
       }});
  site->routes().add(
      {.method = "GET",
       .pattern = "/healthz",
       .handler = [](const Request&,
                     std::uint64_t) { return json_response(200, R"({"status":"serving"})"); },
       .open = true});
  ServerOptions settings;
  settings.address = options.address;
  settings.port = *options.metrics_port;
  settings.clock = options.clock;
  if (options.tls) settings.tls = std::make_unique<TlsFiles>(*options.tls);
  KIN_TRY(metrics, HttpServer::start(std::move(settings),
                                     [this](const Request& head) { return site->plan(head); }));
  return Done{};
}

NodeService::NodeService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<NodeService>> NodeService::start(NodeOptions options) {
  KIN_TRY(const bool loopback, check_safety({.address = options.address,
                                             .token = options.token,
                                             .has_tls = options.tls.has_value()}));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const NodeOptions& asked = state->options;
  KIN_TRY(state->watch, Watch::open(asked.log, *asked.clock));
  KIN_TRY(state->folder, NodeFolder::open(asked.folder, *asked.clock, draw_identity));
  KIN_RETURN_IF_ERROR(state->serve_calls());
  KIN_RETURN_IF_ERROR(state->serve_metrics(loopback));
  State* const running = state.get();
  state->working =
      std::make_unique<StepThread>(*asked.clock, [running] { return running->work(); });
  return std::unique_ptr<NodeService>(new NodeService(std::move(state)));
}

NodeService::~NodeService() {
  (void)stop();
}

std::uint16_t NodeService::port() const {
  return state_->server->port();
}

std::uint16_t NodeService::metrics_port() const {
  return state_->metrics ? state_->metrics->port() : 0;
}

Status NodeService::stop() {
  if (state_->stopped) return Done{};
  state_->stopped = true;
  if (state_->metrics) state_->metrics->stop();
  state_->server->stop();
  state_->working->stop();
  return state_->folder->close();
}

}  // namespace kin::server
