#include "dedup/spill/budget.h"

#include <algorithm>

#include "dedup/spill/shared_keys.h"
#include "store/seen_set.h"

namespace kin::dedup {
namespace {

constexpr std::uint64_t kSeenShare = 8;  // one in so many bytes

std::uint64_t left_of(std::uint64_t share, std::uint64_t used) {
  return share - std::min(share, used);
}

}  // namespace

std::uint64_t seen_memory(const DedupOptions& options, std::uint64_t max_memory) {
  if (!options.skip_seen) return 0;
  return std::min(max_memory, std::max(store::kSeenLeastMemory, max_memory / kSeenShare));
}

std::uint64_t total_memory(const DedupOptions& options, std::uint64_t own) {
  if (!options.skip_seen) return own;
  return own + std::max(store::kSeenLeastMemory, own / (kSeenShare - 1) + 1);
}

KeyBytes::KeyBytes(const DedupOptions& options) {
  const Detectors& by = options.detectors;
  const auto banding = banding_of(options);
  if (by.minhash && banding) bands = banding->bands * sizeof(BandRecord);
  hashes = sizeof(HashRecord) * ((by.exact ? 1U : 0U) + (by.minhash ? 1U : 0U));
  if (by.minhash && options.verification != Verification::kNone) signature = options.hashes;
}

std::uint64_t Budget::scanner(const DedupOptions& options, std::uint64_t records) const {
  const KeyBytes keys(options);
  std::uint64_t left = 0;
  // An eighth more, for blocks that are not full.
  if (!options.detectors.chunk)
    left += left_of(spills, records * (keys.bands + keys.hashes) / 8 * 9);
  if (!options.max_hot_signatures) left += left_of(signatures, records * keys.signature / 8 * 9);
  return reader + left;
}

std::uint64_t PairMemory::bytes(std::uint64_t max_memory) const {
  const std::uint64_t own = max_memory - seen_memory(options, max_memory);
  const Budget budget(own);
  const std::uint64_t signatures =
      options.max_hot_signatures
          ? *options.max_hot_signatures * options.hashes
          : std::min(budget.signatures, records * KeyBytes(options).signature);
  const std::uint64_t held = fixed + records * bytes_a_record(options) + signatures + budget.stage;
  return left_of(own, held);
}

std::uint64_t PairMemory::least_mebibytes(std::uint64_t needed) const {
  std::uint64_t mebibytes = (needed >> 20) + 1;
  while (bytes(mebibytes << 20) < needed) ++mebibytes;
  return mebibytes;
}

}  // namespace kin::dedup
