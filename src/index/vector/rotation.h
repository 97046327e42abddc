// A random rotation that takes O(d log d): signs flipped, Hadamard transforms over the two ends of
// the vector in turn, halves mixed between (Kac's walk). Afterwards all dimensions are alike, which
// one-bit codes rely on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kin::index {

// Thread-compatible.
class Rotation {
 public:
  Rotation(std::uint32_t dimension, std::uint64_t seed);

  // Rotates `vector` into `out`, which has room for `dimension` values and may be the same.
  void apply(std::span<const float> vector, float* out) const;

 private:
  std::uint32_t dimension_;
  std::uint32_t power_;  // the largest power of two within the dimension
  std::vector<float> signs_;
};

}  // namespace kin::index
