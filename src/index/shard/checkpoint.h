// The record of a checkpoint, as one row (docs/formats.md, "An index shard: checkpoints").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/entity.h"

namespace kin::index {

// The pieces of the store that hold the vectors of one space.
struct SpaceRecord {
  std::string name = {};
  std::uint64_t options_hash = 0;
  // Ascending numbers of removed documents whose vectors are still in the pieces.
  std::vector<std::uint32_t> retired = {};
  // The checkpoint that last wrote each cell.
  std::vector<std::uint64_t> sequences = {};
  friend bool operator==(const SpaceRecord&, const SpaceRecord&) = default;
};

struct NearDuplicateRecord {
  std::uint64_t options_hash = 0;
  std::vector<std::uint64_t> sequences = {};  // of the checkpoint that wrote each page last
  friend bool operator==(const NearDuplicateRecord&, const NearDuplicateRecord&) = default;
};

struct ShardCheckpoint {
  Lsn applied = 0;             // all indexes hold every change up to this one
  std::uint64_t sequence = 0;  // number of the checkpoint, from 1
  std::vector<SpaceRecord> spaces = {};
  std::optional<NearDuplicateRecord> near_duplicates = {};
  friend bool operator==(const ShardCheckpoint&, const ShardCheckpoint&) = default;
};

// Thread-safe, like decode_shard_checkpoint().
std::string encode(const ShardCheckpoint& checkpoint);
// kDataLoss for bytes that no encoder wrote.
Result<ShardCheckpoint> decode_shard_checkpoint(std::string_view bytes);

}  // namespace kin::index
