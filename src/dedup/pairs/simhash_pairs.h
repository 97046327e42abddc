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

// In a bucket of hashes, each is compared with at most this many better ones.
inline constexpr std::size_t kMostHashesCompared = 1'024;
// Among so few records all pairs cost little, and are all compared.
inline constexpr std::size_t kFewHashed = 255;

// Calls `visit`, from several threads, with pairs of class representatives whose hashes differ in
// at most options.hamming bits. No two hashes within the distance are missed, except for templates:
// of records with one SimHash the 16 best are paired with all the others, of two hashes the best
// record of one with those of the other, in a bucket of very many near hashes each with a few
// better ones, and no record with more than 32, unless there are few. The grouping looks at the
// rest again. Counts large and capped buckets in `counts`. Counts kSimHashWork units of scan.work.
inline constexpr std::uint64_t kSimHashWork = 1'000'000;
Status find_simhash_pairs(const Scan& scan, const Classes& classes, const DedupOptions& options,
                          CandidateCounts& counts, const EdgeVisitor& visit);

}  // namespace kin::dedup
