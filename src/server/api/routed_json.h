// The state of an index on nodes as JSON, as docs/api.md has it. Thread-safe.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "server/routed/routed_index.h"

namespace kin::server {

// An Index: its settings, the sums over the shards that answer, and its shards: where they are,
// what they own, whether they answer.
void write_routed_index(JsonWriter& json, const std::string& name, RoutedIndex& index);

// What the shards hold, and the size and the load of each partition.
std::string shards_json(RoutedIndex& index);

}  // namespace kin::server
