// The centroids of an index: where its vectors are placed, and which shards a search can pass over.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/result.h"
#include "index/entity.h"
#include "index/shard.h"
#include "router/placement/measure.h"
#include "router/placement/spots.h"
#include "router/shard_map.h"

namespace kin {
class ByteReader;
}

namespace kin::router {

struct TrainOptions {
  std::size_t partitions = 64;
  std::uint64_t seed = 1;
  // Shards of a new map, see spread_partitions() below. 0: every partition may be on its own.
  std::size_t shards = 0;
};

// What a search looks for.
struct NearSearch {
  std::span<const float> vector = {};
  double recall = 0.97;  // of its ten nearest vectors, as far as shards that are not asked cost it
  // The similarity of the last hit that was found so far (index::LegHit). A search whose hits are
  // farther than neighbours of the sample are from each other has more shards that can hold one.
  std::optional<double> last = {};
};

// The partitions of a repartition: how their vectors are divided afterwards.
struct NewCells {
  Partitions members = {};
  // Of members; others have no centroid afterwards. Members that are new have the next numbers.
  std::map<index::PartitionId, std::vector<float>> centres = {};  // as prepared() gives them
  std::map<index::PartitionId, std::uint64_t> sizes = {};         // vectors of a sample, by member
};

// Partition i holds the vectors that are nearest to centroid i. Trained on a sample, stored
// under the hash of its bytes and never derived again, so that all routers place alike. A partition
// without a centroid gets no vectors. Immutable; thread-safe.
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
  // The shard of each partition in a new map: neighbouring partitions are on one, and shards hold
  // about the same share of the sample. Empty if training was not told of shards.
  const std::vector<std::uint32_t>& groups() const { return groups_; }

  bool has_centroid(index::PartitionId partition) const;
  // Empty for a partition without a centroid.
  std::span<const float> centre_of(index::PartitionId partition) const;
  // A vector as centroids are compared with it. kInvalidArgument if it does not fit the space.
  Result<std::vector<float>> prepared(std::span<const float> vector) const;

  // kInvalidArgument for a vector that does not fit the space.
  Result<index::PartitionId> nearest(std::span<const float> vector) const;
  // Among these, of which one has a centroid.
  Result<index::PartitionId> nearest_of(std::span<const float> vector,
                                        const Partitions& among) const;

  // The centroids after a repartition; members share what they held of the sample. near() passes
  // over no shard by them until they are measured(): what it needs was measured with the placement
  // of before.
  // kInvalidArgument for cells that do not fit, and if no partition would have a centroid;
  // kFailedPrecondition for centroids of version 1.
  Result<Centroids> divided(const NewCells& cells) const;

  // The same, with what near() needs measured on a sample of the vectors that the index has now, in
  // random order, and where they are; some are kept out to measure with. So it may be that vectors
  // are not in the partition with the nearest centroid. With too few vectors, or of a space of
  // products, they stay as they are. kInvalidArgument for partitions that are not of these.
  Result<Centroids> measured(const PlacedVectors& sample, std::span<const PartitionOwner> owners,
                             std::uint64_t seed) const;

  // The shards to ask, by place in the map, the most promising first. A partition is expected to
  // hold a share of the nearest vectors that falls with the distance of its vectors; shards are
  // passed over that together hold too little. How the share falls, and how little is too little,
  // was measured on a sample. A larger index has nearer neighbours and loses less than asked for.
  // All shards for a vector that is not like those of the sample, for a recall of 1, and for a
  // space of products, which are no distances.
  Result<std::vector<std::uint32_t>> near(const NearSearch& search,
                                          std::span<const PartitionOwner> owners) const;

 private:
  Centroids() = default;
  index::VectorSpace shape() const;
  std::span<const float> row(std::size_t i) const;
  // Squared distances of all centroids.
  std::vector<double> distances(std::span<const float> prepared) const;
  std::vector<std::uint32_t> places_of(std::span<const std::vector<float>> vectors) const;
  // The sharpness for a search whose last hit has this similarity.
  double sharpness_at(std::optional<double> last) const;
  std::vector<std::uint32_t> by_ratio(const std::vector<double>& distances, double recall,
                                      std::span<const PartitionOwner> owners) const;
  // Takes the centres of partitions, numbered so that those of a group follow each other. `tied`:
  // places of vectors whose neighbours should be in their group.
  void arrange(std::span<const std::vector<float>> sample,
               const std::vector<std::vector<float>>& centres, std::span<const std::uint32_t> tied,
               std::size_t shards);
  // Those that the sample has vectors of. Others with a centroid have that as a spot.
  Spots spots_in(const PlacedVectors& sample, std::span<const std::uint32_t> places,
                 std::uint64_t seed) const;
  // Nothing if none of them has a centroid.
  template <typename Numbers>
  std::optional<std::uint32_t> nearest_place(const std::vector<double>& distances,
                                             const Numbers& among) const;
  void append_measured(std::string& out) const;
  // The parts of the versions. False if they are damaged.
  bool read_shares(ByteReader& in, std::size_t count, std::uint16_t version);
  bool read_spots(ByteReader& in, std::size_t spots);
  bool read_ratios(ByteReader& in, std::size_t count);

  std::string space_;
  index::Distance distance_ = index::Distance::kCosine;
  std::uint32_t dimension_ = 0;
  std::vector<float> values_;  // row by row
  std::vector<std::uint32_t> groups_;
  std::vector<float> weights_;  // shares of the sample; 0: the partition has no centroid
  Measure measured_;
  Spots spots_;  // none: the centroids, with weights_
  // Of version 1, instead of all since the centroids: how many times as far as the nearest centroid
  // another may be.
  std::vector<float> ratios_;
};

// A new map with the partitions of each shard as training chose them: for as many shards.
// Otherwise, shards get ranges of partitions.
ShardMap spread_partitions(std::string index, std::vector<std::string> shards,
                           const Centroids& centroids);

}  // namespace kin::router
