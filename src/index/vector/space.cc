#include "index/vector/space.h"

#include <fmt/format.h>

#include <cmath>

#include "index/vector/kernels.h"

namespace kin::index {

Status check_space(const VectorSpace& space) {
  const auto wrong = [](std::string message) { return Error{Code::kInvalidArgument, message}; };
  if (space.dimension < 1 || space.dimension > kMostDimensions)
    return wrong(
        fmt::format("a vector has 1 to {} dimensions, not {}", kMostDimensions, space.dimension));
  if (space.bits < 1 || space.bits > 8)
    return wrong(fmt::format("a code has 1 to 8 bits for each dimension, not {}", space.bits));
  if (space.distance > Distance::kDot) return wrong("no such distance");
  if (space.storage > RawStorage::kElsewhere) return wrong("no such storage of vectors");
  return Done{};
}

Result<std::vector<float>> prepared(const VectorSpace& space, std::span<const float> vector) {
  if (vector.size() != space.dimension)
    return Error{Code::kInvalidArgument, fmt::format("the vector has {} dimensions, the index {}",
                                                     vector.size(), space.dimension)};
  double square = 0;
  for (const float value : vector) square += static_cast<double>(value) * value;
  // The codes compute with squares, which must be finite too.
  if (!(square < 1e30))
    return Error{Code::kInvalidArgument,
                 "the vector has a number that is not finite, or too large"};
  std::vector<float> result(vector.begin(), vector.end());
  if (space.distance != Distance::kCosine) return result;
  // Squares this small are rounding errors; the direction would be noise.
  if (square < 1e-30)
    return Error{Code::kInvalidArgument, "the vector has length 0, so no angle to others"};
  const auto scale = static_cast<float>(1 / std::sqrt(square));
  for (float& value : result) value *= scale;
  return result;
}

Status check_vector(const VectorSpace& space, std::span<const float> vector) {
  KIN_TRY(const std::vector<float> kept, prepared(space, vector));
  if (space.storage != RawStorage::kF16) return Done{};
  // After the rotation a number can be as large as the vector's length.
  // The largest half is 65,504, whose square is about 4.29e9.
  if (internal::dot(kept.data(), kept.data(), kept.size()) < 4e9F) return Done{};
  return Error{Code::kInvalidArgument, "the vector is too long for numbers of 16 bits"};
}

float exact_distance(Distance distance, std::span<const float> a, std::span<const float> b) {
  if (distance == Distance::kDot) return -internal::dot(a.data(), b.data(), a.size());
  const float square = internal::squared_l2(a.data(), b.data(), a.size());
  return distance == Distance::kCosine ? square / 2 : square;  // of vectors of length 1
}

}  // namespace kin::index
