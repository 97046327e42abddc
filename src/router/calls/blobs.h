// Bytes that every shard of an index keeps under their hash.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "router/router.h"

namespace kin::router {

// Asks one shard after another, as often as the timeout of the options allows. `how` is of all
// calls, except for its deadline. Thread-safe.
Result<std::string> read_blob(std::span<const std::shared_ptr<ShardClient>> clients,
                              CallOptions how, const Hash128& hash, const RouterOptions& options);

}  // namespace kin::router
