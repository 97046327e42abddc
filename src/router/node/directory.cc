#include "router/node/directory.h"

#include <map>

#include "base/bytes.h"

namespace kin::router {
namespace {

constexpr std::string_view kPlacePrefix = "place/";
constexpr std::string_view kBlobPrefix = "blob/";
constexpr std::string_view kIdentityKey = "identity";
constexpr std::uint8_t kVersion = 1;

std::string with_hash(std::string_view before, const Hash128& hash) {
  std::string bytes(before);
  append_le(bytes, hash.low);
  append_le(bytes, hash.high);
  return bytes;
}

std::string blob_key(const Hash128& hash) {
  return with_hash(kBlobPrefix, hash);
}

}  // namespace

std::string place_key(index::PartitionId home, const DocId& id) {
  std::string key(kPlacePrefix);
  for (int shift = 24; shift >= 0; shift -= 8)
    key += static_cast<char>(static_cast<std::uint32_t>(home) >> shift);
  return key.append(id.view());
}

std::string encode_place(index::PartitionId partition) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, static_cast<std::uint32_t>(partition));
  return out;
}

Result<index::PartitionId> decode_place(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kVersion)
    return Error{Code::kFailedPrecondition,
                 "a place in the directory has a version that this program does not read"};
  const index::PartitionId partition{in.read<std::uint32_t>()};
  if (!in.ok() || !in.rest().empty())
    return Error{Code::kDataLoss, "a place in the directory is damaged"};
  return partition;
}

std::string encode_identity(const Hash128& identity) {
  return with_hash(std::string(1, static_cast<char>(kVersion)), identity);
}

Result<Hash128> decode_identity(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kVersion)
    return Error{Code::kFailedPrecondition,
                 "the identity of a shard has a version that this program does not read"};
  Hash128 identity{.low = in.read<std::uint64_t>()};
  identity.high = in.read<std::uint64_t>();
  if (!in.ok() || !in.rest().empty())
    return Error{Code::kDataLoss, "the identity of a shard is damaged"};
  return identity;
}

Result<std::unique_ptr<Directory>> Directory::open(const std::filesystem::path& folder,
                                                   const index::TruthOptions& options) {
  KIN_TRY(auto store, kv::KeyValueStore::open(folder, {.mode = options.mode,
                                                       .block_cache_bytes = std::uint64_t{8} << 20,
                                                       .write_buffer_bytes = std::uint64_t{8} << 20,
                                                       .engine = options.engine,
                                                       .disk = options.disk}));
  return std::unique_ptr<Directory>(new Directory(std::move(store)));
}

Result<Places> Directory::read(std::span<const std::string> keys) const {
  KIN_TRY(const auto rows, store_->get_many(keys));
  Places places;
  places.partitions.reserve(keys.size());
  for (const auto& row : rows) {
    if (!row) {
      places.partitions.emplace_back();
      continue;
    }
    KIN_TRY(const index::PartitionId partition, decode_place(*row));
    places.partitions.emplace_back(partition);
  }
  return places;
}

Result<Places> Directory::claim(std::span<const Claim> claims) {
  std::vector<std::string> keys;
  keys.reserve(claims.size());
  for (const Claim& claim : claims) keys.push_back(place_key(claim.home, claim.id));
  const std::lock_guard lock(claiming_);
  KIN_TRY(Places places, read(keys));
  kv::Batch batch(*store_);
  std::map<std::string_view, index::PartitionId> added;  // an id may be claimed twice
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (places.partitions[i]) continue;
    const auto [place, is_new] = added.emplace(keys[i], claims[i].partition);
    if (is_new) batch.put(keys[i], encode_place(claims[i].partition));
    places.partitions[i] = place->second;
  }
  if (batch.size() > 0) KIN_RETURN_IF_ERROR(store_->write(batch));
  return places;
}

Result<Places> Directory::locate(std::span<const Locate> entities) const {
  std::vector<std::string> keys;
  keys.reserve(entities.size());
  for (const Locate& one : entities) keys.push_back(place_key(one.home, one.id));
  return read(keys);
}

Status Directory::store_blob(const Hash128& hash, std::string_view bytes) {
  if (hash128(bytes) != hash)
    return Error{Code::kInvalidArgument, "the bytes of a blob do not have the hash given"};
  kv::Batch batch(*store_);
  batch.put(blob_key(hash), bytes);
  return store_->write(batch);
}

Result<Hash128> Directory::keep_identity(const Hash128& identity) {
  KIN_TRY(const auto kept, store_->get(kIdentityKey));
  if (kept) return decode_identity(*kept);
  kv::Batch batch(*store_);
  batch.put(kIdentityKey, encode_identity(identity));
  KIN_RETURN_IF_ERROR(store_->write(batch));
  return identity;
}

Result<std::optional<std::string>> Directory::read_blob(const Hash128& hash) const {
  KIN_TRY(auto bytes, store_->get(blob_key(hash)));
  if (bytes && hash128(*bytes) != hash) return Error{Code::kDataLoss, "a stored blob is damaged"};
  return bytes;
}

}  // namespace kin::router
