#include "router/followers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"
#include "router/lease.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the followers of an index", .magic = "KREP"};
constexpr std::uint16_t kVersion = 1;

Status forget(MetaStore& meta, const std::string& key) {
  for (;;) {
    KIN_TRY(const auto value, meta.get(key));
    if (!value) return Done{};
    KIN_TRY(const auto removed, meta.swap(key, value->revision, std::nullopt));
    if (removed) return Done{};
  }
}

}  // namespace

Result<Followers> read_followers(MetaStore& meta, std::string_view index) {
  KIN_TRY(const auto value, meta.get(followers_key(index)));
  if (!value) return Followers{};
  KIN_TRY(auto copies, decode_followers(value->bytes));
  return Followers{.copies = std::move(copies), .revision = value->revision};
}

Result<bool> swap_followers(MetaStore& meta, std::string_view index, const Followers& before,
                            const std::vector<Follower>& after) {
  KIN_TRY(const auto written, meta.swap(followers_key(index), before.revision, encode(after)));
  return written.has_value();
}

Result<std::vector<Follower>> plan_followers(const ShardMap& map,
                                             const std::vector<std::string>& nodes,
                                             std::size_t count, const Followers& now) {
  if (map.identities.empty())
    return Error{Code::kInvalidArgument,
                 fmt::format("index {} was made by an older program and cannot have followers",
                             map.index)};
  const std::set<std::string> all(nodes.begin(), nodes.end());
  std::map<std::string, std::size_t> copies;  // on each node
  for (const std::string& node : all) copies[node] = 0;
  for (const std::string& owner : map.shards) ++copies[owner];
  std::vector<Follower> plan;
  for (std::size_t shard = 0; shard < map.shards.size() && count > 0; ++shard) {
    std::set<std::string> chosen{map.shards[shard]};
    plan.push_back({.shard = map.identities[shard], .address = map.shards[shard]});
    const auto choose = [&](const std::string& node) {
      if (chosen.size() > count || !chosen.insert(node).second) return;
      plan.push_back({.shard = map.identities[shard], .address = node});
      ++copies[node];
    };
    for (const Follower& one : now.copies) {
      if (one.shard == map.identities[shard] && all.contains(one.address)) choose(one.address);
    }
    while (chosen.size() <= count) {
      const std::string* best = nullptr;
      for (const std::string& node : all) {
        if (!chosen.contains(node) && (best == nullptr || copies[node] < copies[*best]))
          best = &node;
      }
      if (best == nullptr)
        return Error{Code::kInvalidArgument,
                     fmt::format("{} followers of a shard need {} nodes beside its owner, and there "
                                 "are {} nodes in all",
                                 count, count, all.size())};
      choose(*best);
    }
  }
  return plan;
}

Status forget_followers(MetaStore& meta, std::string_view index) {
  return forget(meta, followers_key(index));
}

Status forget_lease(MetaStore& meta, std::string_view index, const Hash128& shard) {
  return forget(meta, lease_key(index, shard));
}

Status forget_leases(MetaStore& meta, std::string_view index) {
  KIN_TRY(const auto leases, meta.watch(leases_prefix(index), 0, SteadyTime{}));
  for (const MetaEntry& entry : leases.entries) {
    if (entry.value) KIN_RETURN_IF_ERROR(forget(meta, entry.key));
  }
  return Done{};
}

std::string encode(const std::vector<Follower>& copies) {
  std::string out(kHead.magic);
  append_le(out, kVersion);
  append_le(out, static_cast<std::uint32_t>(copies.size()));
  for (const Follower& one : copies) {
    append_le(out, one.shard.low);
    append_le(out, one.shard.high);
    append_sized(out, one.address);
  }
  append_le(out, checksum(out));
  return out;
}

Result<std::vector<Follower>> decode_followers(std::string_view bytes) {
  KIN_TRY(auto fields, read_format(kHead, {kVersion}, bytes));
  ByteReader& in = fields.in;
  std::vector<Follower> copies;
  // Counts are not trusted: reading stops at the end of the bytes.
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count) {
    Follower one{.shard = {.low = in.read<std::uint64_t>()}};
    one.shard.high = in.read<std::uint64_t>();
    one.address = read_sized(in);
    copies.push_back(std::move(one));
  }
  if (!in.ok() || !in.rest().empty()) return kHead.damaged();
  return copies;
}

std::string followers_key(std::string_view index) {
  return std::string(kFollowersKeys).append(index);
}

}  // namespace kin::router
