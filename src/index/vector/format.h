// A vector index as bytes: a head, and one piece for each partition. See docs/formats.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/vector/core.h"

namespace kin::index::internal {

// A rotated vector, padded, that has no partition.
struct Item {
  std::uint32_t id;
  std::vector<float> rotated;
};

struct VectorCheckpointHead {
  VectorSpace space;
  std::uint64_t lsn = 0;
  std::uint64_t trained = 0;  // vectors there were at the last training
  RecallCurve curve;
  std::vector<std::uint64_t> sums;  // of each partition's bytes
  std::vector<Item> pending;
};

std::string encode_head(const VectorCheckpointHead& head);
Result<VectorCheckpointHead> decode_head(std::string_view bytes);

struct VectorPartition {
  std::vector<float> centre;
  std::shared_ptr<Posting> posting;
};

std::string encode_partition(std::uint32_t number, std::span<const float> centre,
                             const Posting& posting);
Result<VectorPartition> decode_partition(const VectorSpace& space, float error_ratio,
                                         std::uint32_t number, std::string_view bytes);

}  // namespace kin::index::internal
