// `kindred serve`: feeds and stories, search indexes, the JSON API and the page, as one service.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "search/search_index.h"
#include "server/http/server.h"
#include "stories/newsroom.h"

namespace kin::server {

// A router or a server whose indexes are shown as this server's own.
struct RemoteIndexes {
  std::string origin{};   // "http://10.0.0.7:8723"
  std::string token{};    // empty: none is sent
  std::string ca_file{};  // PEM certificates to trust instead of the system's; empty: the system's
};

struct ServiceOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  std::filesystem::path folder;       // of the newsroom
  std::filesystem::path indexes{};    // the folder that holds all indexes
  search::OpenOptions index{};        // for opening each of them
  // If set, the indexes are there, and not in the folder.
  std::optional<RemoteIndexes> remote_indexes{};
  std::string token{};                // empty: no token is needed
  std::optional<TlsFiles> tls{};
  // "https://news.example.org": the page's address for browsers, behind a reverse proxy; or empty.
  std::string public_url{};
  bool refresh = true;                   // false: feeds are polled only on request
  std::chrono::seconds refresh_gap{30};  // as PollerOptions::request_gap
  stories::NewsOptions news{};
  ServerLimits limits{};
  Clock* clock = &system_clock();
  std::chrono::milliseconds clock_tick = std::chrono::hours(1);  // as in ServerOptions
  // Receives errors of background work. Called on any thread.
  std::function<void(const Error&)> on_problem{};
};

// Thread-safe.
class WebService {
 public:
  // Opens everything and starts to serve. kInvalidArgument if the address is not a loopback address
  // and token or TLS is missing.
  static Result<std::unique_ptr<WebService>> start(ServiceOptions options);
  // As stop().
  ~WebService();

  std::uint16_t port() const;
  // The address of the page: "http://127.0.0.1:8722/".
  std::string url() const;
  // Cancels fetches, finishes running requests, then closes everything.
  void stop();

 private:
  struct State;
  explicit WebService(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
