// An HTTP/1.1 server: thousands of connections on a few threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "server/http/routes.h"

namespace kin::server {

// Decides how to handle a request when its header has arrived and its body has not. Runs on a
// thread that serves connections, so it must not block. Thread-safe.
using Planner = std::function<Plan(const Request& head)>;

struct TlsFiles {
  std::string certificate;  // PEM, with its chain
  std::string key;          // PEM
};

struct ServerLimits {
  std::size_t header = std::size_t{16} << 10;  // bytes
  std::size_t body = std::size_t{16} << 20;    // bytes; Plan::most_body may be lower
  // Further connections get 503. The limit is lowered to what the process may open in files.
  std::size_t connections = 20'000;
  std::chrono::milliseconds idle = std::chrono::seconds(75);  // between requests
  std::chrono::milliseconds header_time = std::chrono::seconds(10);
  // To receive a body or send an answer, plus one second for every `slowest_rate` bytes.
  std::chrono::milliseconds transfer_time = std::chrono::seconds(30);
  std::size_t slowest_rate = std::size_t{16} << 10;           // bytes a second
  std::chrono::milliseconds ping = std::chrono::seconds(15);  // between pings of an event stream
  std::chrono::milliseconds grace = std::chrono::seconds(5);  // for running requests in stop()
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, without brackets
  std::uint16_t port = 0;             // 0: any free port
  std::unique_ptr<TlsFiles> tls{};    // none for plain HTTP
  int threads = 2;                    // for connections
  std::size_t quick_threads = 4;
  std::size_t slow_threads = 64;  // these mostly wait, so hanging servers must not use them up
  ServerLimits limits{};
  Clock* clock = &system_clock();  // for the limits of connections
  // A connection compares its limit with the clock at least this often. Tests that move a clock of
  // their own set a short time.
  std::chrono::milliseconds clock_tick = std::chrono::hours(1);
  // Header fields of every answer, unless the answer sets the field itself.
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
  // Refuses new connections, closes idle ones and event streams, and waits up to
  // ServerLimits::grace for requests that are being answered. Handlers must be able to return.
  void stop();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::server
