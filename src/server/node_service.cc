#include "server/node_service.h"

#include <fmt/format.h>

#include <random>
#include <thread>

#include "base/breath.h"
#include "base/file.h"
#include "base/thread_priority.h"
#include "rpc/node_server.h"
#include "server/node/leased_folder.h"
#include "server/node/node_folder.h"
#include "server/node/node_gauges.h"
#include "server/node/other_nodes.h"
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

// Of calls to etcd: a lease of five seconds must survive a member that does not answer.
constexpr std::chrono::seconds kEtcdTime{2};
constexpr std::chrono::seconds kWatchTime{2};  // so long a node may take longer to stop
constexpr std::chrono::milliseconds kRetryTime{500};

std::string address_of(const NodeOptions& options) {
  if (!options.reached_at.empty()) return options.reached_at;
  const bool v6 = options.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", options.address, options.port)
            : fmt::format("{}:{}", options.address, options.port);
}

Status check_leases(const NodeOptions& options) {
  if (!options.etcd) return Done{};
  if (options.shipped_log.empty())
    return Error{Code::kInvalidArgument,
                 "--meta needs --log: copies of shards on other nodes follow the log"};
  const bool any = options.address == "0.0.0.0" || options.address == "::";
  if (options.reached_at.empty() && (options.port == 0 || any))
    return Error{
        Code::kInvalidArgument,
        "--meta needs --address HOST:PORT, by which routers and other nodes reach this one, "
        "unless --listen says it"};
  return Done{};
}

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct NodeService::State {
  NodeOptions options;
  std::unique_ptr<router::ClientsFirst> pace{};
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<router::EtcdMetaStore> etcd{};  // null without leases
  std::unique_ptr<NodeFolder> folder{};           // null with leases
  std::unique_ptr<LeasedFolder> leased{};         // null without
  std::unique_ptr<StepThread> working{};
  std::unique_ptr<StepThread> following{};  // rows of the meta store
  std::unique_ptr<StepThread> shipping{};
  std::unique_ptr<StepThread> snapshots{};
  std::unique_ptr<OtherNodes> other_nodes{};  // null: partitions go through the router
  std::unique_ptr<rpc::NodeServer> server{};
  std::unique_ptr<Site> site{};
  std::unique_ptr<HttpServer> metrics{};
  bool stopped = false;

  NodeShards& shards() const {
    return leased ? static_cast<NodeShards&>(*leased) : static_cast<NodeShards&>(*folder);
  }
  Result<std::optional<NodeLogOptions>> log_options() const;
  Status open_shards();
  Status open_leased(NodeLogOptions log);
  void begin_shipping();
  StepOutcome step_shards();
  StepOutcome follow();
  Status serve_calls();
  std::function<std::shared_ptr<router::ShardClient>(const std::string& index,
                                                     const std::string& address)>
  reach() const;
  Status serve_metrics(bool loopback);

  StepOutcome work(const std::function<Result<StepOutcome>()>& step) const {
    const auto outcome = step();
    if (!outcome && options.on_problem) options.on_problem(outcome.error());
    if (outcome && outcome->did_work()) return *outcome;
    return StepOutcome::not_before(options.clock->steady_now() + kIdleTime);
  }
};

Status NodeService::State::serve_calls() {
  KIN_TRY(auto identity, read_identity(options.tls));
  rpc::ConnectionOptions others{
      .token = options.token, .most_bytes = options.most_bytes, .clock = options.clock};
  if (!options.trusted.empty()) {
    KIN_TRY(others.trusted, read_file(options.trusted));
  }
  if (!options.tls || others.trusted) other_nodes = std::make_unique<OtherNodes>(std::move(others));
  KIN_TRY(server, rpc::NodeServer::start(
                      shards(), {.address = options.address,
                                 .port = options.port,
                                 .token = options.token,
                                 .tls = std::move(identity),
                                 .most_bytes = options.most_bytes,
                                 .clock = options.clock,
                                 .on_call = [this](const auto& call) { watch->served(call); },
                                 .reach = reach(),
                                 .pace = pace.get()}));
  return Done{};
}

std::function<std::shared_ptr<router::ShardClient>(const std::string&, const std::string&)>
NodeService::State::reach() const {
  if (!other_nodes) return {};
  return [nodes = other_nodes.get()](const std::string& index, const std::string& address) {
    return nodes->reach(index, address);
  };
}

