#include "index/shard/store.h"

#include <fmt/format.h>

#include <set>

#include "index/text/manifest.h"
#include "index/truth/entity_bytes.h"

namespace kin::index {
namespace {

namespace fs = std::filesystem;

constexpr kv::Family kPartsFamily{1};
constexpr kv::Family kPiecesFamily{2};
constexpr std::string_view kCheckpointKey = "checkpoint";
constexpr std::string_view kManifestKey = "text";
// Size of a batch of pieces.
constexpr std::size_t kBatchBytes = std::size_t{8} << 20;
// Pieces are flushed before the record that names them is written.
constexpr kv::WriteOptions kPieceWrite{.sync = false, .log = false};

kv::StoreOptions store_options(const TruthOptions& truth) {
  kv::StoreOptions options{.families = {"parts", "pieces"},
                           .bloom_bits = 0,
                           .block_cache_bytes = std::uint64_t{1} << 20,
                           .write_buffer_bytes = std::uint64_t{16} << 20,
                           .log_bytes = truth.log_bytes,
                           .engine = truth.engine,
                           .disk = truth.disk,
                           .clock = truth.clock};
  // Segments and cells are large and written once, so merging must not copy them.
  options.tuning["parts"] = {.apart_from_bytes = 4096};
  options.tuning["pieces"] = {.apart_from_bytes = 4096};
  return options;
}

std::string part_key(std::uint64_t id) {
  return be_bytes(id);
}

// All pieces of one checkpoint are next to each other.
std::string piece_key(std::uint64_t sequence, std::string_view owner, std::uint32_t number) {
  return be_bytes(sequence).append(owner) + be_bytes(number);
}

std::string head_key(std::string_view space) {
  return fmt::format("head {}", space);
}

// The keys of all pieces of a checkpoint.
std::set<std::string> pieces_in(const ShardCheckpoint& checkpoint) {
  std::set<std::string> keys;
  const auto add = [&](std::string_view owner, const std::vector<std::uint64_t>& sequences) {
    for (std::uint32_t i = 0; i < sequences.size(); ++i)
      keys.insert(piece_key(sequences[i], owner, i));
  };
  for (const SpaceRecord& space : checkpoint.spaces)
    add(pieces_of_space(space.name), space.sequences);
  if (checkpoint.near_duplicates) add(kSignaturePieces, checkpoint.near_duplicates->sequences);
  return keys;
}

Result<std::string> there(Result<std::optional<std::string>> found) {
  if (!found.ok()) return found.error();
  if (!*found) return Error{Code::kDataLoss, "a piece of the shard's checkpoint is missing"};
  return std::move(**found);
}

// Whether an empty store would fix the error. It would not if the disk is full or the store is open
// elsewhere.
bool is_damage(const Error& error) {
  return error.code == Code::kDataLoss || error.code == Code::kNotFound ||
         error.code == Code::kUnavailable || error.code == Code::kInvalidArgument;
}

Result<std::unique_ptr<kv::KeyValueStore>> renew(const fs::path& folder, kv::StoreOptions options) {
  options.mode = kv::StoreOptions::Mode::kFresh;
  return kv::KeyValueStore::open(folder, options);
}

Result<std::unique_ptr<kv::KeyValueStore>> open_or_renew(const fs::path& folder,
                                                         const kv::StoreOptions& options) {
  auto store = kv::KeyValueStore::open(folder, options);
  if (store.ok() || !is_damage(store.error())) return store;
  return renew(folder, options);
}

}  // namespace

std::string pieces_of_space(std::string_view name) {
  return fmt::format("space {}", name);
}

Result<ShardStore> ShardStore::open(const fs::path& folder, const TruthOptions& truth) {
  const kv::StoreOptions options = store_options(truth);
  ShardStore store(folder, truth);
  KIN_TRY(store.store_, open_or_renew(folder, options));
  // A checkpoint that cannot be read is worth nothing: the indexes are rebuilt.
  if (!store.read_checkpoint().ok()) {
    KIN_RETURN_IF_ERROR(store.store_->close());
    KIN_TRY(store.store_, renew(folder, options));
    store.checkpoint_.reset();
    store.parts_.clear();
  }
  KIN_RETURN_IF_ERROR(store.forget_unfinished());
  return store;
}

Status ShardStore::read_checkpoint() {
  KIN_TRY(const auto row, store_->get(kCheckpointKey));
  if (!row) return Done{};
  KIN_TRY(const std::string bytes, text_manifest());
  KIN_TRY(const TextManifest manifest, decode_manifest(bytes));
  for (const ManifestPart& part : manifest.parts) parts_[part.id] = part.checksum;
  KIN_TRY(checkpoint_, decode_shard_checkpoint(*row));
  return Done{};
}

// Removes the leftovers of an unfinished checkpoint.
Status ShardStore::forget_unfinished() {
  // Nine bytes of 0xff sort after every key: eight bytes of a number, and then a name. Without a
  // sync: if a crash undoes it, the next opening removes them again.
  kv::Batch batch(*store_);
  batch.remove_range(piece_key(next_sequence(), "", 0), std::string(9, '\xff'), kPiecesFamily);
  const std::uint64_t after = parts_.empty() ? 0 : parts_.rbegin()->first + 1;
  batch.remove_range(part_key(after), std::string(9, '\xff'), kPartsFamily);
  return store_->write(batch, {.sync = false});
}

Result<std::string> ShardStore::text_manifest() const {
  return there(store_->get(kManifestKey));
}

Result<std::string> ShardStore::text_part(std::uint64_t id) const {
  return there(store_->get(part_key(id), kPartsFamily));
}

Result<std::string> ShardStore::head(std::string_view space) const {
  return there(store_->get(head_key(space)));
}

Result<std::string> ShardStore::piece(std::uint64_t sequence, std::string_view owner,
                                      std::uint32_t number) const {
  return there(store_->get(piece_key(sequence, owner, number), kPiecesFamily));
}

// A rebuilt text index gives its parts ids that were used before.
Status ShardStore::write_text(const TextCheckpoint& text, Parts& parts) {
  for (const CheckpointPart& part : text.parts) {
    const std::uint64_t sum = part.segment->checksum();
    parts[part.id] = sum;
    const auto stored = parts_.find(part.id);
    if (stored != parts_.end() && stored->second == sum) continue;
    kv::Batch batch(*store_);
    batch.put(part_key(part.id), part.segment->bytes(), kPartsFamily);
    KIN_RETURN_IF_ERROR(store_->write(batch, kPieceWrite));
  }
  return Done{};
}

void ShardStore::remove_superseded(const CheckpointWrite& write, const Parts& parts,
                                   kv::Batch& batch) const {
  for (const auto& [part, sum] : parts_)
    if (!parts.contains(part)) batch.remove(part_key(part), kPartsFamily);
  if (!checkpoint_) return;
  const std::set<std::string> pieces = pieces_in(write.record);
  for (const std::string& key : pieces_in(*checkpoint_))
    if (!pieces.contains(key)) batch.remove(key, kPiecesFamily);
  // Before the new heads are put: in a batch the last change to a key wins.
  for (const SpaceRecord& space : checkpoint_->spaces) batch.remove(head_key(space.name));
}

Status ShardStore::recover() {
  if (!failed_) return Done{};
  store_.reset();  // releases the lock of the folder
  KIN_TRY(*this, open(folder_, truth_));
  return Done{};
}

Status ShardStore::write(const CheckpointWrite& write) {
  Status written = write_all(write);
  failed_ = !written.ok();
  return written;
}

Status ShardStore::write_all(const CheckpointWrite& write) {
  KIN_CHECK(write.record.sequence == next_sequence(), "checkpoints come one after another");
  Parts parts;
  KIN_RETURN_IF_ERROR(write_text(write.text, parts));
  kv::Batch batch(*store_);
  for (const CheckpointPieces& of : write.pieces) {
    for (const auto& [number, bytes] : of.pieces) {
      batch.put(piece_key(write.record.sequence, of.owner, number), bytes, kPiecesFamily);
      if (batch.bytes() < kBatchBytes) continue;
      KIN_RETURN_IF_ERROR(store_->write(batch, kPieceWrite));
      batch.clear();
    }
  }
  KIN_RETURN_IF_ERROR(store_->write(batch, kPieceWrite));
  batch.clear();
  // All pieces are on the device before the record that names them.
  KIN_RETURN_IF_ERROR(store_->flush());
  // One batch replaces the old checkpoint by the new one.
  remove_superseded(write, parts, batch);
  for (const auto& [space, head] : write.heads) batch.put(head_key(space), head);
  batch.put(kManifestKey, write.text.manifest);
  batch.put(kCheckpointKey, encode(write.record));
  KIN_RETURN_IF_ERROR(store_->write(batch));
  checkpoint_ = write.record;
  parts_ = std::move(parts);
  return Done{};
}

}  // namespace kin::index
