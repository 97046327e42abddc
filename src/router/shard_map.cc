#include "router/shard_map.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/format_head.h"
#include "base/sized_text.h"

namespace kin::router {
namespace {

constexpr FormatHead kHead{.name = "the map of an index", .magic = "KMAP"};
constexpr std::uint16_t kVersion = 4;
constexpr std::uint16_t kWithoutDivisions = 3;  // written while there was no repartition
constexpr std::uint16_t kWithoutTerms = 2;  // written while there are none: older routers read it
constexpr std::uint16_t kWithoutIdentities = 1;             // and without settings
constexpr std::uint64_t kHomeSeed = 0x6b696e2d686f6d65ULL;  // fixed for ever

void append_hash(std::string& out, const Hash128& hash) {
  append_le(out, hash.low);
  append_le(out, hash.high);
}

Hash128 read_hash(ByteReader& in) {
  Hash128 hash{.low = in.read<std::uint64_t>()};
  hash.high = in.read<std::uint64_t>();
  return hash;
}

// The part that version 1 does not have. False if it is damaged.
bool read_identities(ByteReader& in, ShardMap& map) {
  const auto has_identities = in.read<std::uint8_t>();
  if (has_identities > 1) return false;
  if (has_identities == 1) {
    for (std::size_t i = 0; i < map.shards.size() && in.ok(); ++i)
      map.identities.push_back(read_hash(in));
  }
  map.settings = read_sized(in);
  return in.ok() && (has_identities == 0 || !map.identities.empty());
}

// A part of versions 3 and 4. False if it is damaged.
bool read_terms(ByteReader& in, ShardMap& map) {
  for (std::size_t i = 0; i < map.shards.size() && in.ok(); ++i)
    map.terms.push_back(in.read<std::uint64_t>());
  return in.ok() && !map.terms.empty();
}

bool has_divisions(const ShardMap& map) {
  return map.homes != 0 || map.divided != 0 || map.dividing;
}

// The part that only version 4 has.
void append_divisions(std::string& out, const ShardMap& map) {
  append_le(out, map.homes);
  append_le(out, map.divided);
  const Dividing dividing = map.dividing.value_or(Dividing{});
  append_le(out, dividing.repartition);
  append_le(out, static_cast<std::uint32_t>(dividing.members.size()));
  for (const index::PartitionId one : dividing.members)
    append_le(out, static_cast<std::uint32_t>(one));
}

// False if it is damaged.
bool read_divisions(ByteReader& in, ShardMap& map) {
  map.homes = in.read<std::uint32_t>();
  map.divided = in.read<std::uint64_t>();
  Dividing dividing{.repartition = in.read<std::uint64_t>()};
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count) {
    const auto member = in.read<std::uint32_t>();
    if (member >= map.partitions.size() ||
        !dividing.members.insert(index::PartitionId{member}).second)
      return false;
  }
  if ((dividing.repartition == 0) != dividing.members.empty()) return false;
  if (dividing.repartition != 0) map.dividing = std::move(dividing);
  return in.ok() && map.homes <= map.partitions.size() && has_divisions(map);
}

}  // namespace

index::PartitionId ShardMap::home_of(const DocId& id) const {
  const std::uint64_t count = homes == 0 ? partitions.size() : homes;
  return index::PartitionId{static_cast<std::uint32_t>(hash64(id.view(), kHomeSeed) % count)};
}

Partitions ShardMap::partitions_of(std::uint32_t shard) const {
  Partitions owned;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    if (partitions[i].shard == shard)
      owned.insert(index::PartitionId{static_cast<std::uint32_t>(i)});
  }
  return owned;
}

std::optional<std::uint32_t> ShardMap::place_of(const Hash128& identity) const {
  const auto found = std::ranges::find(identities, identity);
  if (found == identities.end()) return {};
  return static_cast<std::uint32_t>(found - identities.begin());
}

std::uint64_t ShardMap::divided_at(std::uint32_t shard) const {
  if (!dividing || dividing->members.empty()) return divided;
  // All members are on one shard, and have the same epoch.
  const auto member = static_cast<std::size_t>(*dividing->members.begin());
  if (member >= partitions.size() || partitions[member].shard != shard) return divided;
  return std::max(divided, partitions[member].epoch);
}

