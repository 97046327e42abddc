// A vector index as bytes: a head, and one piece for each cell. See docs/formats.md.
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

// A rotated vector, padded, that has no cell.
struct Item {
  std::uint32_t id;
  std::vector<float> rotated;
};

struct VectorCheckpointHead {
  VectorSpace space;
  std::uint64_t lsn = 0;
  std::uint64_t trained = 0;  // vectors there were at the last training
  RecallCurve curve;
  std::vector<std::uint64_t> sums;  // of each cell's bytes
  std::vector<Item> pending;
};

std::string encode_head(const VectorCheckpointHead& head);
Result<VectorCheckpointHead> decode_head(std::string_view bytes);

struct VectorCell {
  std::vector<float> centre;
  std::shared_ptr<Posting> posting;
};

std::string encode_cell(std::uint32_t number, std::span<const float> centre,
                        const Posting& posting);
Result<VectorCell> decode_cell(const VectorSpace& space, float error_ratio, std::uint32_t number,
                               std::string_view bytes);

}  // namespace kin::index::internal
