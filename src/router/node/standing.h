// What a shard of a node may answer: it depends on whether the process owns the shard.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "router/requests.h"
#include "router/shard_client.h"

namespace kin::router {

struct Standing {
  enum class Role : std::uint8_t {
    kOwner,     // answers everything
    kFollower,  // has a copy: answers reads whose callers allow an old state
    kNobody,    // answers nothing about partitions: its lease is over, or the copy is not ready
  };
  Role role = Role::kOwner;
  std::chrono::milliseconds behind{0};  // of a follower: its state is not older than this
  std::string why = {};                 // for people: why it does not answer, or who does
};
// Asked before each request, on any thread.
using KnowStanding = std::function<Standing()>;

// Whether a shard of this standing may serve the request. kUnavailable if not: the request was not
// begun, and the owner of the shard may serve it.
Status check_standing(const Request& request, const CallOptions& options, const Standing& standing);

}  // namespace kin::router
