// Reads facts about a shard without opening it.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "index/truth/entity_format.h"

namespace kin::index {

// The shard's counters as its files have them, even while it is open in this or another process.
// All zero where there is no shard yet. Thread-safe.
Result<Counters> peek_counters(const std::filesystem::path& folder);

// kFailedPrecondition if the shard is open in this or another process. A missing or damaged shard
// counts as closed. Thread-safe.
Status check_closed(const std::filesystem::path& folder);

}  // namespace kin::index
