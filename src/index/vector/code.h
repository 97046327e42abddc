// RaBitQ codes: a vector, rotated and seen from the centroid of its cell, as a sign and some
// more bits for each dimension, from which its distance to any query is estimated with a bound on
// the error (Gao and Long, SIGMOD 2024; Gao et al., SIGMOD 2025).
//
// With o the vector minus its centroid c, and x the code's point, <q - c, o> is estimated as
// <q - c, x> |o|² / <x, o>. What does not depend on the query goes into factors:
//   estimate = add + rescale * <q, x> + (the query's distance from the centroid)
// and the error of the estimate by signs alone is at most `error` * |q - c|, with few exceptions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/vector/space.h"

namespace kin::index {

struct CodeFactors {
  float add = 0;  // of the estimate by signs
  float rescale = 0;
  float error = 0;
  float full_add = 0;  // of the estimate by all bits
  float full_rescale = 0;
};

// One vector's code.
struct VectorCode {
  std::vector<std::uint8_t> signs;  // 0 or 1 for each dimension
  std::vector<std::uint8_t> more;   // the other bits, packed from the lowest up
  CodeFactors factors;
  float square = 0;  // of the distance from the centroid
};

// Makes codes. Thread-compatible.
class Encoder {
 public:
  explicit Encoder(const VectorSpace& space);

  // Both rotated. `code` is overwritten; its buffers are used again.
  void encode(std::span<const float> vector, std::span<const float> centroid,
              VectorCode& code) const;

  // Bytes of a code's other bits.
  static std::size_t more_bytes(const VectorSpace& space) {
    return (std::size_t{space.dimension} * (space.bits - 1U) + 7) / 8;
  }

  // How much smaller the error bound is for all bits than for signs.
  float full_error_ratio() const { return full_error_ratio_; }

 private:
  struct Scaled {
    double product = 0;  // of the code's point with |o| of length 1
    double square = 0;   // of the code's point
    double quality() const { return product * product / square; }
  };
  Scaled measure(std::span<const float> magnitudes, float scale) const;
  float best_scale(std::span<const float> magnitudes) const;
  void find_typical_scale();
  // Terms of the distance that a code estimates.
  struct Constants {
    double square;    // |o|²
    double weight;    // of <q - c, o>
    double constant;  // what neither <q - c, o> nor the query has a part in
  };
  void encode_more(std::vector<float>& magnitudes, std::span<const float> centroid,
                   const Constants& constants, VectorCode& code) const;
  void pack(std::span<const float> magnitudes, float scale, VectorCode& code) const;

  VectorSpace space_;
  unsigned more_bits_;
  float typical_scale_ = 1;
  float full_error_ratio_ = 1;
};

// A query, prepared for comparison with the codes of all cells. Thread-compatible.
struct QueryCode {
  QueryCode(const VectorSpace& space, std::vector<float> rotated);

  std::vector<float> rotated;  // padded with zeros
  std::vector<std::uint8_t> low_table;
  std::vector<std::uint8_t> high_table;
  float offset = 0;  // see internal::SignScan
  float step = 0;
  float sum = 0;     // of all dimensions
  float square = 0;  // of its length
};

}  // namespace kin::index
