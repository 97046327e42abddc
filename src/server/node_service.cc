#include "server/node_service.h"

#include <random>

#include "base/file.h"
#include "rpc/node_server.h"
#include "server/node/node_folder.h"
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

}  // namespace

// Members use those above them, so they are destroyed in the right order.
struct NodeService::State {
  NodeOptions options;
  std::unique_ptr<NodeFolder> folder{};
  std::unique_ptr<StepThread> working{};
  std::unique_ptr<rpc::NodeServer> server{};
  bool stopped = false;

  StepOutcome work() const {
    const auto outcome = folder->step();
    if (!outcome && options.on_problem) options.on_problem(outcome.error());
    if (outcome && outcome->did_work()) return *outcome;
    return StepOutcome::not_before(options.clock->steady_now() + kIdleTime);
  }
};

NodeService::NodeService(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<NodeService>> NodeService::start(NodeOptions options) {
  KIN_TRY([[maybe_unused]] const bool loopback, check_safety({.address = options.address,
                                                              .token = options.token,
                                                              .has_tls = options.tls.has_value()}));
  KIN_TRY(auto identity, read_identity(options.tls));
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  const NodeOptions& asked = state->options;
  KIN_TRY(state->folder, NodeFolder::open(asked.folder, *asked.clock, draw_identity));
  KIN_TRY(state->server, rpc::NodeServer::start(*state->folder, {.address = asked.address,
                                                                 .port = asked.port,
                                                                 .token = asked.token,
                                                                 .tls = std::move(identity),
                                                                 .most_bytes = asked.most_bytes}));
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

Status NodeService::stop() {
  if (state_->stopped) return Done{};
  state_->stopped = true;
  state_->server->stop();
  state_->working->stop();
  return state_->folder->close();
}

}  // namespace kin::server
