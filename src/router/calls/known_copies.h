// Which nodes follow the shards of an index as a router knows it, and ways to them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/meta_store.h"
#include "router/router.h"

namespace kin::router {

// Immutable once it is read.
struct KnownCopies {
  struct Copy {
    std::string address = {};
    std::shared_ptr<ShardClient> client = {};
  };
  std::uint64_t revision = 0;                         // of the meta store; 0: nobody wrote them yet
  std::map<Hash128, std::vector<Copy>> of_shard = {};  // by identity

  // The copies of a shard on other nodes than its owner's.
  std::vector<Copy> beside(const Hash128& shard, std::string_view owner) const;
};
using KnownCopiesPointer = std::shared_ptr<const KnownCopies>;

// What the meta store says; `before`, if nothing changed since.
Result<KnownCopiesPointer> read_copies(MetaStore& meta, std::string_view index,
                                       const Connect& connect, const KnownCopiesPointer& before);

}  // namespace kin::router
