// `kindred node`: the shards of a folder, served over gRPC.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "router/etcd_meta_store.h"
#include "rpc/served_indexes.h"
#include "server/http/server.h"

namespace kin::server {

struct NodeOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  std::filesystem::path folder;       // a folder for each index
  std::string token{};                // empty: no token is needed
  std::optional<TlsFiles> tls{};
  std::size_t most_bytes = rpc::kMostMessageBytes;  // of a request
  // Port at the same address for HTTP, with /metrics and /healthz, by the same token and TLS; 0:
  // any free port. Nothing: there is none.
  std::optional<std::uint16_t> metrics_port{};
  std::string log{};  // file for a line about each call; "-": standard error; empty: none
  // Where the changes of shards are shipped to: "s3://BUCKET/PREFIX" or a folder; empty: nowhere.
  std::string shipped_log{};
  std::string name{};    // of the node in that log; empty: its address and port
  // With it the node holds leases for the shards that it owns, has copies of shards of other nodes
  // as rows of the store say, and takes them over when their owners are gone. Needs `shipped_log`.
  std::optional<router::EtcdOptions> etcd{};
  // By which routers reach the node, in maps and leases; empty: `address` and `port`.
  std::string reached_at{};
  // File of PEM certificates, one of which signed those of the other nodes: with it, or without
  // TLS, partitions move from node to node. Otherwise they go through the router. The others take
  // `token`.
  std::filesystem::path trusted{};
  bool durable = false;  // replies wait until what they tell is in that log
  std::chrono::milliseconds retention = std::chrono::hours{24};  // of points in time in that log
  Clock* clock = &system_clock();
  // Receives errors of background work. Called on any thread.
  std::function<void(const Error&)> on_problem{};
  std::function<void(const std::string&)> on_event{};  // a take-over, for people; on any thread
};

// Thread-safe. One process can have a folder open at a time.
class NodeService {
 public:
  // Opens the shards that are there and starts to serve. kInvalidArgument if the address is not a
  // loopback address and token or TLS is missing, or if a node with etcd has no log or no address
  // that lasts. etcd must answer: kUnavailable.
  static Result<std::unique_ptr<NodeService>> start(NodeOptions options);
  // As stop(); an error is lost.
  ~NodeService();

  std::uint16_t port() const;
  // 0 if there are no metrics over HTTP.
  std::uint16_t metrics_port() const;
  // Finishes running requests, then closes the shards.
  Status stop();

 private:
  struct State;
  explicit NodeService(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
