// SimHash: 64 bits that are mostly equal for similar texts. Thread-safe.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace kin::sketch {

// SimHashes are on disk in every store: a change of any value is a new kSimhashVersion.
inline constexpr int kSimhashVersion = 1;

// Bit i is set if it is set in mix64() of more than half of the features; repeated features count
// every time. 0 without features.
std::uint64_t simhash64(std::span<const std::uint64_t> features);

// The number of bits that differ.
inline int hamming(std::uint64_t a, std::uint64_t b) {
  return std::popcount(a ^ b);
}

}  // namespace kin::sketch
