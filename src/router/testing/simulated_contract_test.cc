// The contracts of shard clients and meta stores, over a simulated network and disk.
#include "base/check.h"
#include "router/testing/meta_store_contract.h"
#include "router/testing/shard_client_contract.h"
#include "router/testing/simulated_meta.h"
#include "router/testing/simulated_node.h"

namespace kin::router {
namespace {

// Runs what waits as a task of the simulation.
template <typename T>
T run_task(Simulation& simulation, const std::function<T()>& body) {
  std::optional<T> result;
  simulation.spawn([&] { result.emplace(body()); });
  simulation.run();
  return std::move(*result);
}

class DrivenClient final : public ShardClient {
 public:
  DrivenClient(Simulation& simulation, ShardClient& client)
      : simulation_(simulation), client_(client) {}
  Started<Response> start(Request request, const CallOptions& options) override {
    return Started<Response>([this, request = std::move(request), options] {
      return run_task<Reply<Response>>(simulation_,
                                       [&] { return client_.start(request, options).wait(); });
    });
  }

 private:
  Simulation& simulation_;
  ShardClient& client_;
};

class SimulatedShard final : public ReachableShard {
 public:
  ShardClient& client() override { return driven_; }
  Clock& clock() override { return simulation_.clock(); }
  void restart() override {
    node_.crash({});
    node_.ensure_up();
  }

 private:
  Simulation simulation_{1};
  // Duplicates must not matter.
  SimulatedNetwork network_{simulation_, {.twice = 3}};
  SimulatedNode node_{simulation_, network_, "node", contract_options()};
  SimulatedClient client_{simulation_, network_, network_.start_process("router"), node_};
  DrivenClient driven_{simulation_, client_};
};

std::unique_ptr<ReachableShard> make_shard() {
  return std::make_unique<SimulatedShard>();
}

INSTANTIATE_TEST_SUITE_P(Simulated, ShardClientContract, testing::Values(&make_shard));

class DrivenMeta final : public MetaStore {
 public:
  DrivenMeta(Simulation& simulation, MetaStore& meta) : simulation_(simulation), meta_(meta) {}
  Result<std::optional<MetaValue>> get(std::string_view key) override {
    return run_task<Result<std::optional<MetaValue>>>(simulation_, [&] { return meta_.get(key); });
  }
  Result<std::optional<std::uint64_t>> swap(std::string_view key, std::uint64_t expected,
                                            std::optional<std::string_view> bytes) override {
    return run_task<Result<std::optional<std::uint64_t>>>(
        simulation_, [&] { return meta_.swap(key, expected, bytes); });
  }
  Result<MetaChanges> watch(std::string_view prefix, std::uint64_t after,
                            SteadyTime until) override {
    return run_task<Result<MetaChanges>>(simulation_,
                                         [&] { return meta_.watch(prefix, after, until); });
  }

 private:
  Simulation& simulation_;
  MetaStore& meta_;
};

class SimulatedMetaStore final : public ReachableMeta {
 public:
  MetaStore& meta() override { return driven_; }
  Clock& clock() override { return simulation_.clock(); }
  void restart() override {
    server_.crash({});
    server_.ensure_up();
  }

 private:
  Simulation simulation_{1};
  SimulatedNetwork network_{simulation_, {}};
  SimulatedMetaServer server_{simulation_, network_};
  SimulatedMeta meta_{simulation_, network_, network_.start_process("router"), server_};
  DrivenMeta driven_{simulation_, meta_};
};

std::unique_ptr<ReachableMeta> make_meta() {
  return std::make_unique<SimulatedMetaStore>();
}

INSTANTIATE_TEST_SUITE_P(Simulated, MetaStoreContract, testing::Values(with_contract(&make_meta)));

}  // namespace
}  // namespace kin::router
