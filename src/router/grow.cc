#include "router/grow.h"

#include <fmt/format.h>

#include <algorithm>

namespace kin::router {
namespace {

// The place of the shard if it is in the map. Refuses a shard that cannot join it.
Result<std::optional<std::uint32_t>> place_in(const ShardMap& map, const std::string& address,
                                              const Hash128& identity) {
  if (map.identities.empty())
    return Error{Code::kFailedPrecondition,
                 fmt::format("the map of {} is an older one without the identities of its shards: "
                             "it cannot grow",
                             map.index)};
  if (const auto place = map.place_of(identity)) {
    if (map.shards[*place] == address) return place;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: its shard of {} is in the map, at {}", address, map.index,
                             map.shards[*place])};
  }
  for (std::uint32_t shard = 0; shard < map.shards.size(); ++shard) {
    // A node may have taken over shards beside its own.
    if (map.shards[shard] == address && map.term_of(shard) == 0)
      return Error{Code::kFailedPrecondition,
                   fmt::format("{}: the map of {} has another shard there", address, map.index)};
  }
  return std::optional<std::uint32_t>();
}

Status copy_blobs(const Connect& connect, const ShardMap& map, const std::string& address,
                  const std::vector<Hash128>& blobs, const RouterOptions& options) {
  for (const Hash128& hash : blobs) {
    KIN_TRY(std::string bytes, read_blob(connect, map, hash, options));
    const auto stored =
        call(*connect(address), StoreBlobRequest{.hash = hash, .bytes = std::move(bytes)},
             {.map_epoch = map.epoch, .deadline = options.clock->steady_now() + options.timeout});
    if (!stored.ok()) return with_context(address, stored.error());
  }
  return Done{};
}

}  // namespace

Result<std::uint32_t> add_shard(MetaStore& meta, const Connect& connect, std::string_view index,
                                const std::string& address, std::vector<Hash128> blobs,
                                const RouterOptions& options) {
  KIN_TRY(const auto identities, read_identities(connect, {address}, options));
  for (;;) {
    KIN_TRY(const auto value, meta.get(map_key(index)));
    if (!value) return Error{Code::kNotFound, fmt::format("there is no index named {}", index)};
    KIN_TRY(ShardMap map, decode_shard_map(value->bytes));
    KIN_TRY(const auto there, place_in(map, address, identities[0]));
    if (there) return *there;
    if (map.centroids && std::ranges::find(blobs, *map.centroids) == blobs.end())
      blobs.push_back(*map.centroids);
    KIN_RETURN_IF_ERROR(copy_blobs(connect, map, address, blobs, options));
    const auto place = static_cast<std::uint32_t>(map.shards.size());
    map.shards.push_back(address);
    map.identities.push_back(identities[0]);
    ++map.epoch;
    KIN_TRY(const auto written, meta.swap(map_key(index), value->revision, encode(map)));
    if (!written) continue;  // the map changed meanwhile
    // The shard is told that it owns nothing. If that fails, the first move tells it.
    [[maybe_unused]] const auto told = call(
        *connect(address), map.assignment_of(place),
        {.map_epoch = map.epoch, .deadline = options.clock->steady_now() + options.timeout});
    return place;
  }
}

}  // namespace kin::router
