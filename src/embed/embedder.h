// Texts as vectors: texts with a similar meaning have vectors that are near each other.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "embed/embedder_spec.h"

namespace kin::embed {

// Models and servers whose vectors have more dimensions are refused.
inline constexpr std::uint32_t kMostDimensions = 65'536;

struct EmbedderInfo {
  EmbedderKind kind = EmbedderKind::kNone;
  std::uint32_t dimension = 0;
  // Hash of everything that decides the vectors. Embedders with the same hash give the same
  // vectors.
  std::uint64_t model_hash = 0;
};

// Thread-safe.
class Embedder {
 public:
  virtual ~Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  virtual const EmbedderInfo& info() const = 0;

  // One vector per text, in the order of the texts. Each has length 1, or is empty if the text has
  // no word that this embedder knows.
  virtual Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const = 0;

 protected:
  Embedder() = default;
};

}  // namespace kin::embed
