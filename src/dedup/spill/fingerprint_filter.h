// A set of 64-bit hashes in few bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace kin::dedup {

// A set of fingerprints that may also contain others (a Bloom filter, three bits in one word).
// Inserting is thread-safe; so are look-ups after all inserts.
class FingerprintFilter {
 public:
  FingerprintFilter() = default;
  explicit FingerprintFilter(std::uint64_t bytes) : words_(bytes / sizeof(std::uint64_t) + 1) {}

  void insert(std::uint64_t fingerprint) {
    std::atomic_ref(words_[word_of(fingerprint)])
        .fetch_or(bits_of(fingerprint), std::memory_order_relaxed);
  }
  bool may_contain(std::uint64_t fingerprint) const {
    const std::uint64_t bits = bits_of(fingerprint);
    return (words_[word_of(fingerprint)] & bits) == bits;
  }

 private:
  std::size_t word_of(std::uint64_t fingerprint) const {
    __extension__ using Wide = unsigned __int128;
    // Mixed again: fingerprints are the least of several, so their top bits are mostly zero.
    const std::uint64_t mixed = mix64(fingerprint);
    return static_cast<std::size_t>((static_cast<Wide>(mixed) * words_.size()) >> 64);
  }
  static std::uint64_t bits_of(std::uint64_t fingerprint) {
    return std::uint64_t{1} << (fingerprint & 63) | std::uint64_t{1} << (fingerprint >> 6 & 63) |
           std::uint64_t{1} << (fingerprint >> 12 & 63);
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace kin::dedup