AssignRequest ShardMap::assignment_of(std::uint32_t shard) const {
  AssignRequest request{.divided = divided_at(shard)};
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    request.owners.push_back({.partition = index::PartitionId{static_cast<std::uint32_t>(i)},
                              .epoch = partitions[i].epoch,
                              .owned = partitions[i].shard == shard});
  }
  return request;
}

ShardMap spread_partitions(std::string index, std::vector<std::string> shards,
                           std::size_t partitions) {
  ShardMap map{.index = std::move(index), .shards = std::move(shards)};
  for (std::size_t i = 0; i < partitions; ++i)
    map.partitions.push_back(
        {.shard = static_cast<std::uint32_t>(shard_of_partition(i, partitions, map.shards.size())),
         .epoch = map.epoch});
  return map;
}

ShardMap taken_over(ShardMap map, std::uint32_t shard, std::string address, std::uint64_t term) {
  // A move's fence is at most the next epoch of a map that its mover has read. A shard that was
  // told of the fence believes only a later one.
  map.epoch += 2;
  for (PartitionOwner& owner : map.partitions) {
    if (owner.shard == shard) owner.epoch = map.epoch;
  }
  map.shards[shard] = std::move(address);
  map.terms.resize(map.shards.size());
  map.terms[shard] = term;
  return map;
}

std::string encode(const ShardMap& map) {
  std::string out(kHead.magic);
  const bool divisions = has_divisions(map);
  const bool terms = !map.terms.empty();
  append_le(out, divisions ? kVersion : terms ? kWithoutDivisions : kWithoutTerms);
  append_sized(out, map.index);
  append_le(out, map.epoch);
  out += static_cast<char>(map.centroids ? 1 : 0);
  append_hash(out, map.centroids.value_or(Hash128{}));
  append_le(out, static_cast<std::uint32_t>(map.shards.size()));
  for (const std::string& shard : map.shards) append_sized(out, shard);
  append_le(out, static_cast<std::uint32_t>(map.partitions.size()));
  for (const PartitionOwner& owner : map.partitions) {
    append_le(out, owner.shard);
    append_le(out, owner.epoch);
  }
  out += static_cast<char>(map.identities.empty() ? 0 : 1);
  for (const Hash128& identity : map.identities) append_hash(out, identity);
  append_sized(out, map.settings);
  if (divisions) out += static_cast<char>(terms ? 1 : 0);
  // Shards may have joined since the first take-over.
  for (std::uint32_t shard = 0; terms && shard < map.shards.size(); ++shard)
    append_le(out, map.term_of(shard));
  if (divisions) append_divisions(out, map);
  append_le(out, checksum(out));
  return out;
}

Result<ShardMap> decode_shard_map(std::string_view bytes) {
  KIN_TRY(auto fields,
          read_format(kHead, {kVersion, kWithoutDivisions, kWithoutTerms, kWithoutIdentities}, bytes));
  const std::uint16_t version = fields.version;
  ByteReader& in = fields.in;
  ShardMap map{.index = read_sized(in), .epoch = in.read<std::uint64_t>()};
  const auto has_centroids = in.read<std::uint8_t>();
  const Hash128 hash = read_hash(in);
  if (has_centroids == 1) map.centroids = hash;
  if (has_centroids > 1 || (has_centroids == 0 && hash != Hash128{})) return kHead.damaged();
  // Counts are not trusted: reading stops at the end of the bytes.
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count)
    map.shards.push_back(read_sized(in));
  for (auto count = in.read<std::uint32_t>(); count > 0 && in.ok(); --count) {
    PartitionOwner owner{.shard = in.read<std::uint32_t>()};
    owner.epoch = in.read<std::uint64_t>();
    if (owner.shard >= map.shards.size()) return kHead.damaged();
    map.partitions.push_back(owner);
  }
  if (version >= kWithoutTerms && !read_identities(in, map)) return kHead.damaged();
  bool has_terms = version == kWithoutDivisions;
  if (version == kVersion) {
    const auto given = in.read<std::uint8_t>();
    if (given > 1) return kHead.damaged();
    has_terms = given == 1;
  }
  if (has_terms && !read_terms(in, map)) return kHead.damaged();
  if (version == kVersion && !read_divisions(in, map)) return kHead.damaged();
  if (!in.ok() || !in.rest().empty() || map.partitions.empty()) return kHead.damaged();
  return map;
}

std::string map_key(std::string_view index) {
  return std::string("map/").append(index);
}

}  // namespace kin::router
