// An HTTP/1.1 server: thousands of connections on a few threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/http/routes.h"

namespace kin::server {

// Called with a request's header, before its body is read, on a thread of the connections: must not
// block. Thread-safe.
using Planner = std::function<Plan(const Request& head)>;

struct TlsFiles {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM
};

struct ServerLimits {
  std::size_t header = std::size_t{16} << 10;
  std::size_t body = std::size_t{16} << 20;  // whatever a plan says
  // Connections beyond these are told that the server is busy. Never more than the process may have
  // open files.
  std::size_t connections = 20'000;
  std::chrono::milliseconds idle = std::chrono::seconds(75);  // between requests
  std::chrono::milliseconds header_time = std::chrono::seconds(10);
  // For a body or an answer; more for large ones, by the slowest rate that is borne.
  std::chrono::milliseconds transfer_time = std::chrono::seconds(30);
  std::size_t slowest_rate = std::size_t{16} << 10;           // bytes a second
  std::chrono::milliseconds ping = std::chrono::seconds(15);  // of event streams
  std::chrono::milliseconds grace = std::chrono::seconds(5);  // for running requests at the end
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0 for any that is free
  std::unique_ptr<TlsFiles> tls{};    // none for plain HTTP
  int threads = 2;                    // for connections
  int quick_threads = 4;
  int slow_threads = 4;
  ServerLimits limits{};
  // Added to every answer that does not have the field itself.
  std::vector<net::Header> headers{};
};

// Keep-alive, pipelining (one after another), chunked bodies, HEAD, "Expect: 100-continue", event
// streams. Malformed requests get 400, too large ones 413 or 431, both with the connection closed.
// Thread-safe.
class HttpServer {
 public:
  // Listens and serves until stop(). kFailedPrecondition if the port is in use.
  static Result<std::unique_ptr<HttpServer>> start(ServerOptions options, Planner planner);
  // As stop().
  ~HttpServer();

  std::uint16_t port() const;
  std::size_t connections() const;
  // Takes no new connections, closes idle ones and event streams, and gives requests that are being
  // answered the time of ServerLimits::grace. Call it once the handlers can end.
  void stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
