// The tables of a node beside a shard: where entities are, and blobs by their hash.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "index/shard.h"
#include "kv/key_value_store.h"
#include "router/node/move_row.h"
#include "router/node/repartition_row.h"
#include "router/requests.h"

namespace kin::router {

// The key and the value of a place (docs/formats.md, "A node: the directory"). Keys begin with the
// home partition, so that a partition takes its entries along.
std::string place_key(index::PartitionId home, const DocId& id);
struct PlaceRow {
  index::PartitionId partition{};
  std::uint64_t since = 0;  // see PlaceRequest
  friend bool operator==(const PlaceRow&, const PlaceRow&) = default;
};
std::string encode_place(const PlaceRow& place);
// kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
Result<PlaceRow> decode_place(std::string_view bytes);

// ShardMap::divided as it is stored; the same errors.
std::string encode_divided(std::uint64_t epoch);
Result<std::uint64_t> decode_divided(std::string_view bytes);

// The identity of a shard as it is stored; the same errors.
std::string encode_identity(const Hash128& identity);
Result<Hash128> decode_identity(std::string_view bytes);

// Its folder in the folder of its shard.
inline constexpr const char* kDirectoryFolder = "directory";

// Its row of the shard's identity.
inline constexpr std::string_view kIdentityKey = "identity";

// How the store of a directory is opened. Engine, disk, mode and observer of the options are used.
kv::StoreOptions directory_store_options(const index::TruthOptions& options);

// Thread-safe.
class Directory {
 public:
  static Result<std::unique_ptr<Directory>> open(const std::filesystem::path& folder,
                                                 const index::TruthOptions& options);

  Result<Places> claim(std::span<const Claim> claims);
  Result<Places> locate(std::span<const Locate> entities) const;
  // Writes places over older ones, and where there is none; see PlaceRequest.
  Status place(const PlaceRequest& request);

  // Keeps the epoch, after all places that were written before. A lower one is ignored.
  Status keep_divided(std::uint64_t epoch);
  // 0 if none is kept.
  Result<std::uint64_t> divided() const;

  // The shard's part in the newest repartition.
  Status keep_repartition(const RepartitionRow& row);
  Result<std::optional<RepartitionRow>> repartition() const;

  // kInvalidArgument if `hash` is not that of the bytes.
  Status store_blob(const Hash128& hash, std::string_view bytes);
  // kDataLoss if the stored bytes do not have the hash any more.
  Result<std::optional<std::string>> read_blob(const Hash128& hash) const;

  // The entries of entities that are at home in a partition, when it moves.
  Result<PlacePage> export_places(const PlacesRequest& request) const;
  // Over what export_places() gives.
  Result<Hash128> digest_places(index::PartitionId home) const;
  // The same, kept up to date from now on, so that the next call reads nothing.
  Result<Hash128> keep_digest(index::PartitionId home);
  // Begins to note the entries that are added to a partition, unless it does so already. `journal`
  // is a number that no other process gives.
  PlacesMark keep_added(index::PartitionId home, std::uint64_t journal);
  // Entries that were added since the mark, and the mark after them. Nothing if they were not
  // noted.
  std::optional<PlacePage> added_since(index::PartitionId home, const PlacesMark& mark,
                                       std::size_t limit) const;
  // Ends both.
  void drop_kept(index::PartitionId home);
  Status forget_places(index::PartitionId home);

  // Adds entries, and then records the part in a move, as one change.
  Status keep_move(index::PartitionId partition, const MoveRow& row,
                   std::span<const Placed> places = {});
  Result<std::map<index::PartitionId, MoveRow>> moves() const;

  // The identity of the shard: the one that was given first, which is durable on return.
  Result<Hash128> keep_identity(const Hash128& identity);

  // A copy: applies batches of the owner's directory and stores `position` with them, all or none
  // (kv/shipped_batch.h). Nothing else may write to a copy.
  Status apply_shipped(std::span<const std::string_view> batches, std::string_view position);
  // The position of the last batches; nothing if it is no copy.
  Result<std::optional<std::string>> shipped_position() const;
  // Nothing if it has none yet.
  Result<std::optional<Hash128>> identity() const;
  // Writes a copy of the rows to an empty folder, from which a directory can be opened.
  Status copy_rows(const std::filesystem::path& folder) { return store_->checkpoint(folder); }

  Status close() { return store_->close(); }

 private:
  explicit Directory(std::unique_ptr<kv::KeyValueStore> store) : store_(std::move(store)) {}
  // In the order of the keys.
  using PlaceRows = std::vector<std::optional<PlaceRow>>;
  Result<PlaceRows> read(std::span<const std::string> keys) const;
  // With `claiming_` held. Adds the entries that are newer than what is there to the batch, writes
  // it, and notes them.
  Status write_places(kv::Batch& batch, index::PartitionId home,
                      const std::map<DocId, PlaceRow>& places);
  // With `claiming_` held. An entry was written; `before` is what was there.
  void note(index::PartitionId home, const Placed& placed, const std::optional<PlaceRow>& before);

  // Of a partition that moves.
  struct Digest {
    Hash128 sum = {};       // of what was written since the scan began, until that is complete
    bool complete = false;  // `sum` is that of all entries
    std::uint64_t scan = 0;
  };
  struct Journal {
    std::uint64_t name = 0;
    std::vector<Placed> added = {};
  };

  std::unique_ptr<kv::KeyValueStore> store_;
  mutable std::mutex claiming_;  // held while entries are written; guards what follows
  std::map<index::PartitionId, Digest> digests_;
  std::map<index::PartitionId, Journal> journals_;
  std::uint64_t scans_ = 0;
};

}  // namespace kin::router
