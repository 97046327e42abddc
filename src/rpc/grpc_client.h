// Reaches the shards of a node over gRPC.
//
//   KIN_TRY(auto node, NodeConnection::open("10.0.0.7:7700", {.token = token}));
//   KIN_RETURN_IF_ERROR(node->create_index("papers", settings));
//   GrpcClient shard(node, "papers");                       // a router::ShardClient
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "router/shard_client.h"
#include "rpc/served_indexes.h"

namespace kin::rpc {

struct ConnectionOptions {
  std::string token = {};  // empty: none is sent
  // PEM certificates, one of which must have signed the node's. Nothing: the connection is not
  // encrypted, which suits loopback addresses only.
  std::optional<std::string> trusted = {};
  std::size_t most_bytes = kMostMessageBytes;                    // of a reply
  std::chrono::milliseconds timeout = std::chrono::seconds{30};  // of calls without a deadline
  const Clock* clock = &system_clock();
};

// A way to one node, shared by the clients of its shards. Connects when it is first used, and again
// when the node was away. Thread-safe.
class NodeConnection {
 public:
  // `address` is "host:port". kInvalidArgument if it is not.
  static Result<std::shared_ptr<NodeConnection>> open(const std::string& address,
                                                      const ConnectionOptions& options = {});
  ~NodeConnection();
  NodeConnection(const NodeConnection&) = delete;
  NodeConnection& operator=(const NodeConnection&) = delete;

  const std::string& address() const;

  // See ServedIndexes. kUnavailable if the node does not answer in time, kFailedPrecondition if it
  // refuses the token.
  Status create_index(const ServedIndex& index);
  Status drop_index(const std::string& index, const Hash128& shard);
  Result<std::vector<ServedIndex>> list_indexes();

 private:
  friend class GrpcClient;
  struct State;
  explicit NodeConnection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The shard of one index on a node. Besides what ShardClient promises: kFailedPrecondition if the
// node refuses the token, kResourceExhausted if a message is too large, kNotFound if the node has
// no shard of the index. Thread-safe.
class GrpcClient final : public router::ShardClient {
 public:
  GrpcClient(std::shared_ptr<NodeConnection> node, std::string index)
      : node_(std::move(node)), index_(std::move(index)) {}
  router::Started<router::Response> start(router::Request request,
                                          const router::CallOptions& options) override;

 private:
  std::shared_ptr<NodeConnection> node_;
  std::string index_;
};

}  // namespace kin::rpc
