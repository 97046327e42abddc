#include "server/node_service.h"

#include <fmt/format.h>

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

std::vector<Gauge> log_gauges(NodeFolder& folder) {
  std::vector<Gauge> all;
  for (const auto& [index, stats] : folder.log_stats()) {
    const auto add = [&, &name = index](const char* gauge, const char* help, double value) {
      all.push_back({.name = gauge, .help = help, .labels = {{"index", name}}, .value = value});
    };
    const router::LogShipperStats& log = stats.shipped;
    add("kindred_log_lag_bytes", "Bytes of changes that are not in the shipped log yet.",
        static_cast<double>(log.queued_bytes));
    add("kindred_log_lag_seconds", "Age of the oldest change that is not in the shipped log yet.",
        std::chrono::duration<double>(log.lag).count());
    add("kindred_log_position", "Batches of changes since the term began.",
        static_cast<double>(log.position));
    add("kindred_log_durable_position", "Batches since the term began that survive the machine.",
        static_cast<double>(log.durable));
    add("kindred_log_term", "The term of the shipped log.", static_cast<double>(log.term));
    add("kindred_log_objects", "Objects of the shipped log since the term began.",
        static_cast<double>(log.objects));
    add("kindred_log_bytes", "Bytes of these objects.", static_cast<double>(log.bytes));
    add("kindred_log_gaps", "Times that the queue of changes was dropped.",
        static_cast<double>(log.gaps));
    add("kindred_log_failures", "Calls of the object store that failed.",
        static_cast<double>(log.failures + stats.snapshots.failures));
    add("kindred_log_deposed", "1 if another node has taken over the shard.", log.deposed ? 1 : 0);
    add("kindred_log_snapshot_position", "The log's object as of which there is a snapshot.",
        static_cast<double>(stats.snapshots.position.number));
    add("kindred_log_snapshot_bytes", "Bytes of the newest snapshot.",
        static_cast<double>(stats.snapshots.bytes));
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
  std::unique_ptr<StepThread> shipping{};
  std::unique_ptr<StepThread> snapshots{};
  std::unique_ptr<rpc::NodeServer> server{};
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> metrics{};
  bool stopped = false;

  Result<std::optional<NodeLogOptions>> log_options() const;
  void begin_shipping();
  Status serve_calls();
  Status serve_metrics(bool loopback);

  StepOutcome work(Result<StepOutcome> (NodeFolder::*step)()) const {
    const auto outcome = (folder.get()->*step)();
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
         std::vector<Gauge> gauges = shard_gauges(*folder);
         const std::vector<Gauge> logs = log_gauges(*folder);
         gauges.insert(gauges.end(), logs.begin(), logs.end());
         return watch->metrics_page(gauges);
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

Result<std::optional<NodeLogOptions>> NodeService::State::log_options() const {
  if (options.shipped_log.empty()) return std::optional<NodeLogOptions>();
  NodeLogOptions log{.owner = options.name.empty()
                                  ? fmt::format("{}:{}", options.address, options.port)
                                  : options.name,
                     .durable = options.durable};
  log.snapshots.retention = options.retention;
  KIN_TRY(log.objects,
          cloud::open_objects(options.shipped_log, *options.clock, draw_identity().low));
  return std::optional(std::move(log));
}

void NodeService::State::begin_shipping() {
  if (options.shipped_log.empty()) return;
  shipping = std::make_unique<StepThread>(*options.clock, [this] { return work(&NodeFolder::ship); });
  folder->on_work([this] { shipping->wake(); });
  snapshots = std::make_unique<StepThread>(*options.clock,
                                           [this] { return work(&NodeFolder::step_snapshots); });
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
  KIN_TRY(auto log, state->log_options());
  KIN_TRY(state->folder,
          NodeFolder::open(asked.folder, *asked.clock, draw_identity, std::move(log)));
  // Before calls are served: their replies wait for the log.
  state->begin_shipping();
  KIN_RETURN_IF_ERROR(state->serve_calls());
  KIN_RETURN_IF_ERROR(state->serve_metrics(loopback));
  State* const running = state.get();
  state->working =
      std::make_unique<StepThread>(*asked.clock, [running] { return running->work(&NodeFolder::step); });
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
  if (state_->snapshots) state_->snapshots->stop();
  state_->folder->on_work({});
  if (state_->shipping) state_->shipping->stop();
  return state_->folder->close();
}

}  // namespace kin::server
