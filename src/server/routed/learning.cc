#include "server/routed/learning.h"

#include <fmt/format.h>

#include <algorithm>

#include "embed/corpus_model.h"
#include "search/embedding.h"

namespace kin::server {
namespace {

using embed::EmbedderKind;
using search::Document;

// Terms of a model. One has 312 bytes of it, so that a model fits into a message to a node.
constexpr std::size_t kMostTerms = 100'000;

Result<std::shared_ptr<const embed::CorpusModel>> learn_model(const std::string& language,
                                                              std::span<const Document> sample) {
  KIN_TRY(embed::CorpusSample texts, embed::CorpusSample::create({.language = language}));
  for (const Document& document : sample) texts.add(search::text_to_embed(document));
  auto model = embed::train_corpus_model(texts, {.most_terms = kMostTerms});
  if (!model.ok()) return with_context("the sample", model.error());
  return model;
}

// The vectors of the sample in the main space. Documents without one are left out.
Result<std::vector<std::vector<float>>> vectors_of(std::span<const Document> sample,
                                                   const embed::Embedder* embedder) {
  std::vector<Document> documents(sample.begin(), sample.end());
  if (embedder != nullptr) {
    KIN_TRY(documents, search::embedded(*embedder, sample));
  }
  std::vector<std::vector<float>> vectors;
  for (Document& document : documents) {
    const bool has_direction =
        std::ranges::any_of(document.embedding, [](float value) { return value != 0; });
    if (has_direction) vectors.push_back(std::move(document.embedding));
  }
  return vectors;
}

Result<router::Centroids> learn_centroids(const search::IndexConfig& config,
                                          std::span<const std::vector<float>> vectors,
                                          const LearnOptions& options) {
  const std::size_t needed = kSamplePerPartition * options.partitions;
  if (vectors.size() < needed)
    return Error{Code::kInvalidArgument,
                 fmt::format("the sample has {} documents with vectors, and {} partitions need {} "
                             "at least (give more documents, or fewer --partitions)",
                             vectors.size(), options.partitions, needed)};
  auto centroids =
      router::Centroids::train(search::space_options(config.main), vectors,
                               {.partitions = options.partitions, .shards = options.shards});
  if (!centroids.ok()) return with_context("the sample", centroids.error());
  return centroids;
}

}  // namespace

Result<Learnt> learn(const search::IndexConfig& asked, std::span<const Document> sample,
                     const LearnOptions& options) {
  Learnt learnt;
  KIN_TRY(learnt.config, search::with_dimension(asked, options.embedders));
  if (sample.empty()) return learnt;
  if (!asked.has_vectors())
    return Error{Code::kInvalidArgument,
                 "an index without vectors learns nothing from a sample (leave out --sample)"};
  std::shared_ptr<const embed::Embedder> embedder;
  if (asked.embed.kind == EmbedderKind::kCorpus) {
    KIN_TRY(const auto model, learn_model(asked.language, sample));
    learnt.model = model->encode();
    learnt.config.model = hash128(*learnt.model);
    learnt.config.main.dimension = model->info().dimension;
    embedder = model;
  } else if (asked.embed.is_opened_by_name()) {
    KIN_TRY(embedder, search::open_embedder(learnt.config, options.embedders, search::Use::kNew));
  }
  KIN_TRY(const auto vectors, vectors_of(sample, embedder.get()));
  KIN_TRY(learnt.centroids, learn_centroids(learnt.config, vectors, options));
  return learnt;
}

}  // namespace kin::server
