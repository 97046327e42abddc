#include "router/testing/simulated_meta.h"

namespace kin::router {

SimulatedMetaServer::SimulatedMetaServer(Simulation& simulation, SimulatedNetwork& network)
    : simulation_(simulation), network_(network) {
  open();
}

void SimulatedMetaServer::open() {
  auto opened = LocalMetaStore::open(
      "/meta", {.engine = kv::StoreOptions::Engine::kLog, .disk = disk_.get()});
  KIN_CHECK(opened.ok(), "the meta store opens");
  store_ = std::move(*opened);
  process_ = network_.start_process("meta");
}

void SimulatedMetaServer::crash(std::chrono::nanoseconds pause) {
  if (store_ == nullptr) return;
  simulation_.note("meta loses power");
  auto disk = disk_->power_cut({.seed = simulation_.random().next()});
  store_.reset();
  disk_ = std::move(disk);
  network_.stop_process(process_);
  simulation_.after(pause, [this] { ensure_up(); });
}

void SimulatedMetaServer::ensure_up() {
  if (store_ == nullptr) open();
}

// Messages may outlive this object: what they need is the world's, and not its own.
template <typename T>
Result<T> SimulatedMeta::ask(const std::string& what,
                             std::function<Result<T>(LocalMetaStore&)> serve) {
  const SteadyTime deadline = simulation_.now() + std::chrono::seconds{1};
  return network_.call<T>(from_, deadline, [&](const std::function<void(Result<T>)>& take) {
    const Process to = server_.process();
    const auto arrive = [&network = network_, &server = server_, from = from_, to, what, serve,
                         take] {
      if (server.store() == nullptr) return;
      const Result<T> reply = serve(*server.store());
      network.send(to, from, "answer to " + what, [take, reply] { take(reply); });
    };
    network_.send(from_, to, what + " to meta", arrive);
  }).wait();
}

Result<std::optional<MetaValue>> SimulatedMeta::get(std::string_view key) {
  return ask<std::optional<MetaValue>>(
      "get", [key = std::string(key)](LocalMetaStore& store) { return store.get(key); });
}

Result<std::optional<std::uint64_t>> SimulatedMeta::swap(std::string_view key,
                                                         std::uint64_t expected,
                                                         std::optional<std::string_view> bytes) {
  std::optional<std::string> copy;
  if (bytes) copy = std::string(*bytes);
  return ask<std::optional<std::uint64_t>>("swap", [key = std::string(key), expected,
                                                    copy](LocalMetaStore& store) {
    return store.swap(key, expected, copy ? std::optional<std::string_view>(*copy) : std::nullopt);
  });
}

Result<MetaChanges> SimulatedMeta::watch(std::string_view prefix, std::uint64_t after,
                                         SteadyTime until) {
  for (;;) {
    // The server must not wait: its clock stands still while it does.
    KIN_TRY(MetaChanges found,
            ask<MetaChanges>("watch", [prefix = std::string(prefix), after](LocalMetaStore& store) {
              return store.watch(prefix, after, SteadyTime{});
            }));
    if (!found.entries.empty() || simulation_.now() >= until) return found;
    simulation_.clock().sleep_for(std::chrono::milliseconds{50});
  }
}

}  // namespace kin::router
