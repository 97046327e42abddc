// Finds candidate pairs: records that share a band key.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/ids.h"
#include "base/result.h"
#include "dedup/options.h"
#include "dedup/pairs/classes.h"
#include "dedup/scan/scan.h"
#include "dedup/spill/spill.h"

namespace kin::dedup {

// Two records that may be duplicates.
#pragma pack(push, 1)
struct Edge {
  RecordId a;  // a < b
  RecordId b;
  Method method;
};
#pragma pack(pop)
static_assert(sizeof(Edge) == 9);

struct CandidateCounts {
  std::atomic<std::uint64_t> candidates{0};      // distinct pairs that shared a band or a block
  std::atomic<std::uint64_t> below_estimate{0};  // rejected by their signatures
  std::atomic<std::uint64_t> large_buckets{
      0};  // bands shared by more records than are paired outright
  std::atomic<std::uint64_t> capped_buckets{0};  // large buckets that were not paired to the end
  std::atomic<std::uint64_t> largest_bucket{0};
};

// Pairs of class representatives, collected by connected component: bin p of `edges` holds whole
// components. The result does not depend on threads or memory.
struct Candidates {
  std::unique_ptr<Spill> edges;
  UnionFind components;
  CandidateCounts counts;

  std::uint64_t pair_bytes() const {
    std::uint64_t bytes = 0;
    for (std::size_t bin = 0; bin < Spill::kBins; ++bin) bytes += edges->bytes(bin);
    return bytes;
  }
};

// Gives every class representative the sketches of its class: only one of several identical texts
// was sketched, and which one depends on the threads. Call it before find_candidates().
Status share_sketches(Scan& scan, const Classes& classes);

Result<std::unique_ptr<Candidates>> find_candidates(const Scan& scan, const Classes& classes,
                                                    const DedupOptions& options,
                                                    std::uint64_t memory,
                                                    const std::filesystem::path& folder);

// A pair at the threshold has an estimate below this only once in about thirty thousand cases: four
// standard deviations.
double estimate_floor(const DedupOptions& options);

}  // namespace kin::dedup
