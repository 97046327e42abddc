#include "router/node/directory.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "kv/shipped_batch.h"

namespace kin::router {
namespace {

constexpr std::string_view kPlacePrefix = "place/";
constexpr std::string_view kBlobPrefix = "blob/";
constexpr std::string_view kMovePrefix = "move/";
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kPlacedAgain = 2;  // of places that a repartition wrote
constexpr std::string_view kRepartitionKey = "repartition";
constexpr std::string_view kDividedKey = "divided";
constexpr std::size_t kMostNoted = 1'000'000;  // entries of one journal

std::string with_hash(std::string_view before, const Hash128& hash) {
  std::string bytes(before);
  append_le(bytes, hash.low);
  append_le(bytes, hash.high);
  return bytes;
}

std::string with_partition(std::string_view before, index::PartitionId partition) {
  std::string key(before);
  for (int shift = 24; shift >= 0; shift -= 8)
    key += static_cast<char>(static_cast<std::uint32_t>(partition) >> shift);
  return key;
}

Result<Placed> decode_placed(std::string_view key, std::string_view value) {
  const std::string_view id = key.substr(std::min(key.size(), kPlacePrefix.size() + 4));
  Placed placed;
  if (id.size() != placed.id.bytes.size())
    return Error{Code::kDataLoss, "a key of the directory is damaged"};
  std::ranges::copy(id, placed.id.bytes.begin());
  KIN_TRY(const PlaceRow row, decode_place(value));
  placed.partition = row.partition;
  placed.since = row.since;
  return placed;
}

Hash128 hash_of(std::string_view key, std::string_view value) {
  return hash128(std::string(key).append(value));
}

void add(Hash128& sum, const Hash128& hash) {
  sum.low += hash.low;
  sum.high += hash.high;
}

void take_out(Hash128& sum, const Hash128& hash) {
  sum.low -= hash.low;
  sum.high -= hash.high;
}

Result<Hash128> sum_of(kv::Cursor at) {
  Hash128 sum{};
  for (; at.valid(); at.next()) add(sum, hash_of(at.key(), at.value()));
  KIN_RETURN_IF_ERROR(at.status());
  return sum;
}

std::string blob_key(const Hash128& hash) {
  return with_hash(kBlobPrefix, hash);
}

}  // namespace

std::string place_key(index::PartitionId home, const DocId& id) {
  return with_partition(kPlacePrefix, home).append(id.view());
}

std::string encode_place(const PlaceRow& place) {
  std::string out(1, static_cast<char>(place.since == 0 ? kVersion : kPlacedAgain));
  append_le(out, static_cast<std::uint32_t>(place.partition));
  if (place.since != 0) append_le(out, place.since);
  return out;
}

Result<PlaceRow> decode_place(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kVersion && version != kPlacedAgain)
    return Error{Code::kFailedPrecondition,
                 "a place in the directory has a version that this program does not read"};
  PlaceRow place{.partition = index::PartitionId{in.read<std::uint32_t>()}};
  if (version == kPlacedAgain) place.since = in.read<std::uint64_t>();
  if (!in.ok() || !in.rest().empty() || (version == kPlacedAgain && place.since == 0))
    return Error{Code::kDataLoss, "a place in the directory is damaged"};
  return place;
}

std::string encode_divided(std::uint64_t epoch) {
  std::string out(1, static_cast<char>(kVersion));
  append_le(out, epoch);
  return out;
}

