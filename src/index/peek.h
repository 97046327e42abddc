// What can be said of a shard without opening it.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "index/truth/entity_format.h"

namespace kin::index {

// How much it holds, read from its files: also while it is open, here or elsewhere, as of what is
// written. Nothing where there is no shard yet. Thread-safe.
Result<Counters> peek_counters(const std::filesystem::path& folder);

// kFailedPrecondition if it is open, here or elsewhere. One that is missing or damaged is not.
// Thread-safe.
Status check_closed(const std::filesystem::path& folder);

}  // namespace kin::index