Status NodeService::State::serve_metrics(bool loopback) {
  if (!options.metrics_port) return Done{};
  site = std::make_unique<Site>(GateOptions{.loopback = loopback,
                                            .tls = options.tls.has_value(),
                                            .token = options.token,
                                            .clock = options.clock});
  site->routes().add(
      {.method = "GET", .pattern = "/metrics", .handler = [this](const Request&, std::uint64_t) {
         return watch->metrics_page(gauges_of(shards().figures()));
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

Status NodeService::State::open_shards() {
  KIN_TRY(auto log, log_options());
  if (options.etcd) return open_leased(std::move(*log));
  KIN_TRY(folder, NodeFolder::open(options.folder, *options.clock, draw_identity, std::move(log)));
  return Done{};
}

Status NodeService::State::open_leased(NodeLogOptions log) {
  router::EtcdOptions settings = *options.etcd;
  settings.access.clock = options.clock;
  settings.access.timeout = kEtcdTime;
  auto opened = router::EtcdMetaStore::open(std::move(settings));
  if (!opened)
    return Error{
        opened.error().code,
        fmt::format("{} (the node holds its leases there; see --meta)", opened.error().message)};
  etcd = std::move(*opened);
  KIN_TRY(leased, LeasedFolder::open(options.folder, {.meta = etcd.get(),
                                                      .address = address_of(options),
                                                      .log = std::move(log),
                                                      .clock = options.clock,
                                                      .draw = draw_identity,
                                                      .on_problem = options.on_problem,
                                                      .on_event = options.on_event}));
  return Done{};
}

// A copy that arrives or goes makes most of the work for the indexes of its shard.
StepOutcome NodeService::State::step_shards() {
  const auto step = [this] { return work([this] { return shards().step(); }); };
  if (!pace->has_clients() || !shards().is_in_move()) return step();
  StepOutcome outcome = StepOutcome::idle();
  // A thread of its own, since it cannot be given its priority back.
  std::jthread([&] {
    yield_to_other_threads();
    router::ClientsFirst::Turns turns(*pace);
    const Breathing breathing([&] { turns.go_on(); });
    outcome = step();
    turns.go_on();
  }).join();
  return outcome;
}

StepOutcome NodeService::State::follow() {
  const SteadyTime until = options.clock->steady_now() + kWatchTime;
  const Status followed = leased->follow_rows(until);
  if (followed.ok()) return StepOutcome::worked();
  // While etcd is away, the copies report it.
  const bool away =
      followed.error().code == Code::kUnavailable || followed.error().code == Code::kCancelled;
  if (!away && options.on_problem) options.on_problem(followed.error());
  return StepOutcome::not_before(options.clock->steady_now() + kRetryTime);
}

void NodeService::State::begin_shipping() {
  if (options.shipped_log.empty()) return;
  snapshots = std::make_unique<StepThread>(
      *options.clock, [this] { return work([this] { return shards().step_snapshots(); }); });
  if (leased) {
    leased->start();
    following = std::make_unique<StepThread>(*options.clock, [this] { return follow(); });
    return;
  }
  shipping = std::make_unique<StepThread>(
      *options.clock, [this] { return work([this] { return folder->ship(); }); });
  folder->on_work([this] { shipping->wake(); });
}

NodeService::NodeService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<NodeService>> NodeService::start(NodeOptions options) {
  KIN_TRY(const bool loopback, check_safety({.address = options.address,
                                             .token = options.token,
                                             .has_tls = options.tls.has_value()}));
  KIN_RETURN_IF_ERROR(check_leases(options));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const NodeOptions& asked = state->options;
  state->pace = std::make_unique<router::ClientsFirst>(*asked.clock);
  KIN_TRY(state->watch, Watch::open(asked.log, *asked.clock));
  KIN_RETURN_IF_ERROR(state->open_shards());
  // Before calls are served: their replies wait for the log.
  state->begin_shipping();
  KIN_RETURN_IF_ERROR(state->serve_calls());
  KIN_RETURN_IF_ERROR(state->serve_metrics(loopback));
  State* const running = state.get();
  state->working = std::make_unique<StepThread>(*asked.clock, [running] {
    thread_local const bool gives_way = (let_others_interrupt(), true);
    static_cast<void>(gives_way);
    return running->step_shards();
  });
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
  if (state_->following) state_->following->stop();
  if (state_->folder) state_->folder->on_work({});
  if (state_->shipping) state_->shipping->stop();
  // With etcd: leases are given back.
  return state_->shards().close();
}

}  // namespace kin::server
