#include "router/node/standing.h"

#include <fmt/format.h>

#include <type_traits>

namespace kin::router {
namespace {

template <typename Asked, typename... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Asked, Kinds> || ...);

// Says nothing about partitions.
template <typename Asked>
constexpr bool kIsAlwaysServed =
    kIsOneOf<Asked, HealthRequest, StatsRequest, CheckRequest, ReadBlobRequest>;

Error not_here(std::string_view what, const Standing& standing) {
  return {Code::kUnavailable,
          fmt::format("{}{}{}", what, standing.why.empty() ? "" : ": ", standing.why)};
}

}  // namespace

Status check_standing(const Request& request, const CallOptions& options,
                      const Standing& standing) {
  if (standing.role == Standing::Role::kOwner) return Done{};
  return std::visit(
      [&]<typename Asked>(const Asked&) -> Status {
        if constexpr (kIsAlwaysServed<Asked>) return Done{};
        if (standing.role == Standing::Role::kNobody)
          return not_here("this node does not own the shard at the moment", standing);
        if constexpr (!kIsRead<Asked>) {
          return not_here("this node has a copy of the shard and takes no writes", standing);
        } else {
          if (!options.most_behind)
            return not_here("this node has a copy of the shard, which may be old", standing);
          if (standing.behind > *options.most_behind)
            return not_here(fmt::format("the copy of the shard on this node is {} ms old, and {} "
                                        "ms are allowed",
                                        standing.behind.count(), options.most_behind->count()),
                            standing);
          if (options.on_behind) options.on_behind(standing.behind);
          return Done{};
        }
      },
      request);
}

}  // namespace kin::router
