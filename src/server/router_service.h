// `kindred router`: indexes over the shards of many nodes, and their JSON API.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "search/search_index.h"
#include "server/http/server.h"

namespace kin::server {

struct RouterServiceOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  std::filesystem::path folder;       // of the meta store: maps and settings of the indexes
  std::string token{};                // empty: no token is needed
  std::optional<TlsFiles> tls{};
  std::vector<std::string> nodes{};  // addresses, "host:port": new indexes are spread over them
  std::string node_token{};          // sent to the nodes; empty: none
  // File with PEM certificates, one of which signed the nodes'. Empty: nodes are not asked for TLS.
  std::string node_certificates{};
  std::string log{};  // file for a line about each request; "-": standard error; empty: none
  Clock* clock = &system_clock();
  search::OpenOptions embedders = {};  // of indexes whose vectors the router makes
};

// Thread-safe. One process can have a folder open at a time.
class RouterService {
 public:
  // kInvalidArgument if the address is not a loopback address and token or TLS is missing, or an
  // address of a node is not one. Nodes need not be there yet.
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
