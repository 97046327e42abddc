#include "index/vector/rotation.h"

#include <algorithm>
#include <bit>

#include "base/random.h"
#include "index/vector/kernels.h"

namespace kin::index {
namespace {

constexpr std::uint32_t kRounds = 4;  // two over each end of the vector
constexpr float kRootHalf = 0.70710678F;

void mix_halves(float* values, std::uint32_t dimension) {
  const std::uint32_t half = dimension / 2;
  float* high = values + (dimension - half);
  for (std::uint32_t i = 0; i < half; ++i) {
    const float a = values[i];
    const float b = high[i];
    values[i] = (a + b) * kRootHalf;
    high[i] = (a - b) * kRootHalf;
  }
}

}  // namespace

Rotation::Rotation(std::uint32_t dimension, std::uint64_t seed)
    : dimension_(dimension),
      power_(std::bit_floor(dimension)),
      signs_(std::size_t{kRounds} * dimension) {
  Random random(seed);
  for (float& sign : signs_) sign = random.next() >> 63 != 0 ? 1.0F : -1.0F;
}

void Rotation::apply(std::span<const float> vector, float* out) const {
  if (vector.data() != out) std::copy(vector.begin(), vector.end(), out);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const float* signs = signs_.data() + std::size_t{round} * dimension_;
    for (std::uint32_t i = 0; i < dimension_; ++i) out[i] *= signs[i];
    // A Hadamard transform needs a power of two. Two overlapping ones cover every dimension.
    const std::uint32_t from = round % 2 == 0 ? 0 : dimension_ - power_;
    internal::hadamard(out + from, power_);
    if (power_ != dimension_) mix_halves(out, dimension_);
  }
}

}  // namespace kin::index
