// What a vector index's searches and changes share.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "index/vector_code.h"
#include "index/vector_index.h"
#include "index/vector_kmeans.h"
#include "index/vector_pending.h"
#include "index/vector_places.h"
#include "index/vector_posting.h"
#include "index/vector_rotation.h"

namespace kin::index::internal {

// For each percent of recall, the share of all partitions that holds as many of the neighbours of
// the index's own vectors.
using RecallCurve = std::vector<float>;
constexpr std::size_t kCurvePoints = 101;

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
  // The rotated vector of a posting's slot, wherever it is kept; false if it is gone.
  Result<bool> read(const Posting& posting, std::uint32_t slot, std::vector<float>& out) const;

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
