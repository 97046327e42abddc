// Banding: which signatures are worth comparing. A signature is cut into bands of some rows;
// two documents are candidates if they agree in all rows of any band. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kin::sketch {

// Band keys are on disk in every store: a change of any value is a new kBandKeyVersion.
inline constexpr int kBandKeyVersion = 1;

struct Banding {
  std::uint32_t bands;
  std::uint32_t rows;
  friend bool operator==(const Banding&, const Banding&) = default;
};

// Parses "16x8": 16 bands of 8 rows. Both are at least 1, their product at most kMaxHashes.
Result<Banding> parse_banding(std::string_view text);
std::string to_string(Banding banding);

// The chance that two documents of this similarity become candidates.
double candidate_probability(Banding banding, double similarity);

// The most rows, so the fewest false candidates, with which pairs at `threshold` become candidates
// with a chance of `recall` or more; as many bands as `hashes` slots allow. An error if no banding
// does: too few hashes for so low a threshold, or a threshold or recall outside (0, 1].
Result<Banding> choose_banding(std::uint32_t hashes, double threshold, double recall = 0.99);

// One well-mixed key a band; bands differ in their keys even where their rows agree. `signature`
// has at least bands * rows slots, `keys` has `bands`.
void band_keys(std::span<const std::uint32_t> signature, Banding banding,
               std::span<std::uint64_t> keys);

}  // namespace kin::sketch
