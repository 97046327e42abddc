// Pairs of records whose SimHashes differ in at most a given number of bits.
#pragma once

#include <functional>
#include <span>

#include "base/result.h"
#include "dedup/options.h"
#include "dedup/pairs/candidates.h"
#include "dedup/pairs/classes.h"
#include "dedup/scan/scan.h"

namespace kin::dedup {

// Receives some pairs at a time. Thread-safe.
using EdgeVisitor = std::function<Status(std::span<const Edge> edges)>;

// Calls `visit`, from several threads, with pairs of class representatives whose hashes differ in
// at most options.hamming bits. No two hashes within the distance are missed, except for templates:
// of records with one SimHash the 16 best are paired with all the others, and the best with those
// of another hash; in a bucket of very many near hashes each is paired with a few better ones. The
// grouping looks at the rest again. Counts large and capped buckets in `counts`. Counts
// kSimHashWork units of scan.work.
inline constexpr std::uint64_t kSimHashWork = 1'000'000;
Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          CandidateCounts& counts, const EdgeVisitor& visit);

}  // namespace kin::dedup
