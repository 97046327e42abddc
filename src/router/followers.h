// Which nodes follow the shards of an index.
//
//   KIN_TRY(const Followers now, read_followers(meta, "papers"));
//   Followers next = plan_followers(map, nodes, 1, now);
//   KIN_TRY(const bool written, swap_followers(meta, "papers", now, next));
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "router/meta_store.h"
#include "router/shard_map.h"

namespace kin::router {

// A copy of a shard on a node. The node that owns the shard may be among them: then it follows as
// soon as another one owns it.
struct Follower {
  Hash128 shard = {};        // identity
  std::string address = {};  // of the node
  friend bool operator==(const Follower&, const Follower&) = default;
};

struct Followers {
  std::vector<Follower> copies = {};
  std::uint64_t revision = 0;  // of the meta store; 0: nobody wrote them yet
};

// None if nobody wrote any.
Result<Followers> read_followers(MetaStore& meta, std::string_view index);
// False if somebody else was faster than the reader of `before`.
Result<bool> swap_followers(MetaStore& meta, std::string_view index, const Followers& before,
                            const std::vector<Follower>& after);

// `count` followers for each shard beside its owner, on different nodes of `nodes`; those that are
// there stay, and new ones go to the nodes with the fewest copies. The owner of a shard with
// followers is one of its copies, so that it follows when it comes back after a take-over.
// kInvalidArgument if there are not enough nodes, or the shards have no identities.
Result<std::vector<Follower>> plan_followers(const ShardMap& map,
                                             const std::vector<std::string>& nodes,
                                             std::size_t count, const Followers& now);

// From then on no node makes or keeps copies of the shards of an index, but for their owners.
Status forget_followers(MetaStore& meta, std::string_view index);
// Removes the lease of a shard that is dropped, so that nobody takes it over, and those of an index.
Status forget_lease(MetaStore& meta, std::string_view index, const Hash128& shard);
Status forget_leases(MetaStore& meta, std::string_view index);

// The bytes of docs/formats.md, "A router: the meta store, maps, moves and centroids".
std::string encode(const std::vector<Follower>& copies);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<std::vector<Follower>> decode_followers(std::string_view bytes);

// Its key in a MetaStore.
inline constexpr std::string_view kFollowersKeys = "replicas/";
std::string followers_key(std::string_view index);

}  // namespace kin::router