Result<std::uint64_t> decode_divided(std::string_view bytes) {
  ByteReader in(bytes);
  const auto version = in.read<std::uint8_t>();
  if (in.ok() && version != kVersion)
    return Error{Code::kFailedPrecondition,
                 "the age of a directory has a version that this program does not read"};
  const auto epoch = in.read<std::uint64_t>();
  if (!in.ok() || !in.rest().empty())
    return Error{Code::kDataLoss, "the age of a directory is damaged"};
  return epoch;
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

kv::StoreOptions directory_store_options(const index::TruthOptions& options) {
  return {.mode = options.mode,
          .block_cache_bytes = std::uint64_t{8} << 20,
          .write_buffer_bytes = std::uint64_t{8} << 20,
          .engine = options.engine,
          .disk = options.disk,
          .observer = options.observer};
}

Result<std::unique_ptr<Directory>> Directory::open(const std::filesystem::path& folder,
                                                   const index::TruthOptions& options) {
  KIN_TRY(auto store, kv::KeyValueStore::open(folder, directory_store_options(options)));
  return std::unique_ptr<Directory>(new Directory(std::move(store)));
}

Result<Directory::PlaceRows> Directory::read(std::span<const std::string> keys) const {
  KIN_TRY(const auto rows, store_->get_many(keys));
  PlaceRows places;
  places.reserve(keys.size());
  for (const auto& row : rows) {
    auto& place = places.emplace_back();
    if (!row) continue;
    KIN_TRY(place, decode_place(*row));
  }
  return places;
}

Result<Places> Directory::claim(std::span<const Claim> claims) {
  std::vector<std::string> keys;
  keys.reserve(claims.size());
  for (const Claim& claim : claims) keys.push_back(place_key(claim.home, claim.id));
  const std::lock_guard lock(claiming_);
  KIN_TRY(const PlaceRows before, read(keys));
  Places places;
  kv::Batch batch(*store_);
  std::map<std::string_view, index::PartitionId> added;  // an id may be claimed twice
  for (std::size_t i = 0; i < claims.size(); ++i) {
    auto& place = places.partitions.emplace_back();
    if (before[i]) {
      place = before[i]->partition;
      continue;
    }
    const auto [known, is_new] = added.emplace(keys[i], claims[i].partition);
    if (is_new) batch.put(keys[i], encode_place({.partition = claims[i].partition}));
    place = known->second;
  }
  if (batch.size() == 0) return places;
  KIN_RETURN_IF_ERROR(store_->write(batch));
  if (digests_.empty() && journals_.empty()) return places;
  for (const Claim& claim : claims) {
    const auto place = added.extract(place_key(claim.home, claim.id));
    if (place) note(claim.home, {.id = claim.id, .partition = place.mapped()}, {});
  }
  return places;
}

Status Directory::place(const PlaceRequest& request) {
  std::map<index::PartitionId, std::map<DocId, PlaceRow>> by_home;
  for (const Claim& claim : request.claims)
    by_home[claim.home][claim.id] = {.partition = claim.partition, .since = request.since};
  const std::lock_guard lock(claiming_);
  for (const auto& [home, places] : by_home) {
    kv::Batch batch(*store_);
    KIN_RETURN_IF_ERROR(write_places(batch, home, places));
  }
  return Done{};
}

Status Directory::write_places(kv::Batch& batch, index::PartitionId home,
                               const std::map<DocId, PlaceRow>& places) {
  std::vector<std::string> keys;
  for (const auto& [id, place] : places) keys.push_back(place_key(home, id));
  KIN_TRY(const PlaceRows before, read(keys));
  std::vector<std::pair<Placed, std::optional<PlaceRow>>> written;
  std::size_t i = 0;
  for (const auto& [id, place] : places) {
    const auto& old = before[i];
    const std::string& key = keys[i++];
    // One that says the same is written, too, so that older ones that come late say nothing.
    if (old && old->since >= place.since) continue;
    batch.put(key, encode_place(place));
    written.push_back({{.id = id, .partition = place.partition, .since = place.since}, old});
  }
  if (batch.size() == 0) return Done{};
  KIN_RETURN_IF_ERROR(store_->write(batch));
  for (const auto& [placed, old] : written) note(home, placed, old);
  return Done{};
}

Status Directory::keep_divided(std::uint64_t epoch) {
  const std::lock_guard lock(claiming_);
  KIN_TRY(const std::uint64_t known, divided());
  if (known >= epoch) return Done{};
  kv::Batch batch(*store_);
  batch.put(kDividedKey, encode_divided(epoch));
  return store_->write(batch);
}

Result<std::uint64_t> Directory::divided() const {
  KIN_TRY(const auto kept, store_->get(kDividedKey));
  if (!kept) return std::uint64_t{0};
  return decode_divided(*kept);
}

Status Directory::keep_repartition(const RepartitionRow& row) {
  kv::Batch batch(*store_);
  batch.put(kRepartitionKey, encode(row));
  return store_->write(batch);
}

Result<std::optional<RepartitionRow>> Directory::repartition() const {
  KIN_TRY(const auto kept, store_->get(kRepartitionKey));
  if (!kept) return std::optional<RepartitionRow>();
  KIN_TRY(RepartitionRow row, decode_repartition_row(*kept));
  return std::optional(std::move(row));
}

void Directory::note(index::PartitionId home, const Placed& placed,
                     const std::optional<PlaceRow>& before) {
  const auto digest = digests_.find(home);
  if (digest != digests_.end()) {
    const std::string key = place_key(home, placed.id);
    if (before) take_out(digest->second.sum, hash_of(key, encode_place(*before)));
    add(digest->second.sum,
        hash_of(key, encode_place({.partition = placed.partition, .since = placed.since})));
  }
  const auto journal = journals_.find(home);
  if (journal == journals_.end()) return;
  journal->second.added.push_back(placed);
  // All are sent then.
  if (journal->second.added.size() > kMostNoted) journals_.erase(journal);
}

Result<Places> Directory::locate(std::span<const Locate> entities) const {
  std::vector<std::string> keys;
  keys.reserve(entities.size());
  for (const Locate& one : entities) keys.push_back(place_key(one.home, one.id));
  KIN_TRY(const PlaceRows rows, read(keys));
  Places places;
  for (const auto& row : rows) {
    auto& place = places.partitions.emplace_back();
    if (row) place = row->partition;
  }
  return places;
}

Result<PlacePage> Directory::export_places(const PlacesRequest& request) const {
  const index::PartitionId home = request.move.partition;
  if (request.limit == 0) return Error{Code::kInvalidArgument, "a page must have a limit above 0"};
  kv::Cursor at = store_->cursor(kv::keys_with(with_partition(kPlacePrefix, home)));
  if (request.after) at.seek(place_key(home, *request.after) + '\0');
  PlacePage page;
  for (; at.valid(); at.next()) {
    if (page.places.size() == request.limit) {
      page.next = page.places.back().id;
      break;
    }
    KIN_TRY(const Placed placed, decode_placed(at.key(), at.value()));
    page.places.push_back(placed);
  }
  KIN_RETURN_IF_ERROR(at.status());
  return page;
}

Result<Hash128> Directory::digest_places(index::PartitionId home) const {
  return sum_of(store_->cursor(kv::keys_with(with_partition(kPlacePrefix, home))));
}

Result<Hash128> Directory::keep_digest(index::PartitionId home) {
  std::unique_lock lock(claiming_);
  if (const auto known = digests_.find(home); known != digests_.end() && known->second.complete)
    return known->second.sum;
  const std::uint64_t scan = ++scans_;
  digests_[home] = {.scan = scan};
  // Entries that are written from now on are not seen by the cursor, and are noted.
  kv::Cursor at = store_->cursor(kv::keys_with(with_partition(kPlacePrefix, home)));
  lock.unlock();
  KIN_TRY(Hash128 sum, sum_of(std::move(at)));
  lock.lock();
  const auto digest = digests_.find(home);
  // Somebody else began a later one, or ended it.
  if (digest == digests_.end() || digest->second.scan != scan) return digest_places(home);
  add(digest->second.sum, sum);
  digest->second.complete = true;
  return digest->second.sum;
}

PlacesMark Directory::keep_added(index::PartitionId home, std::uint64_t journal) {
  const std::lock_guard lock(claiming_);
  Journal& kept = journals_[home];
  if (kept.name == 0) kept.name = journal;
  return {.journal = kept.name, .entries = kept.added.size()};
}

std::optional<PlacePage> Directory::added_since(index::PartitionId home, const PlacesMark& mark,
                                                std::size_t limit) const {
  const std::lock_guard lock(claiming_);
  const auto journal = journals_.find(home);
  if (journal == journals_.end() || journal->second.name != mark.journal ||
      journal->second.added.size() < mark.entries)
    return {};
  const std::span rest = std::span(journal->second.added).subspan(mark.entries);
  const std::span first = rest.first(std::min(limit, rest.size()));
  PlacePage page{.places = {first.begin(), first.end()}, .is_rest = true};
  if (first.size() < rest.size()) page.next = first.back().id;
  page.mark = {.journal = mark.journal, .entries = mark.entries + first.size()};
  return page;
}

void Directory::drop_kept(index::PartitionId home) {
  const std::lock_guard lock(claiming_);
  digests_.erase(home);
  journals_.erase(home);
}

Status Directory::forget_places(index::PartitionId home) {
  const kv::KeyRange range = kv::keys_with(with_partition(kPlacePrefix, home));
  kv::Batch batch(*store_);
  batch.remove_range(range.from, *range.to);  // which every key of places has
  const std::lock_guard lock(claiming_);
  digests_.erase(home);
  journals_.erase(home);
  return store_->write(batch);
}

Status Directory::keep_move(index::PartitionId partition, const MoveRow& row,
                            std::span<const Placed> places) {
  std::map<DocId, PlaceRow> newest;  // an entry may come twice
  for (const Placed& placed : places) {
    const auto [known, is_new] =
        newest.emplace(placed.id, PlaceRow{.partition = placed.partition, .since = placed.since});
    if (!is_new && known->second.since <= placed.since)
      known->second = {.partition = placed.partition, .since = placed.since};
  }
  kv::Batch batch(*store_);
  batch.put(with_partition(kMovePrefix, partition), encode(row));
  const std::lock_guard lock(claiming_);
  return write_places(batch, partition, newest);
}

Result<std::map<index::PartitionId, MoveRow>> Directory::moves() const {
  std::map<index::PartitionId, MoveRow> moves;
  const auto add = [&](std::string_view key, std::string_view value) -> Status {
    std::uint32_t partition = 0;
    for (const char byte : key.substr(kMovePrefix.size()))
      partition = partition << 8 | static_cast<std::uint8_t>(byte);
    KIN_TRY(moves[index::PartitionId{partition}], decode_move_row(value));
    return Done{};
  };
  KIN_RETURN_IF_ERROR(store_->for_each(kMovePrefix, add));
  return moves;
}

Status Directory::store_blob(const Hash128& hash, std::string_view bytes) {
  if (hash128(bytes) != hash)
    return Error{Code::kInvalidArgument, "the bytes of a blob do not have the hash given"};
  kv::Batch batch(*store_);
  batch.put(blob_key(hash), bytes);
  return store_->write(batch);
}

Status Directory::apply_shipped(std::span<const std::string_view> batches,
                                std::string_view position) {
  kv::Batch batch(*store_);
  for (const std::string_view bytes : batches)
    KIN_RETURN_IF_ERROR(kv::add_shipped(bytes, *store_, batch));
  batch.put(index::kShippedKey, position);
  const std::lock_guard lock(claiming_);
  digests_.clear();
  journals_.clear();
  return store_->write(batch);
}

Result<std::optional<std::string>> Directory::shipped_position() const {
  return store_->get(index::kShippedKey);
}

Result<std::optional<Hash128>> Directory::identity() const {
  KIN_TRY(const auto kept, store_->get(kIdentityKey));
  if (!kept) return std::optional<Hash128>();
  KIN_TRY(const Hash128 identity, decode_identity(*kept));
  return std::optional(identity);
}

Result<Hash128> Directory::keep_identity(const Hash128& identity) {
  KIN_TRY(const auto kept, this->identity());
  if (kept) return *kept;
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
