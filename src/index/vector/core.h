// What a vector index's searches and changes share.
#pragma once

#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "index/vector/code.h"
#include "index/vector/kmeans.h"
#include "index/vector/pending.h"
#include "index/vector/places.h"
#include "index/vector/posting.h"
#include "index/vector/rotation.h"
#include "index/vector_index.h"

namespace kin::index::internal {

// Where the neighbours of the index's own vectors are, for each percent of recall. Empty, or of
// kCurvePoints each.
struct RecallCurve {
  std::vector<float> share;  // of all partitions, in their order, that hold as many
  std::vector<float> reach;  // of the partitions that hold as many, see reach_needed()
};
constexpr std::size_t kCurvePoints = 101;

// The cosine between a partition's residuals (of mean square `spread`) and the way from its
// centroid to the query at which a vector of the partition is as near as `limit`: what is unlikely
// to be in the partition has a high one. For products the query's length, otherwise its distance.
inline float reach_needed(const PartitionView& view, float spread, float limit, float query_length,
                          bool products) {
  const float radius = std::sqrt(spread) + 1e-20F;
  if (products) return (view.add - limit) / (query_length * radius + 1e-20F);
  return (view.add + spread - limit) / (2 * view.distance * radius + 1e-20F);
}

// Everything a search reads. Immutable, but for the marks of deleted vectors and the log's end.
struct Snapshot {
  std::shared_ptr<const Centres> centres;  // of the postings, rotated; nothing before training
  std::vector<std::shared_ptr<Posting>> postings;
  PendingView pending;
  RecallCurve curve;
};

// Thread-safe.
struct VectorCore {
  explicit VectorCore(const VectorIndexOptions& given)
      : options(given),
        rotation(given.space.dimension, given.space.seed),
        encoder(given.space),
        now(std::make_shared<Snapshot>()) {}

  std::shared_ptr<const Snapshot> snapshot() const {
    const std::lock_guard lock(pointer);
    return now;
  }
  // The lock is held for the exchange of a pointer and no longer.
  void publish(std::shared_ptr<const Snapshot> next) {
    const std::lock_guard lock(pointer);
    now.swap(next);
  }
  // Prepared, rotated and padded.
  Result<std::vector<float>> rotated(std::span<const float> vector) const;
  // The rotated vector of a posting's slot, wherever it is kept; false if it is gone. `raw`: asked
  // instead of the index's own.
  Result<bool> read(const Posting& posting, std::uint32_t slot, std::vector<float>& out,
                    const RawVectors* raw = nullptr) const;

  const VectorIndexOptions options;
  const Rotation rotation;
  const Encoder encoder;
  PlaceTable places;

 private:
  mutable std::mutex pointer;
  std::shared_ptr<const Snapshot> now;
};

Result<std::vector<VectorHit>> search(const VectorCore& core, std::span<const float> query,
                                      const VectorSearch& how);

}  // namespace kin::index::internal
