// The properties that all vectors of one index share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace kin::index {

// How far apart two vectors are; less is nearer.
//   kL2      the squared Euclidean distance
//   kCosine  1 minus the cosine of the angle; vectors of length 0 are refused
//   kDot     the negated product
enum class Distance : std::uint8_t { kL2 = 0, kCosine = 1, kDot = 2 };

// Where the vectors themselves are; the codes are always in memory.
//   kF32, kF16  in memory, with 32 or 16 bits a number
//   kElsewhere  with the caller, read through RawVectors
enum class RawStorage : std::uint8_t { kF32 = 0, kF16 = 1, kElsewhere = 2 };

constexpr std::uint32_t kMostDimensions = 16384;

struct VectorSpace {
  std::uint32_t dimension = 0;
  Distance distance = Distance::kCosine;
  RawStorage storage = RawStorage::kF16;
  std::uint8_t bits = 7;   // of a code, for each dimension; 1 to 8
  std::uint64_t seed = 1;  // of the rotation and of training

  friend bool operator==(const VectorSpace&, const VectorSpace&) = default;
};

// kInvalidArgument names the invalid option of the space.
Status check_space(const VectorSpace& space);

// The vector as the index keeps it: of length 1 for kCosine. An error if it has another dimension,
// a number that is not finite, or no direction where one is needed.
Result<std::vector<float>> prepared(const VectorSpace& space, std::span<const float> vector);

// kInvalidArgument for a vector that cannot be inserted: one that prepared() refuses, or one that
// is too long for 16 bits a number.
Status check_vector(const VectorSpace& space, std::span<const float> vector);

// The distance between two prepared vectors.
float exact_distance(Distance distance, std::span<const float> a, std::span<const float> b);

}  // namespace kin::index
