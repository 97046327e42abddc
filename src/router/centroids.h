// The centroids of an index: where its vectors are placed, and which partitions a search can skip.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "index/entity.h"
#include "index/shard.h"

namespace kin::router {

struct TrainOptions {
  std::size_t partitions = 64;
  std::uint64_t seed = 1;
  // Shards that the partitions are spread over by spread_partitions(). Neighbouring centroids get
  // numbers of one shard, and near() is measured by shards: over more of them a search would miss
  // more. 0: every partition may be on a shard of its own.
  std::size_t shards = 0;
};

// Partition i holds the vectors that are nearest to centroid i. Trained once on a sample, stored
// under the hash of its bytes and never derived again, so that all routers place alike.
// Immutable; thread-safe.
class Centroids {
 public:
  // kInvalidArgument if a vector of the sample does not fit the space, or there is none.
  static Result<Centroids> train(const index::SpaceOptions& space,
                                 std::span<const std::vector<float>> sample,
                                 const TrainOptions& options);

  // The bytes of docs/formats.md, "A router: centroids".
  std::string encode() const;
  // kDataLoss for bytes that no encoder wrote, kFailedPrecondition for an unknown version.
  static Result<Centroids> decode(std::string_view bytes);

  std::size_t size() const { return values_.size() / dimension_; }
  const std::string& space() const { return space_; }  // its name

  // kInvalidArgument for a vector that does not fit the space.
  Result<index::PartitionId> nearest(std::span<const float> vector) const;

  // The partitions where a search for `recall` expects its ten nearest vectors: those whose
  // centroid is not much farther than the nearest one. How much was measured on the sample; an
  // index that has more vectors than the sample needs less. All partitions for a recall of 1, and
  // for a space of products, which are no distances.
  Result<std::vector<index::PartitionId>> near(std::span<const float> vector, double recall) const;

 private:
  Centroids() = default;
  index::VectorSpace shape() const;
  std::span<const float> row(std::size_t i) const;
  std::vector<double> distances(std::span<const float> prepared) const;
  void measure(std::span<const std::vector<float>> sample, std::size_t shards);

  std::string space_;
  index::Distance distance_ = index::Distance::kCosine;
  std::uint32_t dimension_ = 0;
  std::vector<float> values_;  // row by row
  // For each of kRecalls: how many times as far as the nearest centroid another may be.
  std::vector<float> ratios_;
};

}  // namespace kin::router
