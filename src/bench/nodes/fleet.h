// Nodes and a router as processes of their own, for measuring.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

// A running `kindred node` or `kindred router` that listens on a loopback port. One thread only.
class Server {
 public:
  // `words` are the verb and its options. Waits until it listens.
  static Result<Server> start(const std::vector<std::string>& words,
                              const std::filesystem::path& folder);
  ~Server();  // kills it
  Server(Server&& other) noexcept;
  Server& operator=(Server&&) = delete;

  std::uint16_t port() const { return port_; }
  std::string address() const;
  // Processor time of all its threads so far.
  double processor_seconds() const;

 private:
  Server(pid_t process, std::uint16_t port) : process_(process), port_(port) {}
  bool runs();
  pid_t process_ = 0;  // 0: none
  std::uint16_t port_ = 0;
};

// Nodes and a router over them. One thread only.
class Fleet {
 public:
  static Result<std::unique_ptr<Fleet>> start(std::size_t nodes,
                                              const std::filesystem::path& folder);

  const std::vector<Server>& nodes() const { return nodes_; }
  const Server& router() const { return *router_; }
  double processor_seconds() const;
  // Waits until no process does background work, a minute at most.
  void settle() const;

 private:
  Fleet() = default;
  std::vector<Server> nodes_;
  std::unique_ptr<Server> router_;
};

// A connection to the JSON API of a router, kept open. One thread only.
class Caller {
 public:
  explicit Caller(std::uint16_t port);
  ~Caller();
  // The body of the answer; an error for a status that is not 2xx.
  Result<std::string> get(const std::string& path);
  // `path` follows /api/v1.
  Result<std::string> post(const std::string& path, const std::string& json);

 private:
  Result<std::string> ask(const std::string& path, const std::string& request);

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::bench
