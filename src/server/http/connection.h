// One connection, and the state that all connections share. Private to HttpServer.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "server/http/server.h"
#include "server/http/task_pool.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace kin::server {

class AnyConnection {
 public:
  virtual ~AnyConnection() = default;
  // Closes the connection: at once, or after the answer that is being made. Thread-safe.
  virtual void stop(bool at_once) = 0;
};

// The open connections. Thread-safe.
class Connections {
 public:
  // False if there are `most` already, or after stop_all().
  bool enter(const std::shared_ptr<AnyConnection>& connection, std::size_t most);
  void leave(AnyConnection* connection);
  std::size_t count() const;
  bool stopping() const { return stopping_; }
  // Stops every connection and lets no further one in.
  void stop_all(bool at_once);
  // Waits until no connection is left. False if some are left after `time`.
  bool wait_until_gone(std::chrono::milliseconds time);

 private:
  mutable std::mutex lock_;
  std::condition_variable gone_;
  std::unordered_map<AnyConnection*, std::weak_ptr<AnyConnection>> all_;
  std::atomic<bool> stopping_{false};
};

struct ServerCore {
  ServerOptions options;
  Planner planner;
  Connections connections{};
  std::unique_ptr<TaskPool> quick{};
  std::unique_ptr<TaskPool> slow{};
};

struct AcceptedSocket {
  int descriptor = -1;
  bool v6 = false;
};

// Serves the socket, with TLS if there is a context. The connection owns itself until it is closed;
// `core` and `io` must outlive it.
void start_connection(ServerCore& core, boost::asio::io_context& io, boost::asio::ssl::context* tls,
                      AcceptedSocket socket);

}  // namespace kin::server
