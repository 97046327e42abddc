// Where the vectors of a space come from, if not with the entities.
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
  kComputed,  // by the source from what an entity says; kept by the vector index alone
};

// What an entity says, as far as a vector is made from it.
struct SourceText {
  std::string_view title = {};
  std::string_view text = {};
};

// The same text gives the same vector, always. Thread-safe.
class VectorSource {
 public:
  virtual ~VectorSource() = default;
  // One a text; an empty one for a text that has no place in the space.
  virtual Result<std::vector<std::vector<float>>> documents(
      std::span<const SourceText> texts) const = 0;
  // Empty for a text that has no place in the space.
  virtual Result<std::vector<float>> query(std::string_view text) const = 0;
};

}  // namespace kin::index
