// Vectors of documents and questions, by an embedder that is opened by its name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "embed/embedder.h"
#include "index/vector_source.h"
#include "search/document.h"
#include "search/index_config.h"
#include "search/search_index.h"

namespace kin::search {

// An existing index may use any file that its creator was allowed to name.
enum class Use { kNew, kExisting };
// The embedder of settings whose `embed` is opened by its name. Thread-safe, as all functions here.
Result<std::shared_ptr<const embed::Embedder>> open_embedder(const IndexConfig& config,
                                                             const OpenOptions& options, Use use);
// The settings of a new index with the dimension of its embedder, if it has one that is opened by
// its name.
Result<IndexConfig> with_dimension(const IndexConfig& config, const OpenOptions& options);

// The text of a document that its vector is made of.
std::string text_to_embed(const Document& document);
// The documents with the vectors of their titles and texts. A text of unknown words has none.
Result<std::vector<Document>> embedded(const embed::Embedder& embedder,
                                       std::span<const Document> documents);

std::shared_ptr<const index::VectorSource> source_of(
    std::shared_ptr<const embed::Embedder> embedder);

}  // namespace kin::search
