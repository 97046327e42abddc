// `kindred router`: indexes over the shards of many nodes, and their JSON API.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "router/etcd_meta_store.h"
#include "search/search_index.h"
#include "server/http/server.h"

namespace kin::server {

struct RouterServiceOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  std::filesystem::path folder;       // of the meta store: maps of the indexes; unless in etcd
  // Where several routers keep the maps; nothing: in the folder.
  std::optional<router::EtcdOptions> etcd{};
  std::string token{};  // empty: no token is needed
  // File of the tenants (docs/operations.md, "Tenants"), read again when it changes; empty: there
  // are none. `token` is the operator's then, who reaches the indexes of all.
  std::filesystem::path tenants{};
  std::optional<TlsFiles> tls{};
  std::vector<std::string> nodes{};  // addresses, "host:port": new indexes are spread over them
  // Copies of each shard of a new index beside its owner, on other nodes. Needs etcd, and nodes that
  // hold leases there.
  std::size_t followers = 0;
  // How old a state may answer a read while the owner of a shard is slow or silent, unless the read
  // says it itself (docs/api.md); 0: reads wait for an owner.
  std::chrono::milliseconds stale_reads{5'000};
  // Calls to followers because an owner is slower than usual, for each call that they may answer; 0:
  // they are asked when it is silent (router::HedgeOptions).
  double hedged_reads = 0.05;
  std::string node_token{};          // sent to the nodes; empty: none
  // File with PEM certificates, one of which signed the nodes'. Empty: nodes are not asked for TLS.
  std::string node_certificates{};
  std::string log{};  // file for a line about each request; "-": standard error; empty: none
  Clock* clock = &system_clock();
  // Moves of partitions; a move goes on at any router of the indexes.
  std::size_t moves_at_once = 2;             // of each index
  std::uint64_t move_bytes_per_second = 0;   // of each move; 0: no limit
  std::chrono::nanoseconds move_grace = std::chrono::seconds{10};  // before a source removes its copy
  // "size" or "load": partitions move by themselves when a shard has more than `balance_skew` times
  // the mean. Empty: only when somebody asks for it.
  std::string balance{};
  double balance_skew = 1.5;
  std::chrono::nanoseconds balance_pause = std::chrono::minutes{1};
  // Partitions are split and merged by themselves, one at a time (router/partition_plan.h).
  bool balance_partitions = false;
  search::OpenOptions embedders = {};  // of indexes whose vectors the router makes
  // Receives the problem when etcd goes away, or the file of the tenants cannot be used any more.
  // Called on any thread.
  std::function<void(const Error&)> on_problem{};
};

// While etcd is away, everything but the making of indexes goes on, with the last maps.
// Thread-safe. One process can have a folder open at a time.
class RouterService {
 public:
  // kInvalidArgument if the address is not a loopback address and token or TLS is missing, if an
  // address of a node is not one, or if there are not enough nodes for the followers. Nodes
  // need not be there yet; etcd must: kUnavailable.
  static Result<std::unique_ptr<RouterService>> start(RouterServiceOptions options);
  // As stop().
  ~RouterService();

  std::uint16_t port() const;
  // "http://127.0.0.1:8723/".
  std::string url() const;
  void stop();

 private:
  struct State;
  explicit RouterService(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
