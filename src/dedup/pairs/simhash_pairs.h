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

// Takes some pairs at a time. Thread-safe.
using EdgeVisitor = std::function<Status(std::span<const Edge> edges)>;

// Calls `visit`, from several threads, with pairs of class representatives within options.hamming
// bits of each other. Exact: with k bits to differ, one of k + 1 blocks of the hash must be equal,
// so only records that share a block are compared, and no two hashes within the distance are
// missed. Of records with the very same SimHash, at most the 64 best are paired with all the
// others, and only the best with those of another hash; the grouping looks at the rest again.
Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          const EdgeVisitor& visit);

}  // namespace kin::dedup
