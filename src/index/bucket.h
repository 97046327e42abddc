// Parts of a partition that are compared by themselves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/doc_id.h"

namespace kin::index {

inline constexpr std::size_t kBuckets = 256;

// The bucket of an entity, with its edges and fragments. The same in every shard. Thread-safe.
std::uint8_t bucket_of(const DocId& id);

}  // namespace kin::index
