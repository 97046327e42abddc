// Versions of a document, ordered over all its owners.
#pragma once

#include <compare>
#include <cstdint>

namespace kin {

// The number of one change of a shard. Counted from 1, without gaps.
using Lsn = std::uint64_t;

// Orders the states of a document over all owners it ever had: a later owner has a higher epoch,
// and an owner numbers its own changes. A state is written only over an older one.
struct Version {
  std::uint64_t epoch = 0;
  Lsn lsn = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

}  // namespace kin
