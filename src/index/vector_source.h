// Makes vectors for a space whose entities do not bring them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::index {

// Written in formats: the numbers stay.
enum class VectorOrigin : std::uint8_t {
  kGiven,     // with each entity; kept in the truth
  kComputed,  // by the source from the texts of an entity; kept by the vector index alone
};

// The texts of an entity that a vector is made from.
struct SourceText {
  std::string_view title = {};
  std::string_view text = {};
};

// The same text always gives the same vector. Thread-safe.
class VectorSource {
 public:
  virtual ~VectorSource() = default;
  // One vector per text; an empty one for a text that has no vector in the space.
  virtual Result<std::vector<std::vector<float>>> documents(
      std::span<const SourceText> texts) const = 0;
  // Empty for a text that has no vector in the space.
  virtual Result<std::vector<float>> query(std::string_view text) const = 0;
};

}  // namespace kin::index
