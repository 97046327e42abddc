#include "search/embedding.h"

#include "embed/open_embedder.h"
#include "search/vectors/embedder_source.h"

namespace kin::search {

Result<std::shared_ptr<const embed::Embedder>> open_embedder(const IndexConfig& config,
                                                             const OpenOptions& options, Use use) {
  return embed::open_embedder(config.embed, *options.clock,
                              {.folders = options.models,
                               .only_folders = use == Use::kNew && !options.models_anywhere,
                               .key = options.embed_key,
                               .dimension = config.main.dimension,
                               .addresses = {.allow_all = options.private_embedders}});
}

Result<IndexConfig> with_dimension(const IndexConfig& config, const OpenOptions& options) {
  IndexConfig kept = config;
  if (!config.embed.is_opened_by_name()) return kept;
  const auto embedder = open_embedder(config, options, Use::kNew);
  // The named file is of another kind, which is not damage of the index.
  if (!embedder && embedder.error().code == Code::kDataLoss)
    return Error{Code::kInvalidArgument, embedder.error().message};
  if (!embedder) return embedder.error();
  kept.main.dimension = (*embedder)->info().dimension;
  return kept;
}

std::string text_to_embed(const Document& document) {
  return embedded_text({document.title, document.text});
}

Result<std::vector<Document>> embedded(const embed::Embedder& embedder,
                                       std::span<const Document> documents) {
  std::vector<Document> all(documents.begin(), documents.end());
  std::vector<std::string> texts;
  texts.reserve(all.size());  // the views need the texts to stay where they are
  std::vector<std::string_view> views;
  for (const Document& document : all)
    views.emplace_back(texts.emplace_back(text_to_embed(document)));
  KIN_TRY(auto vectors, embedder.embed(views));
  for (std::size_t i = 0; i < all.size(); ++i) all[i].embedding = std::move(vectors[i]);
  return all;
}

std::shared_ptr<const index::VectorSource> source_of(
    std::shared_ptr<const embed::Embedder> embedder) {
  return std::make_shared<EmbedderSource>(std::move(embedder));
}

}  // namespace kin::search
