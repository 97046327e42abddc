#include "router/calls/known_copies.h"

#include "router/followers.h"

namespace kin::router {

std::vector<KnownCopies::Copy> KnownCopies::beside(const Hash128& shard,
                                                   std::string_view owner) const {
  const auto found = of_shard.find(shard);
  if (found == of_shard.end()) return {};
  std::vector<Copy> others = found->second;
  std::erase_if(others, [&](const Copy& one) { return one.address == owner; });
  return others;
}

Result<KnownCopiesPointer> read_copies(MetaStore& meta, std::string_view index,
                                       const Connect& connect, const KnownCopiesPointer& before) {
  KIN_TRY(const Followers now, read_followers(meta, index));
  if (before && before->revision == now.revision) return before;
  auto copies = std::make_shared<KnownCopies>();
  copies->revision = now.revision;
  for (const Follower& one : now.copies)
    copies->of_shard[one.shard].push_back({.address = one.address, .client = connect(one.address)});
  return KnownCopiesPointer(std::move(copies));
}

}  // namespace kin::router
