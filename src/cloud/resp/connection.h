// One connection over TCP, with TLS or without.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "cloud/resp_client.h"

namespace kin::cloud {

// One thread only. No call blocks beyond its deadline.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const RespOptions& options, SteadyTime deadline);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Sends all of `out` and passes on incoming bytes, until `done` returns true. Both at the same
  // time: a server that waits for us to read must not wait for ever.
  using Take = std::function<Result<bool>(std::string_view bytes)>;
  Status exchange(std::string_view out, const Take& done, SteadyTime deadline);

 private:
  struct State;
  explicit Connection(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kin::cloud
