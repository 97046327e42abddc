// An embedder as the source of a shard's vectors.
#pragma once

#include <memory>

#include "embed/embedder.h"
#include "index/vector_source.h"

namespace kin::search {

// The text that is embedded: title, a space, text.
std::string embedded_text(const index::SourceText& text);

// Thread-safe.
class EmbedderSource : public index::VectorSource {
 public:
  explicit EmbedderSource(std::shared_ptr<const embed::Embedder> embedder)
      : embedder_(std::move(embedder)) {}

  Result<std::vector<std::vector<float>>> documents(
      std::span<const index::SourceText> texts) const override;
  // Empty if the embedder knows none of the words.
  Result<std::vector<float>> query(std::string_view text) const override;

 private:
  std::shared_ptr<const embed::Embedder> embedder_;
};

}  // namespace kin::search
