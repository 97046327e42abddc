// Serves the shards of a node over gRPC, with gRPC's standard health and reflection services.
//
//   KIN_TRY(auto server, NodeServer::start(indexes, {.address = "127.0.0.1", .port = 7700}));
//   ...
//   server->stop();
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "router/clients_first.h"
#include "rpc/served_indexes.h"

namespace kin::rpc {

// A certificate and its key, as PEM.
struct TlsIdentity {
  std::string certificate = {};
  std::string key = {};
};

// A call of a router that was answered.
struct ServedCall {
  std::string request_id = {};  // of the client's request; empty if there is none
  std::string index = {};
  std::string_view kind = {};     // router::kind_of()
  std::string_view outcome = {};  // "ok", "refused", or the name of an error's code
  std::chrono::nanoseconds took = {};
};

struct NodeServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  // Callers must send it, except for health and reflection. Empty: nobody needs one.
  std::string token = {};
  std::optional<TlsIdentity> tls = {};         // nothing: connections are not encrypted
  std::size_t most_bytes = kMostMessageBytes;  // of a request; larger ones are refused
  std::size_t most_calls = 256;                // at once; others are refused with UNAVAILABLE
  const Clock* clock = &system_clock();
  std::function<void(const ServedCall&)> on_call = {};  // may be called on any thread
  // How a shard of an index reaches the one at another address; see router::CallOptions::reach.
  // Called on any thread. Empty: it does not.
  std::function<std::shared_ptr<router::ShardClient>(const std::string& index,
                                                     const std::string& address)>
      reach = {};
  // Of long work for moves. It learns of the calls of clients. Null: as fast as it can be.
  router::ClientsFirst* pace = nullptr;
};

// Thread-safe. Calls are served on threads of gRPC.
class NodeServer {
 public:
  // `indexes` must outlive the server. kUnavailable if the address cannot be listened at, or the
  // certificate or the key cannot be used.
  static Result<std::unique_ptr<NodeServer>> start(ServedIndexes& indexes,
                                                   const NodeServerOptions& options);
  // As stop().
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  std::uint16_t port() const;
  // Takes no more calls, and returns once the running ones have ended.
  void stop();

 private:
  struct State;
  explicit NodeServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::rpc
