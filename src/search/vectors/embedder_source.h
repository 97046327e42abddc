// Lets an embedder make the vectors of a shard.
#pragma once

#include <memory>

#include "embed/embedder.h"
#include "index/vector_source.h"

namespace kin::search {

// What is embedded of a document: its title, a space and its text.
std::string embedded_text(const index::SourceText& text);

// Thread-safe.
class EmbedderSource : public index::VectorSource {
 public:
  explicit EmbedderSource(std::shared_ptr<const embed::Embedder> embedder)
      : embedder_(std::move(embedder)) {}

  Result<std::vector<std::vector<float>>> documents(
      std::span<const index::SourceText> texts) const override;
  // Empty if the text says nothing that the embedder knows.
  Result<std::vector<float>> query(std::string_view text) const override;

 private:
  std::shared_ptr<const embed::Embedder> embedder_;
};

}  // namespace kin::search
