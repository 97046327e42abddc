// The indexes whose shards a node serves.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/hash.h"
#include "base/result.h"
#include "router/shard_host.h"

namespace kin::rpc {

// The largest message that nodes and their clients take unless they are told otherwise.
inline constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;

struct ServedIndex {
  std::string name = {};
  std::string settings = {};  // bytes that only the maker of the index and the node understand
  friend bool operator==(const ServedIndex&, const ServedIndex&) = default;
};

// Thread-safe.
class ServedIndexes {
 public:
  virtual ~ServedIndexes() = default;

  // The shard of this identity or, if the node has none or it is zero, the shard that was made for
  // the index. Never null. kNotFound if the node has no shard of the index.
  virtual Result<std::shared_ptr<router::ShardHost>> find(const std::string& index,
                                                          const Hash128& shard) = 0;
  // Makes a shard; it is there after a restart. If there is one with the same settings, nothing
  // changes; kFailedPrecondition if its settings are different.
  virtual Status create(const ServedIndex& index) = 0;
  // Removes the shard of an index with all its files. Nothing happens if there is none.
  // kFailedPrecondition if the shard is another one than `shard`; kUnavailable if it is in use: it
  // serves nobody from now on, so try again.
  virtual Status drop(const std::string& index, const Hash128& shard) = 0;
  virtual Result<std::vector<ServedIndex>> list() = 0;
  // Called after a shard answered, before the reply is sent: blocks until what the reply may tell
  // survives the node, if the node promises that. An error is sent instead of the reply.
  virtual Status hold(const std::shared_ptr<router::ShardHost>& /*host*/, SteadyTime /*deadline*/) {
    return Done{};
  }
};

}  // namespace kin::rpc
