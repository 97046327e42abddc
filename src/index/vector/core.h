// State that the searches and the writer of a vector index share.
#pragma once

#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "index/vector/code.h"
#include "index/vector/kmeans.h"
#include "index/vector/pending.h"
#include "index/vector/posting.h"
#include "index/vector/rotation.h"
#include "index/vector/slots.h"
#include "index/vector_index.h"

namespace kin::index::internal {

// How far to search for each percent of recall, measured on the index's own vectors. Empty, or
// kCurvePoints values each.
struct RecallCurve {
  std::vector<float> share;  // the share of all cells, nearest first, to scan
  std::vector<float> reach;  // the reach_needed() up to which cells are worth scanning
};
constexpr std::size_t kCurvePoints = 101;

// The cosine that a residual of the cell (of mean square `spread`) needs with the direction from
// the centroid to the query so that its vector is as near as `limit`. If it is high, a neighbour in
// the cell is unlikely. Products use the query's length, other distances the distance of the
// centroid.
inline float reach_needed(const CellView& view, float spread, float limit, float query_length,
                          bool products) {
  const float radius = std::sqrt(spread) + 1e-20F;
  if (products) return (view.add - limit) / (query_length * radius + 1e-20F);
  return (view.add + spread - limit) / (2 * view.distance * radius + 1e-20F);
}

// Everything a search reads. Immutable except for the marks of deleted vectors and the log's end.
struct Snapshot {
  std::shared_ptr<const Centres> centres;  // of the postings, rotated; null before training
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
  // The lock is held only to exchange the pointer.
  void publish(std::shared_ptr<const Snapshot> next) {
    const std::lock_guard lock(pointer);
    now.swap(next);
  }
  // The vector, prepared, rotated and padded.
  Result<std::vector<float>> rotated(std::span<const float> vector) const;
  // Reads the rotated vector of a posting's slot, wherever it is stored; false if it is gone.
  // `raw`: read instead of the index's own, unless null.
  Result<bool> read(const Posting& posting, std::uint32_t slot, std::vector<float>& out,
                    const RawVectors* raw = nullptr) const;

  const VectorIndexOptions options;
  const Rotation rotation;
  const Encoder encoder;
  SlotTable slots;

 private:
  mutable std::mutex pointer;
  std::shared_ptr<const Snapshot> now;
};

Result<std::vector<VectorHit>> search(const VectorCore& core, std::span<const float> query,
                                      const VectorSearch& how);

}  // namespace kin::index::internal
