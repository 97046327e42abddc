// Facts about a shard that is not opened.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "index/truth/entity_format.h"

namespace kin::index {

// The counters of the shard, read from its files. Works while the shard is open, in this process or
// another, and may then be a little old. All zero if there is no shard. Thread-safe.
Result<Counters> peek_counters(const std::filesystem::path& folder);

// kFailedPrecondition if the shard is open, in this process or another. A missing or damaged shard
// is not open. Thread-safe.
Status check_closed(const std::filesystem::path& folder);

}  // namespace kin::index
