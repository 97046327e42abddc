// A client of Redis and its relatives: many commands in one round trip.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace kin::cloud {

// "SET", "key", "value": any bytes.
using RespCommand = std::vector<std::string>;

struct RespValue {
  enum class Kind { kText, kError, kNumber, kNothing, kArray };
  Kind kind = Kind::kNothing;
  std::string text = {};  // of kText; for kError the message ("WRONGTYPE ...")
  std::int64_t number = 0;
  std::vector<RespValue> items = {};
  friend bool operator==(const RespValue&, const RespValue&) = default;
};

struct RespOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  bool tls = false;
  std::string ca_file = {};   // certificates to trust instead of the system's
  std::string user = {};      // empty: Redis's default user
  std::string password = {};  // empty: none
  std::chrono::milliseconds connect{2'000};
  std::chrono::milliseconds answer{5'000};  // of one call, from its first byte to its last
};

// Thread-safe: calls of several threads are serialised on one connection. The first call opens it,
// and so does the first call after a failure. Nothing is sent twice. Timeouts are measured by the
// machine's clock.
class RespClient {
 public:
  explicit RespClient(RespOptions options);
  ~RespClient();
  RespClient(const RespClient&) = delete;
  RespClient& operator=(const RespClient&) = delete;

  // Sends all commands before it waits for the first reply, and returns the replies in order. A
  // reply may be an error; the others are still valid. kUnavailable if the server cannot be
  // reached, does not answer in time, or says that it is loading, moving or read-only;
  // kFailedPrecondition if it refuses the password or its certificate is not trusted; kDataLoss if
  // it does not speak RESP. After an error, any part of the commands may have taken effect.
  Result<std::vector<RespValue>> call(std::span<const RespCommand> commands);
  // One command. An error reply is kFailedPrecondition.
  Result<RespValue> call(RespCommand command);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kin::cloud
