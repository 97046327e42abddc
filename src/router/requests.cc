#include "router/requests.h"

#include <array>

namespace kin::router {
namespace {

// In the order of Request.
constexpr auto kKinds = std::to_array<std::string_view>(
    {"open session", "write", "assign",  "claim",      "locate",    "get",   "statistics",
     "find",         "sum",   "present", "heads",      "edges",     "list",  "read log",
     "digest",       "stats", "health",  "store blob", "read blob", "scope", "about",
     "check",        "near",  "receive", "take",       "follow",    "copy",  "places",
     "end move",     "pull",  "sample",  "divide",     "labels",    "place", "end divide"});
static_assert(kKinds.size() == std::variant_size_v<Request>);

}  // namespace

std::string_view kind_of(const Request& request) {
  return kKinds[request.index()];
}

}  // namespace kin::router
