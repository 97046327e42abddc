#include "router/calls/blobs.h"

#include <algorithm>

namespace kin::router {

Result<std::string> read_blob(std::span<const std::shared_ptr<ShardClient>> clients,
                              CallOptions how, const Hash128& hash, const RouterOptions& options) {
  Clock& clock = *options.clock;
  const SteadyTime end = clock.steady_now() + options.timeout;
  Error last{Code::kUnavailable, "no shard has them"};
  do {
    for (const auto& client : clients) {
      how.deadline = std::min(end, clock.steady_now() + options.attempt);
      auto reply = call(*client, ReadBlobRequest{.hash = hash}, how);
      if (!reply.ok()) {
        last = reply.error();
        continue;
      }
      auto* blob = std::get_if<Blob>(&*reply);
      if (blob != nullptr && blob->bytes) return std::move(*blob->bytes);
    }
    clock.sleep_for(options.pause);
  } while (clock.steady_now() < end);
  return last;
}

}  // namespace kin::router
