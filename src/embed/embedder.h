// What does it mean, as a vector?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kin::embed {

struct EmbedderInfo {
  std::string name;  // "corpus", "words", "model2vec" or "http"
  std::uint32_t dimension = 0;
  // Of all that decides the vectors: two embedders with the same one give the same vectors.
  std::uint64_t fingerprint = 0;
};

// Thread-safe.
class Embedder {
 public:
  virtual ~Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  virtual const EmbedderInfo& info() const = 0;

  // One vector a text, in order, each of length 1; an empty one for a text that says nothing this
  // embedder knows.
  virtual Result<std::vector<std::vector<float>>> embed(
      std::span<const std::string_view> texts) const = 0;

 protected:
  Embedder() = default;
};

}  // namespace kin::embed
