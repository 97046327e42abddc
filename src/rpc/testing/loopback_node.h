// A node on a loopback port, with one index.
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "router/shard_host.h"
#include "rpc/grpc_client.h"
#include "rpc/node_server.h"
#include "rpc/served_indexes.h"

namespace kin::rpc {

inline constexpr const char* kLoopbackIndex = "papers";

// One index, kLoopbackIndex, with the options that the contract of ShardClient needs. Thread-safe.
class OneIndex final : public ServedIndexes {
 public:
  explicit OneIndex(std::shared_ptr<router::ShardHost> host) : host_(std::move(host)) {}
  Result<std::shared_ptr<router::ShardHost>> find(const std::string& index, const Hash128& shard) override;
  Status create(const ServedIndex& index) override;
  Status drop(const std::string& index, const Hash128& shard) override;
  Result<std::vector<ServedIndex>> list() override;

 private:
  std::shared_ptr<router::ShardHost> host_;
  ServedIndex served_{.name = kLoopbackIndex, .settings = "settings"};
};

// One thread only.
class LoopbackNode {
 public:
  explicit LoopbackNode(NodeServerOptions options = {});

  std::string address() const { return "127.0.0.1:" + std::to_string(options_.port); }
  router::ShardHost& host() { return *host_; }
  // The node is away until start().
  void stop();
  // At the same port as before.
  void start();

 private:
  TemporaryFolder folder_ = std::move(*TemporaryFolder::create());
  NodeServerOptions options_;
  std::shared_ptr<router::ShardHost> host_;
  std::unique_ptr<OneIndex> indexes_;
  std::unique_ptr<NodeServer> server_;
};

}  // namespace kin::rpc
