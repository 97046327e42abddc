// The first pass of a search for repeated passages: finds the records that may have one, and where.
#pragma once

#include <cstdint>

#include "base/record_set.h"
#include "base/result.h"
#include "dedup/cut/cut_input.h"
#include "dedup/spill/fingerprint_filter.h"

namespace kin::dedup {

// A fingerprint is the least of several hashes, which is not well distributed: spills and tables
// use it mixed again. Filters contain the fingerprint itself.
inline std::uint64_t spread_fingerprint(std::uint64_t fingerprint) {
  return mix64(fingerprint + 0x632BE59BD9B4E019ULL);
}
inline std::uint64_t gather_fingerprint(std::uint64_t key) {
  return unmix64(key) - 0x632BE59BD9B4E019ULL;
}

// The result of the first pass.
struct Sampled {
  std::uint64_t rows = 0;
  std::uint64_t heaviest_text = 0;  // its weight
  std::uint64_t text_bytes = 0;
  std::uint64_t without_text = 0;
  std::uint64_t bytes_spilled = 0;
  RecordSet marked;            // records with a fingerprint that occurs twice
  FingerprintFilter repeated;  // the fingerprints that occur twice
};

// Reads all records. A window of `length` units that occurs twice has a fingerprint in `repeated`,
// and its records are marked.
Result<Sampled> sample_windows(const CutInput& input);

}  // namespace kin::dedup
