// Where a shard keeps what its indexes hold, between one opening and the next.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/shard/checkpoint.h"
#include "index/text_index.h"
#include "index/truth/truth.h"
#include "kv/key_value_store.h"

namespace kin::index {

// Pieces that one index adds to a checkpoint: partitions of a space, pages of signatures.
struct CheckpointPieces {
  std::string owner = {};
  std::vector<std::pair<std::uint32_t, std::string>> pieces = {};
};

// A checkpoint that is about to be written.
struct CheckpointWrite {
  ShardCheckpoint record = {};
  TextCheckpoint text = {};
  std::vector<std::pair<std::string, std::string>> heads = {};  // of the spaces, by name
  std::vector<CheckpointPieces> pieces = {};  // of this sequence; those of others are there
};

// The owner of the pieces of a space, and of signatures.
std::string pieces_of_space(std::string_view name);
inline constexpr std::string_view kSignaturePieces = "signatures";

// One checkpoint at a time is there: a new one is the last batch of its writing, before which
// nothing of the old one is touched. Everything in it can be made again from the truth: a store
// that is damaged is made anew. Thread-compatible.
class ShardStore {
 public:
  // With the engine, disk and log_bytes of the shard's truth.
  static Result<ShardStore> open(const std::filesystem::path& folder, const TruthOptions& truth);

  // Nothing if there is none, or none that can be read.
  const std::optional<ShardCheckpoint>& checkpoint() const { return checkpoint_; }
  // kDataLoss for what is missing.
  Result<std::string> text_manifest() const;
  Result<std::string> text_part(std::uint64_t id) const;
  Result<std::string> head(std::string_view space) const;
  Result<std::string> piece(std::uint64_t sequence, std::string_view owner,
                            std::uint32_t number) const;

  // The sequence that the next checkpoint has to have.
  std::uint64_t next_sequence() const { return checkpoint_ ? checkpoint_->sequence + 1 : 1; }
  Status write(const CheckpointWrite& write);

  kv::StoreUsage usage() const { return store_->usage(); }
  Status close() { return store_->close(); }

 private:
  explicit ShardStore(std::unique_ptr<kv::KeyValueStore> store) : store_(std::move(store)) {}
  Status read_checkpoint();
  Status forget_unfinished();
  using Parts = std::map<std::uint64_t, std::uint64_t>;  // ids, and the checksums of the segments
  Status write_text(const TextCheckpoint& text, Parts& parts);
  void remove_superseded(const CheckpointWrite& write, const Parts& parts, kv::Batch& batch) const;

  std::unique_ptr<kv::KeyValueStore> store_;
  std::optional<ShardCheckpoint> checkpoint_;
  Parts parts_;  // of the text, that are stored
};

}  // namespace kin::index
