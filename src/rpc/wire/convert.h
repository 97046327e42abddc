// Calls and replies as messages of node.proto, and back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "router/requests.h"
#include "router/shard_client.h"

namespace kindred::v1 {
class CallReply;
class CallRequest;
class Failure;
}  // namespace kindred::v1

namespace kin::rpc {

// A request to a shard, and which shard that is.
struct Call {
  std::string index = {};
  std::uint64_t map_epoch = 0;
  std::uint64_t divided = 0;  // router::CallOptions::divided
  Hash128 shard = {};  // router::CallOptions::shard
  std::optional<std::chrono::milliseconds> most_behind = {};  // and CallOptions::most_behind
  router::Request request = {};
};

// All functions are thread-safe. Those that read take messages of any peer: kInvalidArgument names
// the first field that does not fit. Fields that this program does not know are ignored; a request
// that it does not know is an error.
void to_wire(const Call& call, kindred::v1::CallRequest& message);
Result<Call> from_wire(const kindred::v1::CallRequest& message);

void to_wire(const router::Reply<router::Response>& reply, kindred::v1::CallReply& message);
// An error of the shard comes back as it was.
router::Reply<router::Response> from_wire(const kindred::v1::CallReply& message);

void to_wire(const Error& error, kindred::v1::Failure& message);
Error from_wire(const kindred::v1::Failure& message);

}  // namespace kin::rpc
