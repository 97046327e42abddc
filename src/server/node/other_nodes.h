// The ways from a node to others, for moves of partitions.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rpc/grpc_client.h"

namespace kin::server {

// Thread-safe.
class OtherNodes {
 public:
  explicit OtherNodes(rpc::ConnectionOptions options) : options_(std::move(options)) {}

  // The shard of an index at an address. Never null: a call to an address that is none fails.
  std::shared_ptr<router::ShardClient> reach(const std::string& index, const std::string& address);

 private:
  const rpc::ConnectionOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<rpc::NodeConnection>> connections_;
};

}  // namespace kin::server
