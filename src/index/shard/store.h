// Stores the checkpoints of a shard's indexes.
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

// Pieces that one index adds to a checkpoint: cells of a space, pages of signatures.
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

// Holds one checkpoint. Writing the next one ends with a batch that replaces it; until then the old
// one is untouched. Everything in it can be rebuilt from the truth, so a damaged store is replaced
// by an empty one. Thread-compatible.
class ShardStore {
 public:
  // With the engine, disk and log_bytes of the shard's truth.
  static Result<ShardStore> open(const std::filesystem::path& folder, const TruthOptions& truth);

  // Nothing if there is no readable checkpoint.
  const std::optional<ShardCheckpoint>& checkpoint() const { return checkpoint_; }
  // kDataLoss if a part is missing.
  Result<std::string> text_manifest() const;
  Result<std::string> text_part(std::uint64_t id) const;
  Result<std::string> head(std::string_view space) const;
  Result<std::string> piece(std::uint64_t sequence, std::string_view owner,
                            std::uint32_t number) const;

  // Opens the store again if a write to it has failed: it would refuse every other. Before
  // next_sequence(), because what failed may be there after all.
  Status recover();
  // The sequence number that the next checkpoint must have.
  std::uint64_t next_sequence() const { return checkpoint_ ? checkpoint_->sequence + 1 : 1; }
  Status write(const CheckpointWrite& write);

  Status close() { return store_->close(); }

 private:
  ShardStore(std::filesystem::path folder, const TruthOptions& truth)
      : folder_(std::move(folder)), truth_(truth) {}
  Status read_checkpoint();
  Status forget_unfinished();
  using Parts = std::map<std::uint64_t, std::uint64_t>;  // ids and checksums of text segments
  Status write_text(const TextCheckpoint& text, Parts& parts);
  void remove_superseded(const CheckpointWrite& write, const Parts& parts, kv::Batch& batch) const;

  Status write_all(const CheckpointWrite& write);

  std::filesystem::path folder_;
  TruthOptions truth_;  // for its engine and disk
  bool failed_ = false;
  std::unique_ptr<kv::KeyValueStore> store_;  // nullptr only if recover() failed
  std::optional<ShardCheckpoint> checkpoint_;
  Parts parts_;  // stored text segments
};

}  // namespace kin::index
